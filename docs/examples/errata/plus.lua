kernel "plus" {
  problem "n" (1000000), check { n = 1003 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } }, scalar "n" { dtype = "i32" },
  reference { y = "2 * x[i0]" },
  implementation "double" { template "plus.cu", tunable "right" { false, true },
    grid { "ceil_div(n, 256)" }, block { 256 } },
}
