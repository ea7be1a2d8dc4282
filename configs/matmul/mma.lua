-- On tensor cores, by the instructions that every GPU has since compute capability 8.0. Otherwise like pipelined.
implementation "mma" {
  template "matmul_mma.cu",
  -- Like the kernel's check problem, but with more tiles along k than stages, and copies of 16, 8 and fewer bytes.
  check { M = 131, N = 260, K = 392, dtype = "bf16" },
  requires "device.compute_capability >= 80 and dtype ~= 'f32'",
  requires "not float_8 or device.compute_capability >= 89 or device.is_gpu == 0",
  -- Nothing transposes bytes on the way to the tensor cores.
  requires "sizeof(operand) > 1 or layout_a == 'row' and layout_b == 'col'",
  -- The fastest on an H200, in halves, tf32 and f64.
  try { BM = 128, BN = 256, WM = 64, WN = 64, k_bytes = 128, stages = 4 },
  try { BM = 256, BN = 128, WM = 64, WN = 64, k_bytes = 64, stages = 5 },
  try { BM = 64, BN = 128, WM = 64, WN = 32, k_bytes = 128, stages = 3, f64_rows = 16 },
  try { BM = 128, BN = 64, WM = 64, WN = 32, k_bytes = 128, stages = 3, group = 16, f64_rows = 16 },
  -- Few tiles, and a long k.
  try { BM = 64, BN = 32, WM = 32, WN = 16, k_bytes = 256, stages = 3, f64_rows = 16 },
  try { BM = 64, BN = 64, WM = 32, WN = 32, k_bytes = 128, split = 4, f64_rows = 16 },
  -- Where shared memory is too small for the others.
  try { BM = 128, BN = 128, WM = 64, WN = 32, k_bytes = 64, stages = 4 },

  tunable "BM" { 128, 256, 64, 32 },           -- the block's tile of C
  tunable "BN" { 128, 256, 64, 32 },
  tunable "WM" { 64, 32, 128, 16 },            -- the warp's part of that tile
  tunable "WN" { 64, 32, 128, 16 },
  tunable "k_bytes" { 64, 128, 256 },          -- how far along k a tile reaches, in bytes
  tunable "stages" { 4, 3, 5 },                -- tiles in shared memory: one is multiplied, the others on their way
  tunable "group"  { 8, 1, 16 },               -- rows of tiles that consecutive blocks go down before the next column
  tunable "min_blocks" { 1, 2 },               -- blocks that must fit a multiprocessor: bounds the registers
  tunable "split"  { 1, 2, 3, 4, 6, 8, 12, 16 }, -- blocks that share a tile of C, each with its part of K
  tunable "f64_rows" { 8, 16 },                -- the instruction's rows and its k in f64
  tunable "f64_k"    { 4, 8, 16 },

  derive "BK"      "k_bytes // sizeof(operand)",
  derive "threads" "BM // WM * (BN // WN) * 32",
  derive "store_width" "min(4, 16 // sizeof(result))",
  derive "copies_a" "BM * BK // (threads * vec_a)",
  derive "copies_b" "BN * BK // (threads * vec_b)",
  -- Bytes along k of an instruction.
  derive "step_bytes" "select(dtype == 'f64', 8 * f64_k, 32)",
  derive "shared_bytes" "stages * k_bytes * (BM + BN)",
  -- Sums and two pairs of fragments, some 30 for addresses and counters, and those in which 8-bit floats are converted on 9.0.
  derive "registers" "sizeof(accumulator) // 4 * WM * WN // 32 + (WM + WN) * step_bytes // 64 + 30 \
                      + select(float_8 and device.compute_capability == 90, 24, 0)",
  -- Each copy takes a register for its address; one of 2 bytes passes through another.
  derive "registers_a" "copies_a * select(vec_a * sizeof(operand) == 2, 2, 1)",
  derive "registers_b" "copies_b * select(vec_b * sizeof(operand) == 2, 2, 1)",

  where "f64_k == 4 and f64_rows == 8 or dtype == 'f64' and f64_rows == 16 and device.compute_capability >= 90",
  -- Small tiles are for products of few tiles, and on Hopper for those that wgmma does not do.
  derive "few" "ceil_div(M, 64) * ceil_div(N, 64) * batch <= 132",
  derive "small" "min(BM, BN) < 64 or min(WM, WN) < 32",
  where "not small or few and BM * BN <= 64 * 64 and WM * WN <= 32 * 32 and min_blocks == 1 and group == 8",
  heuristic "sm_90" "not small or not wgmma_multiplies and (f64_rows == 16 or device.is_gpu == 0) and f64_k <= 8",
  -- The warps tile the block.
  where "BM % WM == 0 and BN % WN == 0",
  where "threads >= 64 and threads <= 512",
  -- An even number of steps along k in a tile.
  where "k_bytes % (2 * step_bytes) == 0",
  -- The multiprocessor's registers serve all of its threads.
  where "registers * threads * min_blocks <= device.registers_per_sm",
  -- Only where min_blocks bounds the registers.
  where "min_blocks == 1 or 255 * threads * min_blocks > device.registers_per_sm",
  -- All threads copy the same number of times.
  where "BM * BK % (threads * vec_a) == 0 and BN * BK % (threads * vec_b) == 0",
  -- A thread has at most 255 registers.
  where "copies_a <= 32 and copies_b <= 32",
  where "registers + registers_a + registers_b <= 240",
  -- The multiprocessor's shared memory for all of its blocks.
  where "min_blocks * (shared_bytes + device.shared_reserved_per_block) <= device.shared_per_sm",

  -- Blocks that share a tile have tiles of their own along k, and their sums fit the workspace. More blocks than run at once share none.
  derive "shared_c" "ceil_div(M, BM) * ceil_div(N, BN) * batch",
  where "split == 1 or shared_c * split <= 528 and 4 * split <= ceil_div(K, BK)",
  where "split == 1 or shared_c * split * BM * BN <= partials",
  heuristic "sm_90" "split == 1 or not wgmma_multiplies", -- where wgmma does it, that is faster

  grid   { "ceil_div(M, BM) * ceil_div(N, BN)", "split", "batch" },
  block  { "threads" },
  shared "tiles" { dtype = "operand", shape = { "BK * (BM + BN)" }, stages = "stages" },
}
