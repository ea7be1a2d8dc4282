-- What no device launches, or not this one, beside what it does: for the rules that a space has of its own.

kernel "limits" {
  problem "n" (100000),
  check { n = 200 },

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "2 * eps('f32')" },
  scalar "n" { dtype = "index" },

  reference "planted_reference.cu",

  implementation "flat" {
    template "planted.cu",
    tunable "fault" { "none" },
    tunable "threads" { 32, 64, 512, 2048 },
    tunable "rows" { 1, 4, 128 },
    where "threads * rows <= 8192",
    grid { "ceil_div(n, threads)", "rows" }, block { "threads", "1", "rows" },
    shared "rows * 1000",
  },
  implementation "plain" {
    template "planted.cu",
    tunable "fault" { "none" },
    tunable "threads" { 64, 128 },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
}
