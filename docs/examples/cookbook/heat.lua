kernel "heat" {
  problem "n" (2048), problem "rounds" (8), check { n = 70, rounds = 5 },
  output "result" { dtype = "f32", shape = { "n", "n" }, tolerance = "16 * eps('f32')" },
  input "first" { dtype = "f32", shape = { "n", "n" } },
  scratch "ping" { dtype = "f32", shape = { "n", "n" } },
  scratch "pong" { dtype = "f32", shape = { "n", "n" } },
  scalar "n" { dtype = "i32" }, scalar "now" { dtype = "i32", value = "rounds" },
  reference "heat_reference.cu", flops "6 * n * n * rounds", bytes "2 * n * n * sizeof('f32')",
  implementation "blocked" {
    template "heat.cu",
    tunable "depth" { 2, 1, 4 },                            -- rounds in one launch
    tunable "tile" { 32, 16, 64 }, tunable "threads" { 256, 128 },
    derive "side" "tile + 2 * depth",
    where "2 * side * side * sizeof('f32') <= 48 * 1024",
    steps "ceil_div(rounds, depth)",
    pass { "step == 0 and 'first' or step % 2 == 1 and 'ping' or 'pong'",
           "step == steps - 1 and 'result' or step % 2 == 0 and 'ping' or 'pong'",
           "n", { "now", value = "min(depth, rounds - step * depth)" } },
    grid { "ceil_div(n, tile)", "ceil_div(n, tile)" }, block { "threads" },
  },
}
