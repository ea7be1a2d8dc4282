-- A copy from rows into tiles with a pad: an array that no strides describe.

kernel "tiled" {
  problem "rows" (5), problem "cols" (7),
  input  "x" { dtype = "f32", shape = { "rows", "cols" } },
  output "y" { dtype = "f32", shape = { "rows", "cols" }, layout = "row/4x2:col+1" },
  scalar "rows" {}, scalar "cols" {},
  reference "none",
  implementation "each" { template "tiled.cu", grid { "rows" }, block { 32 } },
}
