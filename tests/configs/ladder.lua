-- Two rungs with operations and bytes, for what is drawn of them.

kernel "ladder" {
  problem "n" (100000), check { n = 1003 },
  output "out" { dtype = "f32", shape = { "n" }, tolerance = "4 * eps('f32')" },
  input "x" { dtype = "f32", shape = { "n" } }, input "y" { dtype = "f32", shape = { "n" } },
  scalar "alpha" { dtype = "f32", value = "2.5" }, scalar "n" { dtype = "i32" },
  reference "wild_reference.cu", flops "2 * n", bytes "3 * n * sizeof('f32')",
  implementation "narrow" {
    template "wild.cu", tunable "BLOCK_SIZE" { 256, 128 }, tunable "ITEMS" { 1 },
    grid { "ceil_div(n, BLOCK_SIZE * ITEMS)" }, block { "BLOCK_SIZE" } },
  implementation "wide" {
    template "wild.cu", tunable "BLOCK_SIZE" { 256, 128 }, tunable "ITEMS" { 2, 4, 8 },
    grid { "ceil_div(n, BLOCK_SIZE * ITEMS)" }, block { "BLOCK_SIZE" } },
  implementation "never" {
    template "wild.cu", requires "device.compute_capability >= 1000", tunable "BLOCK_SIZE" { 128 }, tunable "ITEMS" { 1 },
    grid { "1" }, block { "BLOCK_SIZE" } },
}
