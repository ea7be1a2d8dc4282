-- NVIDIA's cuBLASLt, where it is installed: the algorithms that its heuristics name, in their order. Their number differs from
-- product to product; a variant beyond the end of the list fails when it is loaded.
local algorithms = {}
for i = 0, 15 do algorithms[#algorithms + 1] = i end

implementation "cublaslt" {
  tunable "algorithm" (algorithms),
  tunable "fast_sums" { false, true },   -- sums of products of 8-bit floats of fewer bits than f32

  -- cuBLASLt has no product of two e5m2, and stores products of i8 as i32 only. It takes a bias with a number for each column
  -- of a C by rows.
  requires "dtype ~= 'e5m2'",
  requires "dtype ~= 'i8' or dtype_c == 'default'",
  requires "not biased or layout_c == 'row'",
  -- cuBLASLt's GELU is off by 2e-6 in f32 and also in f64, which is more than C's tolerance.
  requires "activation ~= 'gelu'",
  -- Products of 8 bits want both operands along k, and lines of whole 16 bytes.
  derive "lines_of_16" "pitch_a % 16 == 0 and pitch_b % 16 == 0 and pitch_c * sizeof(result) % 16 == 0",
  requires "sizeof(operand) > 1 or layout_a == 'row' and layout_b == 'col' and lines_of_16",

  where "not fast_sums or sizeof(operand) == 1 and dtype ~= 'i8'",

  library "cublasLt" {
    a = "A", b = "B", c = "C", added = "D", bias = "bias", alpha = "alpha", beta = "beta",
    batch = "batch", activation = "activation", algorithm = "algorithm",
    math = "select(dtype == 'tf32', 'tf32', fast_sums, 'fast', 'exact')",
  },

  -- What the heuristics name first serves a problem that nobody tuned.
  try { algorithm = 0, fast_sums = false },
}
