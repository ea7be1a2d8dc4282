-- Forty variants of sources that differ: a run that lasts some seconds, since each is compiled.

kernel "plenty" {
  problem "n" (1003),
  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" } },
  scalar "n" { dtype = "i32" },
  reference "none",

  implementation "i" {
    template "plenty.cu",
    tunable "BLOCK" { 32, 64, 128, 256 },
    tunable "STEP" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
    grid { "ceil_div(n, BLOCK)" }, block { "BLOCK" },
  },
}
