-- Implementations that fail, each in its own way, beside two that are right: what a tuner must record as failed,
-- with the reason, before it goes on. The kernel is y[i] = 2 * x[i] + 1.

kernel "planted" {
  problem "n" (1000),
  check { n = 100 },

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "2 * eps('f32')" },
  scalar "n" { dtype = "index" },

  reference "planted_reference.cu",
  bytes "2 * n * sizeof('f32')",

  tunable "threads" { 64 },

  implementation "right" {
    template "planted.cu",
    tunable "fault" { "none" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "wrong_last" { -- one element of n is wrong
    template "planted.cu",
    tunable "fault" { "wrong_last" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "nan" { -- one element is not a number
    template "planted.cu",
    tunable "fault" { "nan" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "unwritten" { -- one element keeps what was there
    template "planted.cu",
    tunable "fault" { "unwritten" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "past_the_end" { -- right, but for one element written behind y
    template "planted.cu",
    tunable "fault" { "past_the_end" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "far_outside" { -- writes where no buffer is
    template "planted.cu",
    tunable "fault" { "far_outside" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "trap" {
    template "planted.cu",
    tunable "fault" { "trap" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "endless" {
    template "planted.cu",
    tunable "fault" { "endless" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "odd_grid" { -- no whole number of blocks
    template "planted.cu",
    tunable "fault" { "none" },
    grid { "n / 3" }, block { "threads" },
  },
  implementation "does_not_compile" {
    template "planted.cu",
    tunable "fault" { "does_not_compile" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  implementation "writes_input" { -- right, but x is not what it was afterwards
    template "planted.cu",
    tunable "fault" { "writes_input" },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
  -- Last, so that a tuner that stops at a failure does not see it.
  implementation "right_again" {
    template "planted.cu",
    tunable "fault" { "none" },
    tunable "again" { 1, 2 },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
}
