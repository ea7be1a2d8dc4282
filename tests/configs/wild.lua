kernel "scale_add" {
  problem "n" (100000), check { n = 1003 },
  output "out" { dtype = "f32", shape = { "n" }, tolerance = "4 * eps('f32')" },
  input "x" { dtype = "f32", shape = { "n" } }, input "y" { dtype = "f32", shape = { "n" } },
  scalar "alpha" { dtype = "f32", value = "2.5" }, scalar "n" { dtype = "i32" },
  reference "wild_reference.cu", bytes "3 * n * sizeof('f32')",
  implementation "wild" {
    template "wild.cu", tunable "BLOCK_SIZE" { 128, 256 }, tunable "ITEMS" { 1, 4 },
    grid { "ceil_div(n, BLOCK_SIZE * ITEMS)" }, block { "BLOCK_SIZE" } },
}
