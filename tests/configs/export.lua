-- What an exported bundle has to get right and matmul does not use: restrictions on sizes, scratch, a constant, dynamic
-- shared memory, a scalar computed from a size.

kernel "rows" {
  problem "M" (1000), problem "N" (1024),
  problem "dtype" { "f32", "f64" },
  problem "specialize" { false, true },
  check { M = 131, N = 67 },
  policy "nearest" { distance = 1 },

  input "x" { dtype = "dtype", shape = { "M", "N" }, overwrite = "specialize" },
  output "y" { dtype = "dtype", shape = { "M", "N" }, tolerance = "eps(dtype)" },
  scratch "partial" { dtype = "dtype", shape = { "ceil_div(M, 4)", "2" } },
  constant "factors" { dtype = "f64", shape = { "4" } },
  scalar "M" { dtype = "index", specialize = "specialize" },
  scalar "N" { dtype = "index", specialize = "specialize" },
  scalar "scale" { dtype = "f32", value = "1.0 / N" },
  reference "none",

  implementation "wide" {
    template "export.cu",
    tunable "vec" { 4, 2, 1 },
    tunable "threads" { 64, 128, 256 },
    where "N % vec == 0",
    where "select(N < 64, M >= threads, M >= 256, true, M >= threads)", -- M >= threads, as a choice at run time
    grid { "ceil_div(M, threads)", "ceil_div(N, 32 * vec)" }, block { "threads" }, shared "threads * 8",
    carveout "vec * 10",
  },
  implementation "plain" {
    template "export.cu",
    tunable "vec" { 1 },
    tunable "threads" { 128, 256 },
    grid { "select(M < N, ceil_div(M * N, threads), ceil_div(N * M, threads))" }, block { "threads" },
  },
}
