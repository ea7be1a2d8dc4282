kernel "pitch" {
  problem "rows" (1000), problem "cols" (1000), check { rows = 5, cols = 15 },
  derive "row_elements" "round_up(cols, 128)",
  output "y" { dtype = "f32", shape = { "rows", "cols" } },
  input  "x" { dtype = "f32", shape = { "rows", "cols" }, pitch = "row_elements" },
  scalar "pitch" { dtype = "i32", value = "row_elements * sizeof('f32')" },      -- in bytes, as cudaMallocPitch gives it
  scalar "cols"  { dtype = "i32" },
  reference "none",
  implementation "pack" { template "pitch.cu", tunable "right" { false, true },
    grid { "rows" }, block { 128 } },
}
