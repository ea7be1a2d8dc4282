-- For products with one small dimension, and for a matrix times a vector: the operand of many lines is streamed from memory to
-- registers, once, and multiplied there by the few lines of the other one.
implementation "skinny" {
  template "matmul_skinny.cu",
  -- The long operand has more lines than a block, and a k that the block's warps pass over several times, the last time partly.
  check { M = 11, N = 260, K = 1528, dtype = "bf16" },
  requires "device.compute_capability >= 80 or dtype == 'f32'",
  requires "not float_8 or device.compute_capability >= 89 or device.is_gpu == 0",
  -- Nothing turns bytes between memory and the tensor cores.
  requires "sizeof(operand) > 1 or layout_a == 'row' and layout_b == 'col'",

  -- The fastest on an H200: in most shapes, for a long k, and for sizes of some thousands.
  try { units = 1, warps_k = 8, unroll = 2, ahead = true },
  try { units = 1, warps_k = 8, unroll = 4 },
  try { units = 1, warps_k = 16, unroll = 1 },

  tunable "units"   { 1, 2, 4 },                 -- of lines of the long operand that a warp has
  tunable "warps_k" { 4, 2, 8, 1, 16 },          -- warps of a block that share lines, each with its part of k
  tunable "warps_x" { 1, 2, 4 },                 -- warps of a block beside each other along the lines
  tunable "unroll"  { 2, 1, 4, 8 },              -- units along k that are loaded together
  tunable "ahead"   { false, true },             -- the next chunk, of `unroll` units along k, is loaded while one is multiplied
  tunable "split"   { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 }, -- blocks that share lines, each with its part of k

  -- X is the operand of many lines, Y the one of few. A line may lie along k in memory, or across it.
  derive "x_is_a"  "M >= N",
  derive "count_x" "max(M, N)",
  derive "count_y" "min(M, N)",
  derive "x_along_k" "select(x_is_a, layout_a == 'row', layout_b == 'col')",
  derive "y_along_k" "select(x_is_a, layout_b == 'col', layout_a == 'row')",
  derive "width_x" "select(x_is_a, vec_a, vec_b)", -- elements in a load
  derive "tensor"  "dtype ~= 'f32'",             -- tensor cores multiply
  derive "f64_rows" "select(device.compute_capability >= 90, 16, 8)",
  derive "f64_k"    "f64_rows // 2",
  -- A lane's elements of a unit along k, the packs of 16 bytes that they are for all of its lines, and the unit.
  derive "lane_k"  "select(x_along_k, 2 * slice, slice)",
  derive "packs"   "select(x_along_k, 4, slice)",
  derive "width_y" "select(not y_along_k, 1, x_is_a, vec_b, vec_a)",
  derive "unit_k"  "4 * lane_k",
  derive "unit_x"  "select(x_along_k, 16, 8 * slice)",
  derive "tiles_y" "select(tensor, ceil_div(count_y, 8), count_y)",
  derive "columns" "select(tensor, 8 * tiles_y, count_y)",
  derive "block_x" "unit_x * units * warps_x",
  derive "threads" "32 * warps_k * warps_x",
  derive "blocks"  "ceil_div(count_x, block_x)",
  derive "chunks"  "ceil_div(K, unit_k * unroll)",
  derive "words"   "sizeof(accumulator) // 4",
  derive "sums"    "units * tiles_y * select(tensor, 4, 1) * select(x_along_k, select(tensor, 1, 2), select(tensor, slice // 2, slice))",
  -- Y is loaded with X where it takes few registers.
  derive "own_y"   "tiles_y * lane_k * sizeof(operand) // 4",
  derive "early"   "own_y * unroll <= 32",
  derive "loaded"  "4 * units * unroll * packs + select(early, own_y * unroll, 0)",
  derive "registers" "words * sums + select(ahead, 2, 1) * loaded + 44",

  where "count_y <= 128",
  where "registers <= 220",
  where "threads <= 512 and registers * threads <= device.registers_per_sm",
  -- Every warp has work.
  where "chunks >= split * warps_k",
  where "units * warps_x == 1 or block_x < 2 * count_x",
  -- Blocks that share lines have a ticket, and their sums fit the workspace.
  where "split == 1 or blocks * batch <= 2048",
  where "split == 1 or blocks * batch * split * block_x * columns <= partials",

  grid  { "blocks", "split", "batch" },
  block { "threads" },
  overlap "device.compute_capability >= 90",
  shared "parts" { dtype = "accumulator", shape = { "warps_k", "block_x", "columns" } },
}
