-- Many variants of one source, which differ in their launches alone: cheap to tune, so that a run can be disturbed often.

kernel "launches" {
  problem "n" (3000),
  check { n = 700 },

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "2 * eps('f32')" },
  scalar "n" { dtype = "index" },

  reference "launches_reference.cu",
  bytes "2 * n * sizeof('f32')",

  tunable "threads" { 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256 },
  tunable "blocks" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26 },

  implementation "strided" {
    template "launches.cu",
    grid { "blocks" }, block { "threads" },
  },
}
