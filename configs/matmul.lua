-- C = A * B for any sizes, in single or double precision, every operand stored by rows or by columns, packed or
-- with pitched rows. Three rungs: naive, tiled through shared memory, blocked in registers.

kernel "matmul" {
  problem "M" (4096),                            -- rows of A and C
  problem "N" (4096),                            -- columns of B and C
  problem "K" (4096),                            -- columns of A, rows of B
  problem "dtype"      { "f32", "f64" },
  problem "layout_a"   { "row", "col" },
  problem "layout_b"   { "row", "col" },
  problem "layout_c"   { "row", "col" },
  problem "pitched"    { false, true },          -- rows rounded up to what the driver's pitched allocation gives
  problem "specialize" { false, true },          -- M, N and K compiled in, or passed at launch
  problem "fill"       { "uniform", "identity", "index", "ones" },

  -- No tile divides these, every pipeline stage is used more than once, and most tiles have blocks inside the
  -- matrix as well as on its edges. N is a multiple of 4 and the others are odd, so that in the default layouts
  -- B's rows are aligned for wide loads and A's are not.
  check { M = 131, N = 260, K = 37 },

  -- Sizes within a factor of two keep the tiles' order by and large.
  policy "nearest" { distance = 1 },

  -- Elements that lie side by side in memory: a row or a column, by the layout.
  derive "contiguous_a" "layout_a == 'row' and K or M",
  derive "contiguous_b" "layout_b == 'row' and N or K",
  derive "contiguous_c" "layout_c == 'row' and N or M",

  -- From one of them to the next, in elements.
  derive "alignment" "device.pitch_alignment // sizeof(dtype)",
  derive "pitch_a" "pitched and round_up(contiguous_a, alignment) or contiguous_a",
  derive "pitch_b" "pitched and round_up(contiguous_b, alignment) or contiguous_b",
  derive "pitch_c" "pitched and round_up(contiguous_c, alignment) or contiguous_c",

  input  "A" { dtype = "dtype", shape = { "M", "K" }, layout = "layout_a", pitch = "pitch_a", fill = "fill" },
  input  "B" { dtype = "dtype", shape = { "K", "N" }, layout = "layout_b", pitch = "pitch_b", fill = "fill" },
  output "C" {
    dtype = "dtype", shape = { "M", "N" }, layout = "layout_c", pitch = "pitch_c",
    -- A sum of K products of numbers in [-1, 1) that are rounded one after the other is off by K * eps / 15 as a
    -- rule (a random walk of partial sums of size sqrt(k) / 3, each rounded to eps / 2), and the worst of 1e8
    -- elements by six times that. Five times more than this worst is still far below one product.
    tolerance = "2 * K * eps(dtype)",
  },
  scalar "M" { dtype = "index", specialize = "specialize" },
  scalar "N" { dtype = "index", specialize = "specialize" },
  scalar "K" { dtype = "index", specialize = "specialize" },

  reference "matmul_reference.cu",
  flops "2 * M * N * K",
  bytes "(M * K + K * N + M * N) * sizeof(dtype)", -- each operand once

  -- One thread an element.
  implementation "naive" {
    template "matmul_naive.cu",
    tunable "block_x" { 16, 8, 32, 64, 128 },
    tunable "block_y" { 16, 1, 2, 4, 8, 32 },
    tunable "columns_along" { "x", "y" },        -- the thread index that runs along C's columns
    where "block_x * block_y >= device.warp_size",
    where "block_x * block_y <= device.max_threads_per_block",
    -- The second dimension of a grid has at most 65535 blocks.
    where "ceil_div(columns_along == 'x' and M or N, block_y) <= 65535",
    grid {
      "ceil_div(columns_along == 'x' and N or M, block_x)",
      "ceil_div(columns_along == 'x' and M or N, block_y)",
    },
    block { "block_x", "block_y" },
  },

  -- Tiles of both operands in shared memory, one thread an element.
  implementation "tiled" {
    template "matmul_tiled.cu",
    tunable "tile" { 16, 8, 32 },
    tunable "pad"  { 0, 1, 2 },                  -- elements added to a tile's row in shared memory
    where "tile * tile <= device.max_threads_per_block",
    where "2 * tile * (tile + pad) * sizeof(dtype) <= device.shared_per_block",
    where "ceil_div(M, tile) <= 65535",
    grid  { "ceil_div(N, tile)", "ceil_div(M, tile)" },
    block { "tile", "tile" },
  },

  -- Tiles in shared memory, TM x TN elements of C in the registers of each thread.
  implementation "blocked" {
    template "matmul_blocked.cu",
    tunable "BM" { 128, 64, 256 },               -- the block's tile of C
    tunable "BN" { 128, 64, 256 },
    tunable "BK" { 8, 16, 32 },                  -- how far along k a phase reaches
    tunable "TM" { 8, 4, 16 },                   -- the thread's part of it
    tunable "TN" { 8, 4, 16 },
    tunable "vec" { 4, 2, 1 },                   -- elements in one global load
    tunable "pad" { 4, 0 },                      -- elements added to a tile's line in shared memory
    tunable "double_buffer" { true, false },
    tunable "group" { 1, 8 },                    -- rows of tiles that the blocks' order goes down together
    tunable "min_blocks" { 1, 2 },               -- blocks that must fit a multiprocessor: bounds the registers

    derive "threads" "(BM // TM) * (BN // TN)",
    derive "slice"   "16 // sizeof(dtype)",      -- elements in one access to shared memory
    -- The lanes of a warp stand 4 by 8: their loads from shared memory are then one stretch of 64 bytes along m
    -- and one of 128 bytes along n.
    derive "lanes_n" "8",
    derive "lanes_m" "4",
    derive "warps_n" "BN // (TN * lanes_n)",
    derive "words"   "sizeof(dtype) // 4",       -- registers an element takes
    derive "buffers" "double_buffer and 2 or 1",
    -- Sums, two pairs of fragments, the next tiles, and some 24 for addresses and counters.
    derive "registers" "words * (TM * TN + 2 * (TM + TN) + (BM + BN) * BK // threads) + 24",

    -- The warps tile the block.
    where "BM % (TM * lanes_m) == 0 and BN % (TN * lanes_n) == 0",
    -- Fewer threads do not hide a latency; more leave too few registers for any useful TM * TN.
    where "threads >= 64 and threads <= 512",
    -- One global load moves at most 16 bytes.
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

    -- One dimension, which may have 2^31 - 1 blocks.
    grid  { "ceil_div(M, BM) * ceil_div(N, BN)" },
    block { "threads" },
  },
}
