kernel "launch" {
  problem "n" (1000000), check { n = 1003 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } }, scalar "n" { dtype = "i32" },
  reference "none",
  implementation "twice" { template "launch.cu", tunable "threads" { 2048, 1024 },
    grid { "ceil_div(n, threads)" }, block { "threads" } },
}
