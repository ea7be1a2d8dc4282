kernel "edges" {
  problem "rows" (8192), problem "cols" (8192), check { rows = 70, cols = 132 },
  output "y" { dtype = "f32", shape = { "rows", "cols" }, tolerance = "16 * eps('f32')" },
  input "x" { dtype = "f32", shape = { "rows", "cols" } },
  scalar "rows" { dtype = "i32" }, scalar "cols" { dtype = "i32" },
  reference "edges_reference.cu", bytes "2 * rows * cols * sizeof('f32')",
  implementation "fetched" {
    template "edges.cu",
    requires "device.compute_capability >= 90 or device.is_gpu == 0",
    tunable "height" { 16, 8, 32 }, tunable "width" { 64, 32, 128 },
    where "cols % 4 == 0",                                  -- rows of whole 16 bytes
    shared "part" { dtype = "f32", shape = { "height + 2", "width + 8" }, align = 128 },
    tensor "x" { into = "part" },
    grid { "ceil_div(cols, width)", "ceil_div(rows, height)" }, block { "width", 4 },
  },
}
