-- What wgmma and wgmma_stream have in common: A, B and C are reached through tensor maps. Where the tensor memory accelerator does not
-- take their rows, there are padded copies: a launch before fills those of A and B, and one after copies the result to C.

requires "wgmma_multiplies"
-- The accelerator's coordinates have 32 bits.
requires "max(M, N, K) < 2147483648"

-- Tiles of A and B in shared memory have lines of 128 bytes: BK elements along k, or, where k runs across the lines, 64 of the other
-- dimension (32 of tf32). Each block of a cluster brings its share of the lines to all that need them.
derive "BK"        "128 // sizeof(operand)"
derive "from_registers" "dtype == 'tf32' and not x_along_k"
where "y_along_k or sizeof(operand) == 2"
derive "extent_a"  "select(by_rows, BM, BN)"
derive "extent_b"  "select(by_rows, BN, BM)"
derive "sharing_a" "select(by_rows, cluster_y, cluster_x)"
derive "sharing_b" "select(by_rows, cluster_x, cluster_y)"
-- A store moves 64 rows, swapped store_n columns, in lines that are as wide as the swizzle.
derive "store_line"  "select(swap, 128 // max(2, sizeof(result)), store_n)"
derive "store_lines" "select(swap, store_n, 64)"

tensor "A" { into = "tile_a", shared_by = "sharing_a", parts = "batch", when = "not pads_a" }
tensor "B" { into = "tile_b", shared_by = "sharing_b", parts = "batch", when = "not pads_b" }
tensor "C" { into = "staged", parts = "batch", when = "not pads_c" }
tensor "padded_a" { into = "tile_a", shared_by = "sharing_a", parts = "batch" }
tensor "padded_b" { into = "tile_b", shared_by = "sharing_b", parts = "batch" }
tensor "padded_c" { into = "staged", parts = "batch" }

-- Lines that one block pads.
derive "pad_lines_a"  "select(layout_a == 'row', extent_a, BK) // sharing_a"
derive "pad_lines_b"  "select(layout_b == 'col', extent_b, BK) // sharing_b"
derive "pad_lines"    "max(pad_lines_a, pad_lines_b)"
derive "pad_blocks_a" "select(pads_a, ceil_div(contiguous_a, BK) * ceil_div(select(layout_a == 'row', M, K), pad_lines_a), 0) * batch"
derive "pad_blocks_b" "select(pads_b, ceil_div(contiguous_b, BK) * ceil_div(select(layout_b == 'row', K, N), pad_lines_b), 0) * batch"
derive "pad_blocks_c" "ceil_div(contiguous_c, store_line) * ceil_div(select(layout_c == 'row', M, N), store_lines) * batch"

launch {
  entry "pad_operands", steps "select(pads_a or pads_b, 1, 0)",
  grid { "pad_blocks_a + pad_blocks_b" }, block { 256 }, overlap "true",
  shared "pad_tile" { dtype = "operand", shape = { "pad_lines", "BK" }, layout = "row^128" },
}
