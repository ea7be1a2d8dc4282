kernel "smooth" {
  problem "n" (1000000), check { n = 1003 },
  output "out" { dtype = "f32", shape = { "n" }, tolerance = "4 * eps('f32')" },
  input "data" { dtype = "f32", shape = { "n" } },
  scalar "centre" { dtype = "f32", value = "0.5" }, scalar "n" { dtype = "i32" },
  reference "smooth_reference.cu", bytes "2 * n * sizeof('f32')",
  implementation "smooth" { template "smooth.cu",
    tunable "BLOCK" { 128, 64, 256, 512 }, tunable "PER_THREAD" { 1, 2, 4 }, tunable "USE_SHARED" { 0, 1 },
    grid { "ceil_div(n, BLOCK * PER_THREAD)" }, block { "BLOCK" } },
}
