kernel "second_barrier" {
  problem "width" (1024), check { width = 48 },
  output "C" { dtype = "f32", shape = { "width", "width" } },
  input  "A" { dtype = "f32", shape = { "width", "width" } }, input "B" { dtype = "f32", shape = { "width", "width" } },
  scalar "width" { dtype = "i32" },
  reference "none",
  implementation "tiled" { template "second_barrier.cu", tunable "right" { false, true },
    grid { "width // 16", "width // 16" }, block { 16, 16 } },
}
