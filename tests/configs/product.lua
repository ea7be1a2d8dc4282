-- A product whose variants are a template's and a library's kernels. K is 1, so that a formula is its reference.
local function matrix(rows, columns, order)
  local byrows = order .. " == 'row'"
  return { "select(" .. byrows .. ", batch * " .. rows .. ", " .. rows .. ")",
           "select(" .. byrows .. ", " .. columns .. ", batch * " .. columns .. ")" }
end

kernel "product" {
  problem "M" (24), problem "N" (16), problem "batch" (1),
  problem "dtype" { "f32", "f64", "f16", "tf32", "e4m3", "i8" },
  problem "layout_a" { "row", "col" }, problem "layout_b" { "row", "col" }, problem "layout_c" { "row", "col" },
  problem "pad" (0), problem "K" (1),
  check { M = 8 },
  problem "scaled" { false, true }, problem "biased" { false, true },
  problem "activation" { "none", "relu", "gelu" },
  derive "operand" "select(dtype == 'tf32', 'f32', dtype)",
  derive "result" "select(dtype == 'i8', 'i32', dtype == 'e4m3', 'f16', operand)",
  input "A" { dtype = "operand", shape = matrix("M", "K", "layout_a"), layout = "layout_a",
    pitch = "select(layout_a == 'row', K, M) + pad" },
  input "B" { dtype = "operand", shape = matrix("K", "N", "layout_b"), layout = "layout_b",
    pitch = "select(layout_b == 'row', N, K) + pad" },
  output "C" { dtype = "result", shape = matrix("M", "N", "layout_c"), layout = "layout_c",
    pitch = "select(layout_c == 'row', N, M) + pad", tolerance = "4 * eps('f32')" },
  input "D" { dtype = "result", shape = matrix("M", "N", "layout_c"), layout = "layout_c",
    pitch = "select(layout_c == 'row', N, M) + 2 * pad", when = "scaled" },
  input "bias" { dtype = "result", shape = { "N" }, when = "biased" },
  scalar "alpha" { dtype = "select(dtype == 'f64', 'f64', 'f32')", value = "0.5", when = "scaled" },
  scalar "beta" { dtype = "select(dtype == 'f64', 'f64', 'f32')", value = "0.25", when = "scaled" },
  reference { C = "A[i0, 0] * B[0, i1]" },
  implementation "plain" { template "product.cu", tunable "threads" { 64, 128 },
    grid { "ceil_div(M * N, threads)" }, block { "threads" } },
  implementation "library" {
    tunable "algorithm" { 0, 1, 2, 3, 4, 5, 6, 7 },
    library "cublasLt" {
      a = "A", b = "B", c = "C", added = "D", bias = "bias", alpha = "alpha", beta = "beta", batch = "batch",
      activation = "activation", algorithm = "algorithm", math = "select(dtype == 'tf32', 'tf32', dtype == 'e4m3', 'fast', 'exact')",
    },
    try { algorithm = 0 },
  },
}
