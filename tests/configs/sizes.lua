-- The best variant really depends on the size, on the cpu device, too: "steady" takes much for each element, "prepared" much at first and
-- little then, least in pieces of 8, which not every size has.
kernel "sizes" {
  problem "n" (4096), problem "rows" (1), problem "dtype" { "f32", "i32" },
  check { n = 1000 },
  policy "portfolio" { distance = 1 },
  input "x" { dtype = "dtype", shape = { "rows", "n" } },
  output "y" { dtype = "dtype", shape = { "rows", "n" } },
  scalar "count" { dtype = "i32", value = "rows * n" },
  reference "sizes_reference.cu",
  implementation "steady" { template "sizes.cu", tunable "first" { 0 }, tunable "each" { 40 }, tunable "piece" { 1 },
    grid { 1 }, block { 32 } },
  implementation "prepared" { template "sizes.cu", tunable "first" { 100000 }, tunable "each" { 4 }, tunable "piece" { 1, 8 },
    where "n % piece == 0", grid { 1 }, block { 32 } },
}
