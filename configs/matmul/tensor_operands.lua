-- What wgmma and wgmma_stream have in common: A and B are reached through tensor maps.

-- Only 2-byte elements can be multiplied across their lines.
requires "sizeof(operand) == 2 or layout_a == 'row' and layout_b == 'col'"
-- The tensor memory accelerator takes rows that are multiples of 16 bytes apart.
requires "pitch_a * sizeof(operand) % 16 == 0 and pitch_b * sizeof(operand) % 16 == 0"
-- Its coordinates have 32 bits.
requires "max(M, N, K) < 2147483648"
-- It writes its last 16 bytes of a row whole.
requires "pitch_c * sizeof(result) % 16 == 0 and contiguous_c * sizeof(result) % 16 == 0"

-- A line of a box has 128 bytes. Along the other dimension each block of a cluster brings its share of the tile's lines, and where k
-- runs across the lines, its share of k.
derive "box_line"      "128 // sizeof(operand)"
derive "box_sharing_a" "select(by_rows, cluster_y, cluster_x)"
derive "box_sharing_b" "select(by_rows, cluster_x, cluster_y)"
derive "box_lines_a"   "select(by_rows, BM, BN) // box_sharing_a"
derive "box_lines_b"   "select(by_rows, BN, BM) // box_sharing_b"

tensor "A" {
  swizzle = 128, parts = "batch",
  box = { "select(layout_a == 'row', box_lines_a, box_line)",
          "select(layout_a == 'row', box_line, box_line // box_sharing_a)" },
}
tensor "B" {
  swizzle = 128, parts = "batch",
  box = { "select(layout_b == 'col', box_line, box_line // box_sharing_b)",
          "select(layout_b == 'col', box_lines_b, box_line)" },
}
