kernel "springs" {
  problem "n" (1000000), problem "rounds" (100), check { n = 1003, rounds = 7 },
  inout "x" { dtype = "f32", shape = { "n" }, tolerance = "rounds * eps('f32')" },
  inout "v" { dtype = "f32", shape = { "n" }, tolerance = "rounds * eps('f32')", fill = "zero" },
  scalar "n" { dtype = "i32" }, scalar "now" { dtype = "f32", value = 0 },
  derive "dt" "f32(0.01)",
  reference "springs_reference.cu",
  implementation "two_phases" {
    template "springs.cu",
    tunable "block_size" { 256, 128, 512 },
    loop {
      steps "rounds",
      launch { entry "kick", pass { "v", "x", "n", { "now", value = "step * 0.01" } },
               grid { "ceil_div(n, block_size)" }, block { "block_size" } },
      launch { entry "drift", pass { "x", "v", "n" },
               grid { "ceil_div(n, block_size)" }, block { "block_size" } },
    },
  },
}
