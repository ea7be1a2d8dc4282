-- A kernel with a variable of every kind, to see where each lives.
kernel "variables" {
  problem "n" (1000000), check { n = 1003 },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "64 * eps('f32')" }, input "x" { dtype = "f32", shape = { "n" } },
  constant "weights" { dtype = "f32", shape = { 16 } },
  scalar "n" { dtype = "i32" },
  reference "variables_reference.cu",
  implementation "all" { template "variables.cu", tunable "threads" { 128 },
    grid { "ceil_div(n, threads)" }, block { "threads" }, shared "threads * sizeof('f32')" },
}
