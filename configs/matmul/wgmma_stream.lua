-- Like wgmma, but the tiles that do not fill a wave are cut along k, and each cluster gets an equal share of them (stream-K). A second
-- launch adds up the parts of each tile. A search begins with the `try` of the implementation that is declared last. Those of wgmma are the best more
-- often, so that wgmma is declared after this one.
implementation "wgmma_stream" {
  template "matmul_wgmma.cu",
  check { M = 392, N = 272, K = 528, dtype = "bf16" }, -- rows of whole 16 bytes, more tiles than blocks, more steps than stages
  requires "streams",
  requires "batch == 1",

  try { BM = 128, BN = 256, cluster_x = 2 },
  try { BM = 128, BN = 128, cluster_x = 2 },

  tunable "BM" { 128, 256 },                     -- the block's tile of C (of its transpose, when it is stored by columns)
  tunable "BN" { 256, 192, 128, 224, 240, 208, 176 },
  tunable "cluster_x" { 1, 2 },                  -- the blocks of a cluster, along C's lines and along its columns
  tunable "cluster_y" { 1, 2 },
  tunable "group"     { 16, 8 },                 -- lines of tiles in a group: consecutive clusters take the tiles of a group
  tunable "deferred"  { true, false },           -- a tile is stored while the next one is multiplied
  tunable "aligned"   { true, false },           -- each shared tile has the same number of clusters, and they take its steps along k by turns
  tunable "store_most" { 128, 64 },              -- bytes of a line that are stored at once; a rule below decides

  scalar "group" { dtype = "i32" },              -- passed at launch, as wgmma's

  -- What wgmma has as tunables is fixed.
  derive "stream"        "true",
  derive "swap"          "false",
  derive "consumers"     "2",
  derive "pingpong"      "false",
  derive "split_k"       "1",
  derive "promote"       "0",
  derive "store_buffers" "1",
  include "tensor_shape.lua",
  derive "store_bytes"   "select(row_bytes % 128 == 0 and store_most == 128, 128, row_bytes % 64 == 0, 64, 32)",
  derive "store_n"       "store_bytes // sizeof(result)",
  derive "stages"        "min(12, (shared_most - 1024 - 128 * store_bytes) // (128 * (BM + BN)))",
  derive "wave"          "max(1, multiprocessors // cluster_size)", -- clusters that run at once
  derive "shared_tiles"  "cluster_tiles % wave",
  derive "wide_blocks"   "shared_tiles * cluster_size * (BM // 64) * (row_bytes // 128)",

  where "sums <= select(fused, 160, 192)",
  where "not scaled or sums + waiting <= 144",
  where "stages >= 3",
  where "y_along_k or BN % 64 == 0",
  -- Sharing pays only if the parts have more than a few steps along k, and the parts must fit the workspace.
  where "shared_tiles * k_steps >= 4 * wave",
  -- `aligned` may leave only few clusters without a tile. Where it leaves none, the two values differ only in the order of the
  -- work, and only `aligned` is tried.
  where "not aligned or 2 * shared_tiles <= wave and wave % shared_tiles * 8 <= wave",
  where "aligned or wave % shared_tiles > 0",
  -- Narrower stores give the second launch more blocks: they are used where wide ones would not fill the GPU.
  where "(store_most == 64) == (wide_blocks < multiprocessors)",
  where "(wave + shared_tiles) * cluster_size * BM * BN <= partials",
  where "not deferred or sizeof(result) == 2 and sums + sums // 2 <= 200 and cluster_tiles >= wave",
  where "not deferred or k_steps >= BM // 128 * BN // store_n",
  where "group == 16 or cluster_tiles > 16",

  heuristic "sm_90" "cluster_size <= 2",         -- for the reasons that wgmma.lua gives
  heuristic "sm_90" "not deferred or BM // 128 * BN // store_n <= 8",

  include "tensor_operands.lua",
  launch {
    entry "matmul_wgmma", grid { "wave * cluster_size" }, block { "threads" }, overlap "true",
    include "tensor_tiles.lua",
  },
  launch {
    entry "matmul_wgmma_sum", grid { "max(shared_tiles, 1) * cluster_size * (BM // 64) * (BN // store_n)" },
    block { "store_n * 8" }, overlap "true",
    shared "summed" { dtype = "result", shape = { 64, "store_n" }, layout = "row^${store_bytes}" },
  },
  include "tensor_result.lua",
}
