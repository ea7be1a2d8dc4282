-- A time loop over three kernels: PolyBench's FDTD-2D, tmax times. The wave that comes in depends on the time, so the first kernel is
-- told it; the other two pass the same in each round.

kernel "fdtd" {
  problem "nx" (96), problem "ny" (80), problem "tmax" (40), check { nx = 21, ny = 19, tmax = 7 },

  output  "ex" { dtype = "f32", shape = { "nx", "ny" }, tolerance = 1e-4 },
  output  "ey" { dtype = "f32", shape = { "nx", "ny" }, tolerance = 1e-4 },
  output  "hz" { dtype = "f32", shape = { "nx", "ny" }, tolerance = 1e-4 },
  scalar  "nx" { dtype = "i32" },
  scalar  "ny" { dtype = "i32" },
  scalar  "t" { dtype = "i32", value = "0" },
  scalar  "tmax" { dtype = "i32" },

  reference "fdtd_reference.cu",
  flops "11 * nx * ny * tmax",

  implementation "time_loop" {
    template "fdtd.cu",
    tunable "threads" { 32, 64 },
    derive "blocks" "ceil_div(nx * ny, threads)",
    launch { entry "begin", grid { "blocks" }, block { "threads" }, pass { "ex", "ey", "hz", "nx", "ny" } },
    loop {
      steps "tmax",
      launch { entry "step_ey", grid { "blocks" }, block { "threads" }, pass { "ey", "hz", "nx", "ny", { "t", value = "step" } } },
      launch { entry "step_ex", grid { "blocks" }, block { "threads" }, pass { "ex", "hz", "nx", "ny" } },
      launch { entry "step_hz", grid { "blocks" }, block { "threads" }, pass { "ex", "ey", "hz", "nx", "ny" } },
    },
  },

  -- A round that takes the fields in the wrong order.
  implementation "wrong" {
    template "fdtd.cu",
    tunable "threads" { 32 },
    derive "blocks" "ceil_div(nx * ny, threads)",
    launch { entry "begin", grid { "blocks" }, block { "threads" }, pass { "ex", "ey", "hz", "nx", "ny" } },
    loop {
      steps "tmax",
      launch { entry "step_hz", grid { "blocks" }, block { "threads" }, pass { "ex", "ey", "hz", "nx", "ny" } },
      launch { entry "step_ey", grid { "blocks" }, block { "threads" }, pass { "ey", "hz", "nx", "ny", { "t", value = "step" } } },
      launch { entry "step_ex", grid { "blocks" }, block { "threads" }, pass { "ex", "hz", "nx", "ny" } },
    },
  },
}
