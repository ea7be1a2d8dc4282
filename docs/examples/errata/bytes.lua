kernel "bytes" {
  problem "n" (1000000), check { n = 1003 },
  tunable "right" { false, true },
  output  "y"    { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } },
  scratch "halves" { dtype = "u8", shape = { "select(right, n * sizeof('f32'), n)" } },   -- cudaMalloc((void **)&halves, n)
  scalar  "n"    { dtype = "i32" },
  reference "none",
  implementation "two_steps" { template "bytes.cu", grid { "ceil_div(n, 128)" }, block { 128 } },
}
