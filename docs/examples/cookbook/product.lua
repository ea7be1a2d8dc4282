kernel "product" {
  problem "M" (1024), problem "N" (1024), problem "K" (1024), check { M = 50, N = 70, K = 90 },
  output "C" { dtype = "f32", shape = { "M", "N" }, tolerance = "2 * K * eps('f32')" },
  input "A" { dtype = "f32", shape = { "M", "K" } },
  input "B" { dtype = "f32", shape = { "K", "N" } },
  input "bias" { dtype = "f32", shape = { "N" } },
  scalar "alpha" { dtype = "f32", value = "0.5" },
  scalar "M" {}, scalar "N" {}, scalar "K" {},
  formula "epilogue(sum, col)" "gelu(alpha * sum + bias[col])",  -- another formula, another kernel
  reference "product_reference.cu", flops "2 * M * N * K", bytes "4 * (M * K + K * N + M * N)",
  implementation "tiled" {
    template "product.cu",
    tunable "tile" { 16, 32 }, tunable "rows" { 1, 2, 4 },   -- rows of C that a thread computes
    grid { "ceil_div(N, tile)", "ceil_div(M, tile)" }, block { "tile", "tile // rows" },
  },
}
