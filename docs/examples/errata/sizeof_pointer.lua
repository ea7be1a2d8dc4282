kernel "sizeof_pointer" {
  problem "n" (1000000), check { n = 1003 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } }, scalar "n" { dtype = "i32" },
  reference "sizeof_pointer_reference.cu",
  implementation "copy" { template "sizeof_pointer.cu", tunable "right" { false, true },
    grid { 4 }, block { 128 } },
}
