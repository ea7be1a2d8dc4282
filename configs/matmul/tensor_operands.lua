-- What wgmma and wgmma_stream have in common: A, B and C are reached through tensor maps. Where the tensor memory accelerator does not
-- take their rows, there are padded copies: a launch before fills those of A and B, and one after copies the result to C.

requires "wgmma_multiplies"
-- Its coordinates have 32 bits.
requires "max(M, N, K) < 2147483648"

-- A line of a box has 128 bytes. Along the other dimension each block of a cluster brings its share of the tile's lines, and where k
-- runs across the lines, its share of k.
derive "box_line"      "128 // sizeof(operand)"
derive "box_sharing_a" "select(by_rows, cluster_y, cluster_x)"
derive "box_sharing_b" "select(by_rows, cluster_x, cluster_y)"
derive "box_lines_a"   "select(by_rows, BM, BN) // box_sharing_a"
derive "box_lines_b"   "select(by_rows, BN, BM) // box_sharing_b"

local box_a = { "select(layout_a == 'row', box_lines_a, box_line)", "select(layout_a == 'row', box_line, box_line // box_sharing_a)" }
local box_b = { "select(layout_b == 'col', box_line, box_line // box_sharing_b)", "select(layout_b == 'col', box_lines_b, box_line)" }
local box_c = { "select(by_rows, 64, store_n)", "select(by_rows, store_n, 64)" }
tensor "A" { box = box_a, swizzle = 128, parts = "batch", when = "not pads_a" }
tensor "B" { box = box_b, swizzle = 128, parts = "batch", when = "not pads_b" }
tensor "C" { box = box_c, swizzle = "select(swap, 128, store_bytes)", parts = "batch", when = "not pads_c" }
tensor "padded_a" { box = box_a, swizzle = 128, parts = "batch" }
tensor "padded_b" { box = box_b, swizzle = 128, parts = "batch" }
tensor "padded_c" { box = box_c, swizzle = "select(swap, 128, store_bytes)", parts = "batch" }

-- Lines of the box that one block pads; a line of an operand has 128 bytes.
derive "pad_lines_a"  "select(layout_a == 'row', box_lines_a, box_line // box_sharing_a)"
derive "pad_lines_b"  "select(layout_b == 'row', box_line // box_sharing_b, box_lines_b)"
derive "pad_blocks_a" "select(pads_a, ceil_div(contiguous_a, box_line) * ceil_div(select(layout_a == 'row', M, K), pad_lines_a), 0) * batch"
derive "pad_blocks_b" "select(pads_b, ceil_div(contiguous_b, box_line) * ceil_div(select(layout_b == 'row', K, N), pad_lines_b), 0) * batch"
derive "pad_blocks_c" "ceil_div(contiguous_c, select(swap, 64, store_n)) * \
                       ceil_div(select(layout_c == 'row', M, N), select(swap, store_n, 64)) * batch"
