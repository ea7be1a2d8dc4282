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
  derive "packed" "false",
  derive "packed_a" "0",
  derive "packed_b" "0",
  derive "slice" "16 // sizeof(dtype)",          -- elements in one access to shared memory
  derive "partials" "M * N <= 2048 * 2048 and 8 * round_up(M, 256) * round_up(N, 256) or 1",

  input  "A"    { dtype = "dtype", shape = { "M", "K" }, layout = "layout_a" },
  input  "B"    { dtype = "dtype", shape = { "K", "N" }, layout = "layout_b" },
  input  "D"    { dtype = "dtype", shape = { "M", "N" }, layout = "layout_c" },
  input  "bias" { dtype = "dtype", shape = { "N" } },
  output "C"    { dtype = "dtype", shape = { "M", "N" }, layout = "layout_c", tolerance = "2 * (K + 4) * eps(dtype)" },
  scalar "alpha" { dtype = "dtype", value = "0.5" },
  scalar "beta"  { dtype = "dtype", value = "0.25" },
  scalar "M" {}, scalar "N" {}, scalar "K" {},
  scratch "workspace" { dtype = "dtype", shape = { "partials" } },
  scratch "tickets" { dtype = "u32", shape = { 264 }, fill = "zero" },

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
    tunable "bursts"  { 7, 1 },                  -- in so many parts a tile's copies start, spread over its phase
    tunable "stages"  { 4, 3 },                  -- tiles in shared memory: one is multiplied, the others on their way
    tunable "group"   { 8, 1 },                  -- rows of tiles that the blocks' order goes down together
    tunable "split"   { 1, 2, 4, 8 },            -- blocks that share a tile of C, each with its part of K

    derive "transposed_a" "layout_a == 'row'",
    derive "transposed_b" "layout_b == 'col'",
    derive "width_a" "not transposed_a and M % slice == 0 and slice or 1",
    derive "width_b" "not transposed_b and N % slice == 0 and slice or 1",
    derive "lanes_n" "32 // lanes_m",
    derive "WM"      "TM * lanes_m",             -- the warp's part of the block's tile
    derive "WN"      "TN * lanes_n",
    derive "warps_n" "BN // WN",
    derive "threads" "BM // WM * warps_n * 32",
    derive "tiles"   "ceil_div(M, BM) * ceil_div(N, BN)",
    -- Lines that the block copies at once of an operand that is transposed, a sector of 32 bytes of each.
    derive "lines_at_once" "threads * sizeof(dtype) // 32",
    derive "padding" "(transposed_a and 4 or 0) + (transposed_b and 4 or 0)",
    derive "shared_bytes" "stages * BK * (BM + BN + padding) * sizeof(dtype)",
    -- Sums and two pairs of fragments, and some 24 for addresses and counters.
    derive "registers" "sizeof(dtype) // 4 * (TM * TN + 2 * (TM + TN)) + 24",

    where "TM % slice == 0 and TN % slice == 0",
    -- The warps tile the block.
    where "BM % WM == 0 and BN % WN == 0",
    where "threads >= 64 and threads <= 512",
    -- Longer parts are for the larger tiles, and 8 by 8 for the others.
    where "TM == TN and BM * BN <= 128 * 128 or TM ~= TN and BM * BN >= 128 * 128 and BN > 64",
    -- Longer parts are multiplied along their shorter side, by warps whose part is square.
    where "TM == TN or (order == 'rows') == (TM > TN) and WM == WN",
    -- A thread has at most 255 registers, and the multiprocessor's serve all of its threads.
    where "registers <= 232",
    where "registers * threads <= device.registers_per_sm",
    -- All threads copy the same number of times, each time as far on in the tile as all the others.
    where "not transposed_a or BM % lines_at_once == 0",
    where "not transposed_b or BN % lines_at_once == 0",
    where "transposed_a or threads * width_a % BM == 0 or BM % (threads * width_a) == 0",
    where "transposed_b or threads * width_b % BN == 0 or BN % (threads * width_b) == 0",
    where "BM * BK % (threads * width_a) == 0",
    where "BN * BK % (threads * width_b) == 0",
    -- The block's shared memory.
    where "shared_bytes <= device.shared_per_block_optin",
    -- Parts of K are for tiles that leave multiprocessors idle, of which an H200 has 132, and their sums and tickets
    -- have to fit.
    where "split == 1 or tiles * split <= 264",
    where "split == 1 or tiles * split * BM * BN <= partials",
    where "split == 1 or BK == 16 and bursts == 7 and stages == 4 and group == 8",

    grid   { "tiles", "split" },
    block  { "threads" },
    shared "shared_bytes",
  },
}
