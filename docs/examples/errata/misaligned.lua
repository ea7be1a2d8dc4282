kernel "misaligned" {
  problem "n" (1000000), check { n = 1003 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n + 1" } }, scalar "n" { dtype = "i32" },
  reference "none",
  implementation "shift" { template "misaligned.cu", tunable "right" { false, true },
    grid { "ceil_div(ceil_div(n, 4), 128)" }, block { 128 } },
}
