kernel "zeros" {
  problem "n" (1000000), check { n = 1003 },
  output "counts" { dtype = "i32", shape = { 16 } }, input "keys" { dtype = "i32", shape = { "n" }, values = "index % 16" },
  scalar "n" { dtype = "i32" },
  reference "zeros_reference.cu",
  implementation "histogram" { template "zeros.cu", tunable "right" { false, true }, grid { 1 }, block { 256 } },
}
