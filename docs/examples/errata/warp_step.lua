kernel "warp_step" {
  problem "n" (1000000), check { n = 1003 },
  output "sums" { dtype = "f32", shape = { "ceil_div(n, 128)" } }, input "x" { dtype = "f32", shape = { "n" } },
  scalar "n" { dtype = "i32" },
  reference "none",
  implementation "tree" { template "warp_step.cu", tunable "right" { false, true },
    grid { "ceil_div(n, 128)" }, block { 128 } },
}
