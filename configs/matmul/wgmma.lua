-- On Hopper's tensor cores: wgmma on tiles that the tensor memory accelerator brings.
implementation "wgmma" {
  template "matmul_wgmma.cu",
  check { M = 392, N = 272, K = 528, dtype = "bf16" }, -- rows of whole 16 bytes, more tiles than blocks, more steps than stages
  requires "hopper",
  requires "dtype ~= 'f32' and dtype ~= 'f64'",

  -- The fastest on an H200: at 4096 and 2048; at 8192, where tiles of 176 columns fit or k is short; at 16384; at 1024; for 128,
  -- 64 and 16 lines; for a long k; two in tf32; two for some hundred lines.
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
  try { BM = 128, BN = 64, cluster_x = 1, cluster_y = 4, split_k = 2 },
  try { BM = 64, BN = 128, consumers = 1, cluster_x = 4 },

  -- The block's tile of C (of its transpose, when it is stored by columns) and the consumers, warpgroups that share its
  -- rows or take tiles in turn.
  tunable "BM" { 128, 256, 64, 192 },
  tunable "BN" { 256, 128, 192, 64, 160, 208, 176, 224, 240, 144, 112, 96, 80, 48, 32, 16 },
  tunable "consumers" { 2, 1, 3 },
  tunable "pingpong"  { false, true },
  -- The blocks of a cluster, along C's lines, along its columns and along k.
  tunable "cluster_x" { 2, 1, 4 },
  tunable "cluster_y" { 1, 2, 4 },
  tunable "split_k"   { 1, 2, 3, 4, 5, 6, 7 },
  tunable "swap"      { false, true },           -- C's lines are the tile's columns
  tunable "group"     { 8, 16, 4, 1 },           -- lines of tiles in a group: consecutive clusters take the tiles of a group
  tunable "order"     { "down", "right", "hilbert" }, -- of tiles in a group; hilbert: squares of tiles along a Hilbert curve
  tunable "store_buffers" { 1, 2 },              -- parts of a consumer's tile that are on their way to C
  tunable "deferred" { true, false },            -- a tile is stored while the next one is multiplied
  tunable "promote"  { 0, 4, 1 },                -- steps along k after which sums of 8-bit floats go to sums of f32; 0: never

  -- Passed at launch: variants that differ in them alone are one compiled kernel.
  scalar "group" { dtype = "i32" },
  scalar "way" { dtype = "i32", value = "select(order == 'right', 1, order == 'hilbert', 2, 0)" },

  derive "stream" "false",
  include "tensor_shape.lua",
  -- A store moves 64 rows of store_bytes, the widest swizzle that divides a row; with split_k each block has at least one.
  derive "part_most"    "row_bytes * (rows // 64) // split_k",
  derive "store_bytes"  "select(swap and sizeof(result) == 2, row_bytes, row_bytes % 128 == 0 and part_most >= 128, 128, \
                                row_bytes % 64 == 0 and part_most >= 64, 64, 32)",
  derive "store_n"      "store_bytes // sizeof(result)",
  -- As many stages, of 128 bytes of k each, as fit beside the barriers and the results.
  derive "stages"       "min(select(swap, 24, 12), \
                             (shared_most - 1024 - consumers * store_buffers * 64 * store_bytes) // (128 * (BM + BN)))",

  where "rows % 64 == 0 and BM % rows == 0",
  where "not pingpong or consumers == 2",
  -- A thread's sums and some 25 registers more; three consumers have 160 of them, and before that 128.
  where "sums >= 8 and sums <= select(consumers == 3, 96, 192)",
  -- What an epilogue reads takes registers, too.
  where "not fused or sums <= 160",
  where "not scaled or sums + waiting <= select(consumers == 3, 100, 144)",
  where "stages >= 3",
  -- An operand whose lines run across k is loaded in parts of 64 elements.
  where "y_along_k or BN % 64 == 0",
  where "cluster_size <= 8",                     -- what every GPU that has clusters can launch
  -- Those along k have work, and add up equal parts of the columns; their sums lie in the ring.
  where "split_k == 1 or (split_k - 1) * ceil_div(k_steps, split_k) < k_steps",
  where "row_bytes % 32 == 0 and (swap or split_k <= rows // 64 * BN // store_n)",
  where "split_k == 1 or not pingpong and cluster_tiles * cluster_size <= multiprocessors",
  where "split_k == 1 or BM * BN * 4 <= stages * 128 * (BM + BN)",
  -- Waiting results take registers beside the next tile's sums, and each store of them takes a step along k.
  where "not deferred or not pingpong and split_k == 1 and cluster_tiles * cluster_size > multiprocessors",
  where "not deferred or sizeof(result) == 2 and sums + sums // 2 <= select(consumers == 3, 120, 200)",
  where "not deferred or k_steps >= rows // 64 * BN // store_n",
  where "promote == 0 or float_8 and not deferred and sums <= select(consumers == 3, 60, 100) and k_steps > promote",
  -- A swapped tile is hardly wider than a C of few lines, or is the tile of an X of at most 64 lines, and results have 2 bytes. An
  -- operand in registers is swapped at any size.
  where "not swap or from_registers or sizeof(result) == 2 and BN % 16 == 0 and (cluster_columns <= 128 and BN < cluster_columns + 16 \
         or cluster_lines <= 64 and BM == 64 and BN >= 64 and BN <= 128)",
  where "not swap or from_registers or not pingpong and not deferred and store_buffers == 1",
  -- With fewer tiles than a group has lines, all of these give the same order.
  where "group == 8 or cluster_tiles > 16",
  where "order == 'down' or cluster_tiles > 16",
  where "order ~= 'hilbert' or group >= 8 and cluster_tiles >= group * group",

  -- Multiprocessors come in groups of 14 to 18, and clusters lie within one: more than two blocks do not fill the GPU,
  -- and where tiles are more than clusters that run at once, a late one doubles the time.
  -- Four serve products of at most a wave of tiles.
  heuristic "sm_90" "cluster_x * cluster_y <= 2 or cluster_x * cluster_y == 4 and cluster_tiles * cluster_size <= multiprocessors",
  -- Each store of a tile has its own step in the program: many take ptxas seconds, and were never the fastest on an H200.
  heuristic "sm_90" "not deferred or rows // 64 * BN // store_n <= 8",

  include "tensor_operands.lua",
  launch {
    entry "matmul_wgmma", block { "threads" }, overlap "true",
    grid { "select(split_k > 1, cluster_tiles, min(cluster_tiles, multiprocessors // cluster_size)) * cluster_size" },
    include "tensor_tiles.lua",
  },
  include "tensor_result.lua",
}
