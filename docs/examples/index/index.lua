-- Each thread says which element it has. On the cpu device `cugen run` prints what a kernel prints.
kernel "index" {
  problem "rows" (3), problem "cols" (10),
  output "y" { dtype = "i32", shape = { "rows", "cols" } },
  scalar "rows" { dtype = "i32" }, scalar "cols" { dtype = "i32" },
  reference "index_reference.cu",
  implementation "two_dimensions" { template "index.cu", tunable "flat" { false },
    grid { "ceil_div(cols, 4)", "ceil_div(rows, 2)" }, block { 4, 2 } },
  implementation "one_dimension" { template "index.cu", tunable "flat" { true },
    grid { "ceil_div(rows * cols, 8)" }, block { 8 } },
}
