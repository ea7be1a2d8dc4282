-- Every way to give test data: an expression that reads another input, a list, a file, a kernel
kernel "data" {
  problem "n" (100), check { n = 37 },
  input    "x" { dtype = "f32", shape = { "n", 2 } },
  input    "s" { dtype = "f32", shape = { "n" }, values = "x[index, 0] + 3 * sin(pi * i0 / n)" },
  constant "w" { dtype = "f32", shape = { 3 }, values = { 1, 2.5, -1 }, access = "global" },
  input    "p" { dtype = "f32", shape = { "n", 2 }, layout = "col", file = "data.npy" },
  input    "k" { dtype = "i32", shape = { "n" }, generator = "data_keys.cu" },
  scalar "n" { dtype = "i32" },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = 1e-6 },
  reference "data_reference.cu",
  implementation "plain" {
    template "data.cu",
    tunable "threads" { 32, 64 },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
}
