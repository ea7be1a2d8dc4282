-- A sum in as many launches as the tunables ask for, to and fro between two buffers, by a kernel that names its parameters
-- itself; with atomics one launch does it, and another that prepares it.

kernel "steps" {
  problem "size" (100000), check { size = 5000 },

  input   "source" { dtype = "f32", shape = { "size" } },
  output  "out" { dtype = "f32", shape = { 1 }, tolerance = 1e-3 },
  scratch "ping" { dtype = "f32", shape = { "ceil_div(size, 64)" } },
  scratch "pong" { dtype = "f32", shape = { "ceil_div(size, 64)" } },
  scalar  "n" { dtype = "i32", value = "size" },

  reference "steps_reference.cu",
  bytes "4 * size",

  tunable "threads" { 64, 128, 256 },
  tunable "each" { 1, 2, 4 },
  derive "factor" "threads * each",

  implementation "tree" {
    template "steps.cu",
    tunable "atomics" { 0, 1 },
    launch { entry "clear", steps "atomics", pass { "out" }, grid { 1 }, block { 1 } },
    launch {
      entry "reduce", steps "atomics == 1 and 1 or ceil_log(size, factor)",
      pass { "step == 0 and 'source' or step % 2 == 1 and 'ping' or 'pong'",
             "step == steps - 1 and 'out' or step % 2 == 0 and 'ping' or 'pong'",
             { "n", value = "ceil_div(size, pow(factor, step))" } },
      grid { "ceil_div(size, pow(factor, step + 1))" }, block { "threads" },
    },
  },

  -- A step reads what the one before it did not write.
  implementation "wrong" {
    template "steps.cu",
    tunable "atomics" { 0 },
    entry "reduce", steps "ceil_log(size, factor)",
    pass { "step == 0 and 'source' or step % 2 == 1 and 'pong' or 'ping'",
           "step == steps - 1 and 'out' or step % 2 == 0 and 'ping' or 'pong'",
           { "n", value = "ceil_div(size, pow(factor, step))" } },
    grid { "ceil_div(size, pow(factor, step + 1))" }, block { "threads" },
  },
}
