-- One thread an element.
implementation "naive" {
  template "matmul_naive.cu",

  tunable "block_x" { 16, 8, 32, 64, 128 },
  tunable "block_y" { 16, 1, 2, 4, 8, 32 },
  tunable "columns_along" { "x", "y" },          -- the thread index that runs along C's columns

  derive "extent_x" "select(columns_along == 'x', N, M)",
  derive "extent_y" "select(columns_along == 'x', M, N)",

  where "block_x * block_y >= device.warp_size",
  where "block_x * block_y <= device.max_threads_per_block",
  -- The second dimension of a grid has at most 65535 blocks.
  where "ceil_div(extent_y, block_y) <= 65535",

  grid  { "ceil_div(extent_x, block_x)", "ceil_div(extent_y, block_y)", "batch" },
  block { "block_x", "block_y" },
}
