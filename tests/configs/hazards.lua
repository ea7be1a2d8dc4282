-- y[i] = weights[i % 4] * x[i], by a kernel that misbehaves when it is asked to at launch.

kernel "hazards" {
  problem "n" (1000), problem "hazard" (0), check { n = 100 },

  input    "x" { dtype = "f32", shape = { "n" } },
  output   "y" { dtype = "f32", shape = { "n" } },
  constant "weights" { dtype = "f32", shape = { "4" }, fill = "index" },
  scalar   "n" { dtype = "i32" },
  scalar   "hazard" { dtype = "i32" },
  reference "none",

  implementation "one" {
    template "hazards.cu", tunable "threads" { 64, 32 },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
}
