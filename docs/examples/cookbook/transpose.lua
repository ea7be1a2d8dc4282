kernel "transpose" {
  problem "rows" (4096), problem "cols" (4096), check { rows = 70, cols = 45 },
  output "B" { dtype = "f32", shape = { "cols", "rows" } },
  input "A" { dtype = "f32", shape = { "rows", "cols" } },
  scalar "rows" {}, scalar "cols" {},
  reference { B = "A[i1, i0]" }, bytes "8 * rows * cols",
  implementation "tiled" {
    template "transpose.cu",
    tunable "lies" { "row^5,0,5", "row+1", "row" },   -- swizzled, padded, plain
    shared "part" { dtype = "f32", shape = { 32, 32 }, layout = "lies" },
    tunable "threads_y" { 8, 4, 16 },
    grid { "ceil_div(cols, 32)", "ceil_div(rows, 32)" }, block { 32, "threads_y" },
  },
}
