-- Tiles of both operands in shared memory, one thread an element.
implementation "tiled" {
  template "matmul_tiled.cu",
  try { tile = 16 },

  tunable "tile" { 16, 8, 32 },
  -- Elements added to a tile's row in shared memory. One moves each row to other banks, which is needed where a tile is read or
  -- written by columns: for operands whose rows are not contiguous.
  tunable "pad"  { 0, 1, 2 },
  shared "tile_a" { dtype = "operand", shape = { "tile", "tile" }, layout = "row+${pad}" },
  shared "tile_b" { dtype = "operand", shape = { "tile", "tile" }, layout = "row+${pad}" },

  where "tile * tile <= device.max_threads_per_block",
  where "ceil_div(M, tile) <= 65535",

  grid  { "ceil_div(N, tile)", "ceil_div(M, tile)", "batch" },
  block { "tile", "tile" },
}
