-- Many variants of one source, without a reference: on the pretended GPU of tests/fault/fake_cuda.c each launch sleeps, so that several tuners
-- are as fast on two processors as on as many GPUs.

kernel "sleeping" {
  problem "n" (3000),

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" } },
  scalar "n" { dtype = "index" },

  reference "none",

  tunable "threads" { 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512 },
  tunable "blocks" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26 },

  implementation "strided" {
    template "launches.cu",
    grid { "blocks" }, block { "threads" },
  },
}
