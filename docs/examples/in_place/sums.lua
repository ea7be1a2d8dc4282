-- An output of another size than the input, which the kernel overwrites: one sum for each block.
kernel "sums_in_place" {
  problem "n" (1000000), check { n = 1003 },
  tunable "threads" { 128, 256, 512 },           -- shared by all implementations, so that the output's size may depend on it
  output "sums" { dtype = "f32", shape = { "ceil_div(n, threads)" }, tolerance = "threads * eps('f32')" },
  input  "x"    { dtype = "f32", shape = { "n" }, overwrite = true },
  scalar "n" { dtype = "i32" },
  reference "sums_reference.cu", bytes "n * sizeof('f32')",
  implementation "tree" { template "sums.cu",
    tunable "guarded" { true, false },
    grid { "ceil_div(n, threads)" }, block { "threads" } },
}
