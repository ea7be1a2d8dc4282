-- As blocked, with warps that tile the block's tile and tiles that travel to shared memory by asynchronous copies,
-- several ahead of the one that is being multiplied.
implementation "pipelined" {
  template "matmul_pipelined.cu",
  -- f32 on an H200: the first is within 1 % of the best at 1024 and 4800 x 3200 x 6400, the second is among the best at 2048 and 4096.
  try { BM = 64, BN = 128, BK = 16, TM = 8, TN = 8, lanes_m = 8 },
  try { BM = 128, BN = 256, BK = 8, TM = 16, TN = 8, lanes_m = 4 },
  -- The best for products of few tiles.
  try { BM = 64, BN = 64, BK = 16, TM = 8, TN = 4, lanes_m = 2, group = 1, split = 4 },
  try { BM = 48, BN = 64, BK = 16, TM = 12, TN = 4, lanes_m = 2, group = 1, split = 4 },
  derive "packed" "false",
  -- An operand that k runs along in memory is transposed on its way to shared memory, an element a copy; the other
  -- kind is copied 16 bytes at a time if it is aligned.
  derive "transposed_a" "layout_a == 'row'",
  derive "transposed_b" "layout_b == 'col'",
  derive "width_a" "select(transposed_a, 1, vec_a)",
  derive "width_b" "select(transposed_b, 1, vec_b)",
  grid   { "tiles", "split", "batch" },
  block  { "threads" },
  include "pipeline.lua",
  include "pipeline_ring.lua",
}
