-- A bitonic sort: log2(n) stages, and in stage s one launch for each distance 2^s, 2^(s - 1), ... 1 between the keys that are compared.
-- One loop counts them all: 136 launches for 2^16 keys. Stage and pass follow from the step by the root of a triangular number.

local stage = "floor((sqrt(8 * step + 1) - 1) / 2)"
local pass_of_stage = "step - (" .. stage .. ") * (" .. stage .. " + 1) / 2"

kernel "bitonic" {
  problem "n" (65536), check { n = 512 },

  input   "given" { dtype = "i32", shape = { "n" }, values = "index * 40503 % 65521 - 30000" },
  output  "keys" { dtype = "i32", shape = { "n" } },
  scalar  "n" { dtype = "i32" },
  scalar  "stage" { dtype = "i32", value = "0" },
  scalar  "distance" { dtype = "i32", value = "0" },

  reference "bitonic_reference.cu",

  implementation "global" {
    template "bitonic.cu",
    tunable "threads" { 64, 128 },
    where "is_pow2(n)",
    launch { entry "copy", grid { "ceil_div(n, threads)" }, block { "threads" }, pass { "given", "keys", "n" } },
    launch {
      entry "${select(step % 2 == 0, 'exchange', 'exchange_too')}",
      steps "log2(n) * (log2(n) + 1) // 2",
      pass { "keys", "n", { "stage", value = stage }, { "distance", value = stage .. " - (" .. pass_of_stage .. ")" } },
      grid { "ceil_div(n, 2 * threads)" }, block { "threads" },
    },
  },
}
