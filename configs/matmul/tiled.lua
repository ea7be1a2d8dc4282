-- Tiles of both operands in shared memory, one thread an element.
implementation "tiled" {
  template "matmul_tiled.cu",
  try { tile = 16 },

  tunable "tile" { 16, 8, 32 },
  tunable "pad"  { 0, 1, 2 },                    -- elements added to a tile's row in shared memory

  where "tile * tile <= device.max_threads_per_block",
  where "2 * tile * (tile + pad) * sizeof(operand) <= device.shared_per_block",
  where "ceil_div(M, tile) <= 65535",

  grid  { "ceil_div(N, tile)", "ceil_div(M, tile)", "batch" },
  block { "tile", "tile" },
}
