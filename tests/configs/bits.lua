-- Sums whose bits depend on the order, and not on the threads of a block. The third order counts its launches and adds a
-- trace of that: right each time, and never the same.
kernel "bits" {
  problem "rows" (40), problem "cols" (100),
  tunable "ORDER" { 0, 1, 2 },
  output "y" { dtype = "f32", shape = { "rows" }, tolerance = "cols * eps('f32')" },
  input "x" { dtype = "f32", shape = { "rows", "cols" } },
  scalar "rows" { dtype = "i32" },
  scalar "cols" { dtype = "i32" },
  reference "bits_reference.cu",
  implementation "sum" {
    template "bits.cu", tunable "THREADS" { 32, 64 },
    grid { "ceil_div(rows, THREADS)" }, block { "THREADS" } },
}
