kernel "scan" {
  problem "rows" (1024), problem "cols" (4096), check { rows = 3, cols = 700 },
  inout "x" { dtype = "f32", shape = { "rows", "cols" } },
  scalar "cols" {},
  verify "scan_verify.cu", bytes "2 * rows * cols * sizeof('f32')",
  implementation "block_a_row" {
    template "scan.cu",
    tunable "block_size" { 256, 64, 128, 512 }, tunable "items" { 4, 1, 2, 8 },
    grid { "rows" }, block { "block_size" },
  },
}
