-- Tiles in shared memory, TM x TN elements of C in the registers of each thread.
implementation "blocked" {
  template "matmul_blocked.cu",
  requires "dtype == 'f32' or dtype == 'f64'",
  -- The fastest of this implementation on an H200, in f64 and in f32.
  try { BM = 64, BN = 128, BK = 8, TM = 8, TN = 4 },
  try { BM = 128, BN = 128, BK = 8, TM = 8 },
  tunable "BM" { 128, 64, 256 },               -- the block's tile of C
  tunable "BN" { 128, 64, 256 },
  tunable "BK" { 8, 16, 32 },                  -- how far along k a tile reaches
  tunable "TM" { 8, 4, 16 },                   -- the thread's part of that tile
  tunable "TN" { 8, 4, 16 },
  tunable "vec" { 4, 2, 1 },                   -- elements in one global load
  tunable "pad" { 4, 0 },                      -- elements added to a tile's line in shared memory
  tunable "double_buffer" { true, false },
  tunable "group" { 1, 8 },                    -- rows of tiles that consecutive blocks go down before the next column
  tunable "min_blocks" { 1, 2 },               -- blocks that must fit a multiprocessor: bounds the registers

  derive "threads" "(BM // TM) * (BN // TN)",
  -- The lanes of a warp stand 4 by 8: their loads from shared memory are then one stretch of 64 bytes along m
  -- and one of 128 bytes along n.
  derive "lanes_n" "8",
  derive "lanes_m" "4",
  derive "warps_n" "BN // (TN * lanes_n)",
  derive "words"   "sizeof(dtype) // 4",       -- registers an element takes
  derive "buffers" "select(double_buffer, 2, 1)",
  shared "shared_a" { dtype = "dtype", shape = { "BK", "BM" }, layout = "row+${pad}", stages = "buffers" },
  shared "shared_b" { dtype = "dtype", shape = { "BK", "BN" }, layout = "row+${pad}", stages = "buffers" },
  -- Sums, two pairs of fragments, the next tiles, and some 24 for addresses and counters.
  derive "registers" "words * (TM * TN + 2 * (TM + TN) + (BM + BN) * BK // threads) + 24",

  -- The warps tile the block.
  where "BM % (TM * lanes_m) == 0 and BN % (TN * lanes_n) == 0",
  -- Fewer threads do not hide a latency; more leave too few registers for any useful TM * TN.
  where "threads >= 64 and threads <= 512",
  -- A global load moves at most 16 bytes.
  where "vec * sizeof(dtype) <= 16",
  -- All threads bring the same number of whole packs.
  where "BM * BK % (threads * vec) == 0 and BN * BK % (threads * vec) == 0",
  -- A thread has at most 255 registers. The compiler takes some 20 more than are counted here to move loads
  -- ahead of their use; without them it spills to memory.
  where "registers <= 232",
  -- The multiprocessor's registers serve all of its threads.
  where "registers * threads * min_blocks <= device.registers_per_sm",
  -- Shared memory that a kernel has without asking, and the multiprocessor's for all of its blocks.
  where "buffers * BK * (BM + BN + 2 * pad) * sizeof(dtype) <= device.shared_per_block",
  where "min_blocks * buffers * BK * (BM + BN + 2 * pad) * sizeof(dtype) <= device.shared_per_sm",
  -- Padding is for the transposed stores, of A by rows or B by columns.
  where "pad == 0 or layout_a == 'row' or layout_b == 'col'",

  -- Never the fastest of some 1,000 variants measured at seven problems on an H200. The best with a tile of 256 was 0.5 % slower
  -- than the best of all, with a BK of 32 9 %, with loads of 8 bytes 2 %, with narrow parts or few sums a thread 3 %.
  heuristic "sm_90" "BM <= 128 and BN <= 128",
  heuristic "sm_90" "BK <= 16",
  heuristic "sm_90" "vec * sizeof(dtype) == 16 or vec == 1",
  heuristic "sm_90" "TM * TN * sizeof(dtype) >= 256 and TM * TN <= 128 and abs(TM - TN) <= 8",

  -- One dimension, which may have 2^31 - 1 blocks.
  grid  { "ceil_div(M, BM) * ceil_div(N, BN)", 1, "batch" },
  block { "threads" },
}
