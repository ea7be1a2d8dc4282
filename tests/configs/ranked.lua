-- How many steps a launch does is a tunable, so that times are of unequal work: rates are ranked.
kernel "ranked" {
  problem "n" (100000), check { n = 999 },
  tunable "STEPS" { 1, 4 },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "16 * eps('f32')" }, input "x" { dtype = "f32", shape = { "n" } },
  scalar "n" { dtype = "i32" },
  reference "ranked_reference.cu",
  flops "2 * n * STEPS",
  objective "flops",
  implementation "plain" {
    template "ranked.cu", tunable "THREADS" { 64, 128 },
    grid { "ceil_div(n, THREADS)" }, block { "THREADS" } },
}
