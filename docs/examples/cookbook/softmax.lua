kernel "softmax" {
  problem "rows" (4096), problem "cols" (1000), check { rows = 5, cols = 300 },
  output "y" { dtype = "f32", shape = { "rows", "cols" },
               tolerance = "8 * eps('f32')", norm = 1e-6 },
  input "x" { dtype = "f32", shape = { "rows", "cols" } },
  scalar "rows" {}, scalar "cols" {},
  reference "softmax_reference.cu", bytes "2 * rows * cols * sizeof('f32')",
  implementation "warp_a_row" {
    template "softmax.cu",
    tunable "warps" { 4, 1, 2, 8 },
    tunable "unroll" { 1, 2, 4 },
    grid { "ceil_div(rows, warps)" }, block { 32, "warps" },
  },
}
