-- The shared arrays of wgmma's and wgmma_stream's products: the rings of tiles of A and B, and what is stored of a tile of C.
shared "tile_a" {
  dtype = "operand", shape = { "select(layout_a == 'row', extent_a, BK)", "select(layout_a == 'row', BK, extent_a)" },
  layout = "select(layout_a == 'row', 'row^128', sizeof(operand) == 4, 'row/32x32^128', 'row/64x64^128')", stages = "stages",
}
shared "tile_b" {
  dtype = "operand", shape = { "select(layout_b == 'col', extent_b, BK)", "select(layout_b == 'col', BK, extent_b)" },
  layout = "select(layout_b == 'col', 'row^128', sizeof(operand) == 4, 'row/32x32^128', 'row/64x64^128')", stages = "stages",
}
shared "staged" {
  dtype = "result", shape = { "store_lines", "store_line" }, layout = "row^${store_line * sizeof(result)}",
  stages = "consumers * store_buffers * select(swap, 64 // store_line, 1)",
}
