-- Behind the products of wgmma and wgmma_stream: C of its padded copy.
launch {
  entry "unpad_result", steps "select(pads_c, 1, 0)",
  grid { "pad_blocks_c" }, block { 256 }, overlap "true",
  shared "unpad_tile" {
    dtype = "result", shape = { "store_lines", "store_line" }, layout = "row^${store_line * sizeof(result)}",
  },
}
