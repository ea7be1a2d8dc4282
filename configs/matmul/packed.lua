-- As pipelined, on operands that a launch before has laid out as wide copies want them: a line for each k, aligned.
implementation "packed" {
  template "matmul_pipelined.cu",
  requires "packs_a or packs_b",
  derive "packed" "true",
  derive "transposed_a" "layout_a == 'row' and not packs_a",
  derive "transposed_b" "layout_b == 'col' and not packs_b",
  derive "width_a" "select(transposed_a, 1, slice)",
  derive "width_b" "select(transposed_b, 1, slice)",
  launch { entry "pack_operands", grid { "blocks_a + blocks_b", 1, "batch" }, block { 256 } },
  launch {
    entry "matmul_pipelined", grid { "tiles", "split", "batch" }, block { "threads" },
    include "pipeline_ring.lua",
  },
  include "pipeline.lua",
  heuristic "sm_90" "BK == 16",                -- shorter tiles were never the fastest on an H200
}
