kernel "segmented_sum" {
  problem "n" (4000000), problem "segments" (100000), check { n = 5003, segments = 77 },
  output "sum" { dtype = "f32", shape = { "segments" }, tolerance = 1e-4 },
  input "x" { dtype = "f32", shape = { "n" } },
  input "start" { dtype = "i32", shape = { "segments + 1" },
                  values = "index * index * n // (segments * segments)" },
  scalar "segments" { dtype = "i32" },
  reference "segments_reference.cu", bytes "(n + 2 * segments) * sizeof('f32')",
  implementation "lanes_a_segment" {
    template "segments.cu",
    tunable "lanes" { 8, 1, 2, 4, 16, 32 }, tunable "block_size" { 256, 128 },
    grid { "ceil_div(segments * lanes, block_size)" }, block { "block_size" },
  },
}
