-- C = A * B for any sizes, in half, single or double precision, every operand stored by rows or by columns, packed or
-- with pitched rows, one product or a batch of them. Five rungs: naive, tiled through shared memory, blocked in
-- registers, with the tiles on their way while others are multiplied, and so on operands laid out for it before.

-- What pipelined and packed have in common.
--
-- What is not here never led. Of some 2,100 variants measured on an H200 (f32 at 1024, 2048, 4096, 4095 x 4097 x 4099,
-- 4800 x 3200 x 6400 and 512 x 512 x 32768, f64 at 1024 and 4096), the best of what was taken out was slower than the
-- best of all by: registers bounded so that two blocks fit 2.7 %, parts of 8 by 8 in tiles of 128 x 256 2.0 %, longer
-- parts in tiles below 128 x 128 1.5 %, longer parts multiplied along their longer side 0.8 %, or in warps that are not
-- square 0.1 %.
local function pipeline()
  return
    requires "device.compute_capability >= 80 and (dtype == 'f32' or dtype == 'f64')",
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
    tunable "split"   { 1, 2, 3, 4, 6, 8, 16, 32 }, -- blocks that share a tile of C, each with its part of K

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
    where "split == 1 or tiles * batch * split <= 264",
    where "split == 1 or tiles * batch * split * BM * BN <= partials",
    -- Of all else the values that are best as a rule.
    where "split == 1 or BK == 16 and bursts == 7 and stages == 4 and group == 8"
end

-- What an implementation needs that reaches its matrices through tensor maps, and the boxes in which A and B come.
local function tensor_operands()
  return
    -- Only 2-byte elements can be multiplied across their lines.
    requires "sizeof(operand) == 2 or layout_a == 'row' and layout_b == 'col'",
    -- The tensor memory accelerator takes rows that are multiples of 16 bytes apart.
    requires "pitch_a * sizeof(operand) % 16 == 0 and pitch_b * sizeof(operand) % 16 == 0",
    -- Its coordinates have 32 bits.
    requires "max(M, N, K) < 2147483648",
    -- It writes its last 16 bytes of a row whole.
    requires "pitch_c * sizeof(result) % 16 == 0 and contiguous_c * sizeof(result) % 16 == 0",
    tensor "A" {
      swizzle = 128, parts = "batch",
      box = {
        "layout_a == 'row' and (by_rows and BM // cluster_y or BN // cluster_x) or 128 // sizeof(operand)",
        "128 // sizeof(operand) // (layout_a == 'row' and 1 or by_rows and cluster_y or cluster_x)",
      },
    },
    tensor "B" {
      swizzle = 128, parts = "batch",
      box = {
        "128 // sizeof(operand) // (layout_b == 'col' and 1 or by_rows and cluster_x or cluster_y)",
        "layout_b == 'col' and (by_rows and BN // cluster_x or BM // cluster_y) or 128 // sizeof(operand)",
      },
    }
end

-- What becomes of a sum; m and n are C's row and column.
local function epilogue()
  local sum = "(scaled and (biased and alpha * acc + beta * D[m, n] + bias[n] or alpha * acc + beta * D[m, n]) \
                or biased and acc + bias[n] or acc)"
  return "fast and fast_gelu(" .. sum .. ") or activation == 'gelu' and gelu(" .. sum .. ") or activation == 'relu' and relu(" .. sum .. ") or " .. sum
end

