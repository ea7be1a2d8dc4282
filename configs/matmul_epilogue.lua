-- C = relu(alpha * A * B + beta * D + bias), where bias has one element for each column: a product and what follows it
-- in one pass over C. The formula is all that differs from configs/matmul.lua, whose templates these are; change it
-- here, and the reference changes with it.

kernel "matmul_epilogue" {
  problem "M" (4096),                            -- rows of A, C and D
  problem "N" (4096),                            -- columns of B, C and D
  problem "K" (4096),                            -- columns of A, rows of B
  problem "dtype"    { "f32", "f64" },
  problem "layout_a" { "row", "col" },
  problem "layout_b" { "row", "col" },
  problem "layout_c" { "row", "col" },           -- of C and D

  check { M = 131, N = 260, K = 37 },
  policy "nearest" { distance = 1 },

  -- What the templates know besides.
  derive "batch" "1",
  derive "accumulator" "dtype",
  derive "contiguous_a" "layout_a == 'row' and K or M",
  derive "contiguous_b" "layout_b == 'row' and N or K",
  derive "pitch_a" "contiguous_a",
  derive "pitch_b" "contiguous_b",

  input  "A"    { dtype = "dtype", shape = { "M", "K" }, layout = "layout_a" },
  input  "B"    { dtype = "dtype", shape = { "K", "N" }, layout = "layout_b" },
  input  "D"    { dtype = "dtype", shape = { "M", "N" }, layout = "layout_c" },
  input  "bias" { dtype = "dtype", shape = { "N" } },
  output "C"    { dtype = "dtype", shape = { "M", "N" }, layout = "layout_c", tolerance = "2 * (K + 4) * eps(dtype)" },
  scalar "alpha" { dtype = "dtype", value = "0.5" },
  scalar "beta"  { dtype = "dtype", value = "0.25" },
  scalar "M" {}, scalar "N" {}, scalar "K" {},

  formula "epilogue(acc, m, n)" "relu(alpha * acc + beta * D[m, n] + bias[n])",

  reference "matmul_reference.cu",
  flops "2 * M * N * K + 5 * M * N",
  products "dtype",
  bytes "(M * K + K * N + 2 * M * N + N) * sizeof(dtype)",

  implementation "tiled" {
    template "matmul_tiled.cu",
    tunable "tile" { 16, 8, 32 },
    tunable "pad"  { 0, 1, 2 },                  -- elements added to a tile's row in shared memory
    where "tile * tile <= device.max_threads_per_block",
    where "2 * tile * (tile + pad) * sizeof(dtype) <= device.shared_per_block",
    where "ceil_div(M, tile) <= 65535",
    grid  { "ceil_div(N, tile)", "ceil_div(M, tile)", "batch" },
    block { "tile", "tile" },
  },

  -- As blocked, with warps that tile the block's tile and tiles that travel to shared memory by asynchronous copies,
  -- several ahead of the one that is being multiplied.
  implementation "pipelined" {
    template "matmul_pipelined.cu",
    requires "device.compute_capability >= 80",
    tunable "BM" { 128, 64, 256 },               -- the block's tile of C
    tunable "BN" { 256, 128, 64 },
    tunable "BK" { 16, 8 },                      -- how far along k a tile reaches
    tunable "TM" { 16, 8 },                      -- the thread's part of it
    tunable "TN" { 8, 16 },
    tunable "lanes_m" { 4, 8 },                  -- the lanes of a warp stand lanes_m by lanes_n
    tunable "order"   { "rows", "cols" },        -- in which a thread multiplies: other registers and another schedule
    tunable "bursts"  { 1, 7 },                  -- in so many parts a tile's copies start, spread over its phase
    tunable "stages"  { 4, 3 },                  -- tiles in shared memory: one is multiplied, the others on their way
    tunable "group"   { 8, 1 },                  -- rows of tiles that the blocks' order goes down together
    tunable "min_blocks" { 1, 2 },               -- blocks that must fit a multiprocessor: bounds the registers

    derive "slice"   "16 // sizeof(dtype)",      -- elements in one access to shared memory
    derive "lanes_n" "32 // lanes_m",
    derive "WM"      "TM * lanes_m",             -- the warp's part of the block's tile
    derive "WN"      "TN * lanes_n",
    derive "warps_n" "BN // WN",
    derive "threads" "BM // WM * warps_n * 32",
    -- Elements in one copy of an operand that lies in shared memory as in global memory: 16 bytes if they are aligned.
    derive "vec_a"   "pitch_a % slice == 0 and contiguous_a % slice == 0 and slice or 1",
    derive "vec_b"   "pitch_b % slice == 0 and contiguous_b % slice == 0 and slice or 1",
    -- Lines that the block copies at once of an operand that is transposed, a sector of 32 bytes of each.
    derive "lines_at_once" "threads * sizeof(dtype) // 32",
    derive "padding" "(layout_a == 'row' and 4 or 0) + (layout_b == 'col' and 4 or 0)",
    derive "shared_bytes" "stages * BK * (BM + BN + padding) * sizeof(dtype)",
    -- Sums and two pairs of fragments, and some 24 for addresses and counters.
    derive "registers" "sizeof(dtype) // 4 * (TM * TN + 2 * (TM + TN)) + 24",

    where "TM % slice == 0 and TN % slice == 0",
    -- The warps tile the block.
    where "BM % WM == 0 and BN % WN == 0",
    where "threads >= 64 and threads <= 512",
    -- A thread has at most 255 registers, and the multiprocessor's serve all of its threads.
    where "registers <= 232",
    where "registers * threads * min_blocks <= device.registers_per_sm",
    -- Only where that is a bound.
    where "min_blocks == 1 or 255 * threads * min_blocks > device.registers_per_sm",
    -- All threads copy the same number of times, each time as far on in the tile as all the others.
    where "layout_a == 'col' or BM % lines_at_once == 0",
    where "layout_b == 'row' or BN % lines_at_once == 0",
    where "layout_a == 'row' or threads * vec_a % BM == 0 or BM % (threads * vec_a) == 0",
    where "layout_b == 'col' or threads * vec_b % BN == 0 or BN % (threads * vec_b) == 0",
    where "BM * BK % (threads * (layout_a == 'row' and 1 or vec_a)) == 0",
    where "BN * BK % (threads * (layout_b == 'col' and 1 or vec_b)) == 0",
    -- The block's shared memory, and the multiprocessor's for all of its blocks.
    where "shared_bytes <= device.shared_per_block_optin",
    where "min_blocks * (shared_bytes + device.shared_reserved_per_block) <= device.shared_per_sm",

    grid   { "ceil_div(M, BM) * ceil_div(N, BN)", 1, "batch" },
    block  { "threads" },
    shared "shared_bytes",
  },
}
