-- index.lua in three dimensions: coordinates from three numbers, or as the digits of one.
kernel "volume" {
  problem "planes" (2), problem "rows" (3), problem "cols" (5),
  output "y" { dtype = "i32", shape = { "planes", "rows", "cols" } },
  scalar "planes" { dtype = "i32" }, scalar "rows" { dtype = "i32" }, scalar "cols" { dtype = "i32" },
  reference { y = "(i0 * rows + i1) * cols + i2" },
  implementation "three_dimensions" { template "volume.cu", tunable "flat" { false },
    grid { "ceil_div(cols, 4)", "ceil_div(rows, 2)", "planes" }, block { 4, 2, 1 } },
  implementation "mixed_radix" { template "volume.cu", tunable "flat" { true }, grid { 2 }, block { 8 } },
}