kernel "matmul" {
  problem "M" (4096),                            -- rows of A and C
  problem "N" (4096),                            -- columns of B and C
  problem "K" (4096),                            -- columns of A, rows of B
  problem "dtype"      { "f32", "f64", "f16", "bf16", "tf32", "e4m3", "e5m2", "i8" }, -- tf32: f32 rounded to 10 bits
  problem "dtype_c"    { "default", "f32" },     -- of C: the operands' type, of bytes bf16 or i32; or f32 of small ones
  problem "layout_a"   { "row", "col" },
  problem "layout_b"   { "row", "col" },
  problem "layout_c"   { "row", "col" },
  problem "pitched"    { false, true },          -- rows rounded up to what the driver's pitched allocation gives
  problem "specialize" { false, true },          -- M, N and K compiled in, or passed at launch
  problem "fill"       { "uniform", "identity", "index", "ones" },
  problem "batch" (1),                           -- products; the operands' lines follow each other
  problem "scaled"     { false, true },          -- alpha * A * B + beta * D
  problem "biased"     { false, true },          -- and a number for each of C's columns
  problem "activation" { "none", "relu", "gelu" }, -- and then

  -- No tile divides these, every pipeline stage is used more than once, and most tiles have blocks inside the
  -- matrix as well as on its edges. N is a multiple of 4 and the others are odd, so that in the default layouts
  -- B's rows are aligned for wide loads and A's are not.
  check { M = 131, N = 260, K = 37 },

  -- Sizes within a factor of two keep the tiles' order by and large.
  policy "nearest" { distance = 1 },

  -- Types of what is stored and of the sums.
  derive "operand"     "dtype == 'tf32' and 'f32' or dtype",
  derive "accumulator" "dtype == 'f64' and 'f64' or dtype == 'i8' and 'i32' or 'f32'",
  derive "result"      "dtype_c == 'f32' and 'f32' or dtype == 'i8' and 'i32' or sizeof(operand) == 1 and 'bf16' or operand",
  derive "float_8"     "dtype == 'e4m3' or dtype == 'e5m2'",
  where "dtype_c == 'default' or sizeof(operand) <= 2",
  derive "fused" "scaled or biased or activation ~= 'none'",
  derive "fast" "activation == 'gelu' and sizeof(result) == 2 and device.compute_capability >= 75", -- the hardware's tanh
  where "not fused or dtype ~= 'i8' or dtype_c == 'f32'", -- what is fused is computed as C is, and not in whole numbers

  -- Elements that lie side by side in memory: a row or a column, by the layout.
  derive "contiguous_a" "layout_a == 'row' and K or M",
  derive "contiguous_b" "layout_b == 'row' and N or K",
  derive "contiguous_c" "layout_c == 'row' and N or M",

  -- From one of them to the next, in elements.
  derive "alignment" "device.pitch_alignment // sizeof(operand)",
  derive "pitch_a" "pitched and round_up(contiguous_a, alignment) or contiguous_a",
  derive "pitch_b" "pitched and round_up(contiguous_b, alignment) or contiguous_b",
  derive "pitch_c" "pitched and round_up(contiguous_c, device.pitch_alignment // sizeof(result)) or contiguous_c",

  -- Elements in 16 bytes: in one access to shared memory.
  derive "slice" "16 // sizeof(operand)",
  derive "aligned_a" "pitch_a % slice == 0 and contiguous_a % slice == 0",
  derive "aligned_b" "pitch_b % slice == 0 and contiguous_b % slice == 0",

  -- The cpu device stands for an H200, too, with few multiprocessors, so that blocks have several tiles each.
  derive "hopper" "device.compute_capability == 90 and device.architecture_specific == 1 or device.is_gpu == 0",
  derive "multiprocessors" "device.is_gpu == 1 and device.sm_count or 8",
  derive "shared_most" "device.is_gpu == 1 and device.shared_per_block_optin or 232448",

  -- What `packed` lays out anew, with a line for each k: operands whose rows no copy of 16 bytes may start at.
  derive "packable" "dtype == 'f32' or dtype == 'f64'",
  derive "packs_a" "packable and not aligned_a",
  derive "packs_b" "packable and not aligned_b",
  derive "line_pa" "round_up(M, 32)",
  derive "line_pb" "round_up(N, 32)",
  derive "packed_a" "packs_a and K * line_pa or 0",
  derive "packed_b" "packs_b and K * line_pb or 0",
  derive "blocks_a" "packs_a and ceil_div(M, 64) * ceil_div(K, 32) or 0",
  derive "blocks_b" "packs_b and ceil_div(N, 64) * ceil_div(K, 32) or 0",
  -- Room for the sums of parts of K, for products small enough to need them or whose last wave of tiles is shared: 64 MiB
  -- at most in f32.
  derive "streams" "hopper and accumulator == 'f32' and dtype ~= 'f32'",
  derive "partials" "M * N * batch <= 2048 * 2048 and min(32 * round_up(M, 256) * round_up(N, 256) * batch, 16777216) \
                     or streams and 16777216 or 1",

  -- The matrices of a batch stand below each other where they are stored by rows, else side by side.
  input "A" {
    dtype = "operand", shape = { "layout_a == 'row' and batch * M or M", "layout_a == 'row' and K or batch * K" },
    layout = "layout_a", pitch = "pitch_a", fill = "fill",
  },
  input "B" {
    dtype = "operand", shape = { "layout_b == 'row' and batch * K or K", "layout_b == 'row' and N or batch * N" },
    layout = "layout_b", pitch = "pitch_b", fill = "fill",
  },
  output "C" {
    dtype = "result", shape = { "layout_c == 'row' and batch * M or M", "layout_c == 'row' and N or batch * N" },
    layout = "layout_c", pitch = "pitch_c",
    -- A sum of K products of numbers in [-1, 1) that are rounded one after the other is off by K * eps / 15 as a
    -- rule (a random walk of partial sums of size sqrt(k) / 3, each rounded to eps / 2), and the worst of 1e8
    -- elements by six times that. Five times more than this worst is still far below one product. What is stored is
    -- rounded once more. The operands of a tf32 product lose up to 2^-10 of themselves, which adds up like the sums.
    -- Tensor cores add products of 8-bit floats with 13 bits behind the largest of 32, so that 2^-14 of a sum is lost
    -- at each step along k, which may be all to the same side. The hardware's tanh is right to 2^-11, its share in GELU to 2^-12 x.
    tolerance = "2 * K * eps(accumulator) + eps(result) + (dtype == 'tf32' and sqrt(K) / 256 or 0) \
                 + (float_8 and K * sqrt(K) / 262144 or 0) + (fused and 16 * eps(dtype == 'i8' and 'f32' or accumulator) or 0) \
                 + (fast and 0.001 or 0)",
    -- Over all of C these errors are 0.14 * sqrt(K) * eps where every sum is rounded, K * eps / 70 on tensor cores, which
    -- cut sums off once for 16 products, a fifth of eps(result), and 7e-4 for tf32. One lost product is 1 / sqrt(K).
    norm = "K * eps(accumulator) / 16 + eps(result) / 2 + (dtype == 'tf32' and 0.002 or 0) \
            + (float_8 and K / 262144.0 or 0) + (fused and 4 * eps(dtype == 'i8' and 'f32' or accumulator) or 0) \
            + (fast and 0.0005 or 0)",
  },
  scalar "M" { dtype = "index", specialize = "specialize" },
  scalar "N" { dtype = "index", specialize = "specialize" },
  scalar "K" { dtype = "index", specialize = "specialize" },
  input "D" {
    dtype = "result", shape = { "layout_c == 'row' and batch * M or M", "layout_c == 'row' and N or batch * N" },
    layout = "layout_c", pitch = "pitch_c", when = "scaled",
  },
  input "bias" { dtype = "result", shape = { "layout_c == 'row' and N or batch * N" }, when = "biased" },
  scalar "alpha" { dtype = "dtype == 'f64' and 'f64' or 'f32'", value = "0.5", when = "scaled" },
  scalar "beta"  { dtype = "dtype == 'f64' and 'f64' or 'f32'", value = "0.25", when = "scaled" },
  scratch "workspace" { dtype = "accumulator", shape = { "batch * (packed_a + packed_b) + partials" } },
  scratch "tickets" { dtype = "u32", shape = { 264 }, fill = "zero" },

  -- What is stored of a sum. Another one goes here, in a config of your own; the reference changes with it.
  formula "epilogue(acc, m, n)" (epilogue()),

  reference "matmul_reference.cu",
  flops "2 * M * N * K * batch",
  products "dtype",                              -- which tensor cores do too: the higher ceiling
  bytes "((M * K + K * N) * sizeof(operand) + (scaled and 2 or 1) * M * N * sizeof(result)) * batch", -- each once

  -- The third dimension of a grid counts the batch.
  where "batch <= 65535",

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
      "ceil_div(columns_along == 'x' and M or N, block_y)", "batch",
    },
    block { "block_x", "block_y" },
  },

  -- Tiles of both operands in shared memory, one thread an element.
  implementation "tiled" {
    template "matmul_tiled.cu",
    try { tile = 16 },
    tunable "tile" { 16, 8, 32 },
    tunable "pad"  { 0, 1, 2 },                  -- elements added to a tile's row in shared memory
    where "tile * tile <= device.max_threads_per_block",
    where "2 * tile * (tile + pad) * sizeof(operand) <= device.shared_per_block",
    where "ceil_div(M, tile) <= 65535",
    grid  { "ceil_div(N, tile)", "ceil_div(M, tile)", "batch" },
    block { "tile", "tile" },
  },

  -- Tiles in shared memory, TM x TN elements of C in the registers of each thread.
  implementation "blocked" {
    template "matmul_blocked.cu",
    requires "dtype == 'f32' or dtype == 'f64'",
    -- The first led in f64 before there were those that follow, the other is for f32.
    try { BM = 64, BN = 128, BK = 8, TM = 8, TN = 4 },
    try { BM = 128, BN = 128, BK = 8, TM = 8 },
    -- What is not here never led: of some 1,000 variants measured at seven problems on an H200, the best with a tile of
    -- 256 was 0.5 % slower than the best of all, with a BK of 32 9 %, with loads of 8 bytes 2 %, with narrow parts 3 %.
    tunable "BM" { 128, 64 },                    -- the block's tile of C
    tunable "BN" { 128, 64 },
    tunable "BK" { 8, 16 },                      -- how far along k a phase reaches
    tunable "TM" { 8, 4, 16 },                   -- the thread's part of it
    tunable "TN" { 8, 4, 16 },
    tunable "vec" { 4, 2, 1 },                   -- elements in one global load
    tunable "pad" { 4, 0 },                      -- elements added to a tile's line in shared memory
    tunable "double_buffer" { true, false },
    tunable "group" { 1, 8 },                    -- rows of tiles that the blocks' order goes down together
    tunable "min_blocks" { 1, 2 },               -- blocks that must fit a multiprocessor: bounds the registers

    derive "threads" "(BM // TM) * (BN // TN)",
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
    -- A global load moves 16 bytes, or one element where the rows do not allow it.
    where "vec * sizeof(dtype) == 16 or vec == 1",
    -- Fewer sums a thread than 64 (32 in f64) load too much for them, and so do narrow parts.
    where "TM * TN * sizeof(dtype) >= 256 and TM * TN <= 128 and abs(TM - TN) <= 8",
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
    grid  { "ceil_div(M, BM) * ceil_div(N, BN)", 1, "batch" },
    block { "threads" },
  },

  -- As blocked, with warps that tile the block's tile and tiles that travel to shared memory by asynchronous copies,
  -- several ahead of the one that is being multiplied.
  implementation "pipelined" {
    template "matmul_pipelined.cu",
    -- f32 on an H200: the first within 1 % of the best at 1024 and 4800 x 3200 x 6400, such as the second lead at 2048 and
    -- 4096.
    try { BM = 64, BN = 128, BK = 16, TM = 8, TN = 8, lanes_m = 8 },
    try { BM = 128, BN = 256, BK = 8, TM = 16, TN = 8, lanes_m = 4 },
    derive "packed" "false",
    -- An operand that k runs along in memory is transposed on its way to shared memory, an element a copy; the other
    -- kind is copied 16 bytes at a time if it is aligned.
    derive "transposed_a" "layout_a == 'row'",
    derive "transposed_b" "layout_b == 'col'",
    derive "width_a" "transposed_a and 1 or aligned_a and slice or 1",
    derive "width_b" "transposed_b and 1 or aligned_b and slice or 1",
    grid   { "tiles", "split", "batch" },
    block  { "threads" },
    shared "shared_bytes",
    pipeline(),
  },

  -- The same on operands that a launch before has laid out as wide copies want them: a line for each k, aligned.
  implementation "packed" {
    template "matmul_pipelined.cu",
    requires "packs_a or packs_b",
    where "BK == 16",
    derive "packed" "true",
    derive "transposed_a" "layout_a == 'row' and not packs_a",
    derive "transposed_b" "layout_b == 'col' and not packs_b",
    derive "width_a" "transposed_a and 1 or slice",
    derive "width_b" "transposed_b and 1 or slice",
    launch { entry "pack_operands", grid { "blocks_a + blocks_b", 1, "batch" }, block { 256 } },
    launch {
      entry "matmul_pipelined", grid { "tiles", "split", "batch" }, block { "threads" },
      shared "shared_bytes",
    },
    pipeline(),
  },

  -- On tensor cores, by the instructions that every GPU has since compute capability 8.0; else as pipelined.
  implementation "mma" {
    template "matmul_mma.cu",
    -- As above, with more tiles along k than stages, and copies of 16, 8 and fewer bytes.
    check { M = 131, N = 260, K = 392, dtype = "bf16" },
    requires "device.compute_capability >= 80 and dtype ~= 'f32'",
    requires "dtype ~= 'e4m3' and dtype ~= 'e5m2' or device.compute_capability >= 89 or device.is_gpu == 0",
    -- Nothing transposes bytes on the way to the tensor cores.
    requires "dtype ~= 'e4m3' and dtype ~= 'e5m2' and dtype ~= 'i8' or layout_a == 'row' and layout_b == 'col'",
    -- What led on an H200, in halves, tf32 and f64.
    try { BM = 128, BN = 256, WM = 64, WN = 64, k_bytes = 128, stages = 4 },
    try { BM = 256, BN = 128, WM = 64, WN = 64, k_bytes = 64, stages = 5 },
    try { BM = 64, BN = 128, WM = 64, WN = 32, k_bytes = 128, stages = 3, f64_rows = 16 },
    try { BM = 128, BN = 64, WM = 64, WN = 32, k_bytes = 128, stages = 3, group = 16, f64_rows = 16 },

    tunable "BM" { 128, 256, 64 },               -- the block's tile of C
    tunable "BN" { 128, 256, 64 },
    tunable "WM" { 64, 32, 128 },                -- the warp's part of it
    tunable "WN" { 64, 32, 128 },
    tunable "k_bytes" { 64, 128, 256 },            -- how far along k a tile reaches, in bytes
    tunable "stages" { 4, 3, 5 },                -- tiles in shared memory: one is multiplied, the others on their way
    tunable "group"  { 8, 1, 16 },               -- rows of tiles that the blocks' order goes down together
    tunable "min_blocks" { 1, 2 },               -- blocks that must fit a multiprocessor: bounds the registers
    tunable "f64_rows" { 8, 16 },                -- the instruction's rows and its k in f64
    tunable "f64_k"    { 4, 8, 16 },

    derive "BK"      "k_bytes // sizeof(operand)",
    derive "threads" "BM // WM * (BN // WN) * 32",
    -- Elements in one copy: as many of 16 bytes as rows and bases are aligned for.
    derive "copy_16" "16 // sizeof(operand)",
    derive "copy_8"  "max(copy_16 // 2, 1)",
    derive "copy_4"  "max(copy_16 // 4, 1)",
    derive "vec_a"   "pitch_a % copy_16 == 0 and contiguous_a % copy_16 == 0 and copy_16 \
                      or pitch_a % copy_8 == 0 and contiguous_a % copy_8 == 0 and copy_8 \
                      or pitch_a % copy_4 == 0 and contiguous_a % copy_4 == 0 and copy_4 or 1",
    derive "vec_b"   "pitch_b % copy_16 == 0 and contiguous_b % copy_16 == 0 and copy_16 \
                      or pitch_b % copy_8 == 0 and contiguous_b % copy_8 == 0 and copy_8 \
                      or pitch_b % copy_4 == 0 and contiguous_b % copy_4 == 0 and copy_4 or 1",
    derive "store_width" "min(4, 16 // sizeof(result))",
    derive "copies_a" "BM * BK // (threads * vec_a)",
    derive "copies_b" "BN * BK // (threads * vec_b)",
    -- Bytes along k of an instruction.
    derive "step_bytes" "dtype == 'f64' and 8 * f64_k or 32",
    derive "shared_bytes" "stages * k_bytes * (BM + BN)",
    -- Sums and two pairs of fragments, some 30 for addresses and counters, and what 8-bit floats are converted in on 9.0.
    derive "registers" "sizeof(accumulator) // 4 * WM * WN // 32 + (WM + WN) * step_bytes // 64 + 30 + (float_8 and device.compute_capability == 90 and 24 or 0)",

    where "f64_k == 4 and f64_rows == 8 or dtype == 'f64' and f64_rows == 16 and device.compute_capability >= 90",
    -- The warps tile the block.
    where "BM % WM == 0 and BN % WN == 0",
    where "threads >= 64 and threads <= 512",
    -- An even number of steps along k in a tile.
    where "k_bytes % (2 * step_bytes) == 0",
    -- The multiprocessor's registers serve all of its threads.
    where "registers * threads * min_blocks <= device.registers_per_sm",
    -- Only where that is a bound.
    where "min_blocks == 1 or 255 * threads * min_blocks > device.registers_per_sm",
    -- All threads copy the same number of times.
    where "BM * BK % (threads * vec_a) == 0 and BN * BK % (threads * vec_b) == 0",
    -- A thread has at most 255 registers. Each copy has its place in the program, and one; of 2 bytes, which pass through them, two.
    where "copies_a <= 32 and copies_b <= 32",
    where "registers + copies_a * (vec_a * sizeof(operand) == 2 and 2 or 1) + copies_b * (vec_b * sizeof(operand) == 2 and 2 or 1) <= 240",
    -- The block's shared memory, and the multiprocessor's for all of its blocks.
    where "shared_bytes <= device.shared_per_block_optin",
    where "min_blocks * (shared_bytes + device.shared_reserved_per_block) <= device.shared_per_sm",

    grid   { "ceil_div(M, BM) * ceil_div(N, BN)", 1, "batch" },
    block  { "threads" },
    shared "shared_bytes",
  },

  -- As wgmma below, with the tiles that do not fill a wave dealt out evenly along k, to all clusters. A second launch adds up the
  -- parts. It stands in front because what wgmma names by try led more often, and is tried first.
  implementation "wgmma_stream" {
    template "matmul_wgmma.cu",
    check { M = 528, N = 400, K = 784, dtype = "bf16" }, -- rows of whole 16 bytes, more tiles than blocks, more steps than stages
    requires "streams",
    requires "batch == 1",

    try { BM = 128, BN = 256, cluster_x = 2 },
    try { BM = 128, BN = 128, cluster_x = 2 },

    tunable "BM" { 128, 256 },
    tunable "BN" { 256, 192, 128, 224, 240, 208, 176 },
    tunable "cluster_x" { 1, 2 },
    tunable "cluster_y" { 1, 2 },
    tunable "group"     { 16, 8 },
    tunable "deferred"  { true, false },
    tunable "aligned"   { true, false },         -- as many clusters for each shared tile, which are at the same k at a time
    tunable "store_most" { 128, 64 },            -- bytes of a line that are stored at once: by the rule below

    derive "stream"        "true",
    derive "swap"          "false",
    derive "consumers"     "2",
    derive "pingpong"      "false",
    derive "split_k"       "1",
    derive "promote"       "0",
    derive "order"         "'down'",
    derive "store_buffers" "1",
    derive "by_rows"       "layout_c == 'row'",
    derive "cluster_size"  "cluster_x * cluster_y",
    derive "threads"       "384",
    derive "sums"          "BM // 2 * BN // 128",
    derive "x_along_k"     "by_rows and layout_a == 'row' or not by_rows and layout_b == 'col'",
    derive "y_along_k"     "by_rows and layout_b == 'col' or not by_rows and layout_a == 'row'",
    derive "row_bytes"     "BN * sizeof(result)",
    derive "store_bytes"   "row_bytes % 128 == 0 and store_most == 128 and 128 or row_bytes % 64 == 0 and 64 or 32",
    derive "store_n"       "store_bytes // sizeof(result)",
    derive "stages"        "min(12, (shared_most - 1024 - 128 * store_bytes) // (128 * (BM + BN)))",
    derive "cluster_tiles" "ceil_div(by_rows and M or N, BM * cluster_x) * ceil_div(by_rows and N or M, BN * cluster_y)",
    derive "k_steps"       "ceil_div(K * sizeof(operand), 128)",
    derive "wave"          "max(1, multiprocessors // cluster_size)", -- of clusters that run at once
    derive "shared_tiles"  "cluster_tiles % wave",
    derive "wide_blocks"   "shared_tiles * cluster_size * (BM // 64) * (row_bytes // 128)",

    where "sums <= (fused and 160 or 192)",
    where "not scaled or sums + (deferred and sums // 2 or 0) <= 144",
    where "stages >= 3",
    where "y_along_k or BN % 64 == 0",
    where "BN % (8 * cluster_x) == 0",
    where "cluster_size <= 2",
    -- Parts of a few steps along k are not worth it, and they fit the workspace.
    where "shared_tiles * k_steps >= 4 * wave",
    -- As many clusters for each tile leave few without one; where none is left that is all the difference.
    where "not aligned or 2 * shared_tiles <= wave and wave % shared_tiles * 8 <= wave",
    where "aligned or wave % shared_tiles > 0",
    -- Narrower stores make more blocks of the second launch, which are to fill the GPU.
    where "(store_most == 64) == (wide_blocks < multiprocessors)",
    where "(wave + shared_tiles) * cluster_size * BM * BN <= partials",
    where "not deferred or sizeof(result) == 2 and sums + sums // 2 <= 200 and cluster_tiles >= wave",
    -- Each store of a tile has its own step in the program: many take ptxas seconds.
    where "not deferred or k_steps >= BM // 128 * BN // store_n and BM // 128 * BN // store_n <= 8",
    where "group == 16 or cluster_tiles > 16",

    tensor "C" {
      swizzle = "store_bytes",
      box = { "by_rows and 64 or store_n", "by_rows and store_n or 64" },
    },

    launch {
      entry "matmul_wgmma", grid { "wave * cluster_size" }, block { "threads" },
      shared "stages * 128 * (BM + BN) + 128 * store_bytes", overlap "true",
    },
    launch {
      entry "matmul_wgmma_sum", grid { "max(shared_tiles, 1) * cluster_size * (BM // 64) * (BN // store_n)" },
      block { "store_n * 8" }, overlap "true",
    },
    tensor_operands(),
  },

  -- On Hopper's tensor cores: wgmma on tiles that the tensor memory accelerator brings.
  implementation "wgmma" {
    template "matmul_wgmma.cu",
    check { M = 528, N = 400, K = 784, dtype = "bf16" }, -- rows of whole 16 bytes, more tiles than blocks, more steps than stages
    requires "hopper",
    requires "dtype ~= 'f32' and dtype ~= 'f64'",

    -- What led on an H200: at 4096 and 2048, at 8192, where tiles of 176 columns fit or k is short, at 16384, at 1024, for 128,
    -- 64 and 16 lines, for a long k; two that led in tf32.
    try { BM = 128, BN = 256, cluster_x = 1, group = 16 },
    try { BM = 128, BN = 192, pingpong = true, cluster_x = 1, group = 16 },
    try { BM = 128, BN = 176, pingpong = true, cluster_x = 1, group = 16 },
    try { BM = 256, BN = 192, cluster_x = 1, cluster_y = 2 },
    try { BM = 64, BN = 128, consumers = 1, cluster_x = 1 },
    try { BM = 128, BN = 64, cluster_x = 1, split_k = 2 },
    try { BM = 64, BN = 64, consumers = 1, cluster_x = 1 },
    try { BM = 64, BN = 128, consumers = 1, cluster_x = 1, split_k = 2 },
    try { BM = 64, BN = 16, consumers = 1, cluster_x = 1, split_k = 2, swap = true },
    try { BM = 64, BN = 64, consumers = 1, cluster_x = 1, swap = true },
    try { BM = 128, BN = 128, cluster_x = 1, split_k = 5 },
    try { BM = 256, BN = 144, cluster_x = 1, cluster_y = 2 },
    try { BM = 192, BN = 192, consumers = 3, cluster_x = 1 },

    -- The block's tile of C (of its transpose, when it is stored by columns) and the consumers, warpgroups that share its
    -- rows or take tiles in turn.
    tunable "BM" { 128, 256, 64, 192 },
    tunable "BN" { 256, 128, 192, 64, 160, 208, 176, 224, 240, 144, 112, 96, 80, 48, 32, 16 },
    tunable "consumers" { 2, 1, 3 },
    tunable "pingpong"  { false, true },
    -- The blocks of a cluster, along C's lines, along its columns and along k.
    tunable "cluster_x" { 2, 1 },
    tunable "cluster_y" { 1, 2 },
    tunable "split_k"   { 1, 2, 3, 4, 5, 6, 7 },
    tunable "swap"      { false, true },         -- C's lines are the tile's columns, when they are few
    tunable "group"     { 8, 16, 4, 1 },         -- lines of tiles that the clusters' order goes along together
    tunable "order"     { "down", "right", "hilbert" }, -- in which they do: hilbert: squares of them on that curve
    tunable "store_buffers" { 1, 2 },            -- parts of a consumer's tile that are on their way to C
    tunable "deferred" { true, false },          -- a tile is stored while the next one is multiplied
    tunable "promote"  { 0, 4, 1 },              -- steps along k after which sums of 8-bit floats go to sums of f32; 0: never

    derive "stream" "false",
    derive "by_rows" "(layout_c == 'row') ~= swap",              -- C's lines are the tile's rows
    derive "cluster_size" "cluster_x * cluster_y * split_k",
    derive "threads"      "128 * (consumers + 1)",
    derive "rows"         "BM // (pingpong and 1 or consumers)", -- of a consumer
    derive "sums"         "rows * BN // 128",                    -- of a thread
    -- Whether k is contiguous in the operand whose rows are C's lines, and in the other one.
    derive "x_along_k"    "by_rows and layout_a == 'row' or not by_rows and layout_b == 'col'",
    derive "y_along_k"    "by_rows and layout_b == 'col' or not by_rows and layout_a == 'row'",
    -- A stored part is 64 rows by as many bytes as swizzle there is for them; with split_k there is one for each block.
    derive "row_bytes"    "BN * sizeof(result)",
    derive "part_most"    "row_bytes * (rows // 64) // split_k",
    derive "store_bytes"  "swap and row_bytes or row_bytes % 128 == 0 and part_most >= 128 and 128 or row_bytes % 64 == 0 and part_most >= 64 and 64 or 32",
    derive "store_n"      "store_bytes // sizeof(result)",
    -- As many stages as fit beside the barriers and the results, of 128 bytes of k.
    derive "stages"       "min(swap and 24 or 12, (shared_most - 1024 - consumers * store_buffers * 64 * store_bytes) \
                                   // (128 * (BM + BN)))",
    derive "cluster_tiles"        "ceil_div(by_rows and M or N, BM * cluster_x) * ceil_div(by_rows and N or M, BN * cluster_y) * batch",
    derive "k_steps"        "ceil_div(K * sizeof(operand), 128)",

    where "rows % 64 == 0 and BM % rows == 0",
    where "not pingpong or consumers == 2",
    -- A thread's sums and some 25 registers more; three consumers have 160 of them, and before that 128.
    where "sums >= 8 and sums <= (consumers == 3 and 96 or 192)",
    where "consumers < 3 or BN <= 192",
    -- What an epilogue reads takes registers, too.
    where "not fused or sums <= 160",
    where "not scaled or sums + (deferred and sums // 2 or 0) <= (consumers == 3 and 100 or 144)",
    where "stages >= 3",
    -- Across the lines operands come in parts of 64.
    where "y_along_k or BN % 64 == 0",
    -- The blocks that share a tile bring equal parts of it, whole groups of 8 lines of the swizzle.
    where "BN % (8 * cluster_x) == 0 and BM % (8 * cluster_y) == 0",
    -- Multiprocessors come in groups of 14 to 18, and clusters lie within one: more than two blocks do not fill the GPU,
    -- and where tiles are more than clusters that run at once, a late one doubles the time.
    where "cluster_x * cluster_y <= 2 and cluster_size <= 8",
    -- Those along k have work, and add up equal parts of the columns; their sums lie in the ring.
    where "split_k == 1 or (split_k - 1) * ceil_div(k_steps, split_k) < k_steps",
    where "row_bytes % 32 == 0 and (swap or split_k <= rows // 64 * BN // store_n)",
    where "split_k == 1 or not pingpong and cluster_tiles * cluster_size <= multiprocessors",
    where "split_k == 1 or BM * BN * 4 <= stages * 128 * (BM + BN)",
    -- Fewer tiles than lines that go together are in the same order whatever it is.
    -- Waiting results take registers beside the next tile's sums, and a step along k each to be stored in.
    where "not deferred or not pingpong and split_k == 1 and cluster_tiles * cluster_size > multiprocessors",
    where "not deferred or sizeof(result) == 2 and sums + sums // 2 <= (consumers == 3 and 120 or 200)",
    -- Each store of a tile has its own step in the program: many take ptxas seconds, and never led.
    where "not deferred or k_steps >= rows // 64 * BN // store_n and rows // 64 * BN // store_n <= 8",
    where "promote == 0 or float_8 and not deferred and sums <= (consumers == 3 and 60 or 100) and k_steps > promote",
    -- Transposed on their way to C are only 2-byte elements; and the tile is as narrow as C's lines are few.
    where "not swap or sizeof(result) == 2 and BN % 16 == 0 and (by_rows and N or M) <= 128 and BN < (by_rows and N or M) + 16",
    where "not swap or cluster_y == 1 and cluster_x == 1 and not pingpong and not deferred and store_buffers == 1",
    where "group == 8 or cluster_tiles > 16",
    where "order == 'down' or cluster_tiles > 16",
    where "order ~= 'hilbert' or group >= 8 and cluster_tiles >= group * group",

    tensor "C" {
      swizzle = "swap and 128 or store_bytes", parts = "batch",
      box = { "by_rows and 64 or store_n", "by_rows and store_n or 64" },
    },

    grid   { "split_k > 1 and cluster_tiles * cluster_size or min(cluster_tiles, multiprocessors // cluster_size) * cluster_size" },
    block  { "threads" },
    shared "stages * 128 * (BM + BN) + consumers * store_buffers * 64 * store_bytes",
    overlap "true",
    tensor_operands(),
  },
}
