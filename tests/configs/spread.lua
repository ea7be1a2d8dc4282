-- y = x by way of z, in blocks that take their time; `how` says what the last block has to do with another one.

kernel "spread" {
  problem "n" (32768), check { n = 32768 },

  input   "x" { dtype = "f32", shape = { "n" } },
  output  "y" { dtype = "f32", shape = { "n" }, tolerance = "0" },
  scratch "z" { dtype = "f32", shape = { "n" } },
  scratch "total" { dtype = "i32", shape = { "1" }, fill = "zero" }, -- the second launch leaves it so
  scalar  "n" { dtype = "i32" },
  reference "spread_reference.cu",

  implementation "spread" {
    template "spread.cu",
    tunable "how" { "apart", "reads", "writes", "half", "adds", "each_adds", "resets", "ends_not" },
    launch { entry = "slowly", grid = { "ceil_div(n, 64)" }, block = { 64 } },
    launch { entry = "copy", grid = { "ceil_div(n, 64)" }, block = { 64 } },
  },
}
