-- A struct by value with every kind of gap in it
kernel "struct" {
  problem "n" (1000), check { n = 37 },
  scalar "p" { struct = "Params", fields = {
    { "k", dtype = "i8", value = -3 }, { "scale", dtype = "f64", value = "n / 2.0" }, { "dt", dtype = "f32", value = "0.1" },
    { "step", dtype = "u16", value = 7 }, { "n", dtype = "i32" }, { "last", dtype = "u8", value = 255 },
  } },
  input "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = 1e-6 },
  reference "struct_reference.cu",
  implementation "plain" { template "struct.cu", tunable "threads" { 32, 64 }, grid { "ceil_div(n, threads)" }, block { "threads" } },
}
