kernel "blend" {
  problem "n" (10000000), problem "dtype" { "f32", "f64" }, check { n = 1003 },
  output "out" { dtype = "dtype", shape = { "n" }, tolerance = "2 * eps(dtype)" },
  input "a" { dtype = "dtype", shape = { "n" } },
  input "b" { dtype = "dtype", shape = { "n" } },
  scalar "n" { dtype = "i32" },
  reference { out = "0.25 * a[i0] + 0.75 * b[i0]" }, bytes "3 * n * sizeof(dtype)",
  implementation "template" {
    template "blend.cu",
    tunable "block_size" { 256, 128, 512 }, tunable "items" { 4, 1, 2 },
    tunable "streaming" { false, true },
    entry "blend<${dtype}, ${block_size}, ${items}, ${streaming}>",  -- blend<float, 256, 4, 0>
    grid { "ceil_div(n, block_size * items)" }, block { "block_size" },
  },
}
