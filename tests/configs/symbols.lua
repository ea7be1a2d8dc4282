-- An input, an output and an inout that lie in __device__ symbols or in the caller's buffers; `forgets` leaves the last element of
-- the output unwritten.
kernel "symbols" {
  problem "n" (64),
  tunable "lie_in" { "symbol", "global" },
  input  "x" { dtype = "f32", shape = { "n" }, access = "lie_in" },
  output "y" { dtype = "f32", shape = { "n" }, access = "lie_in" },
  inout  "z" { dtype = "i32", shape = { "n" }, access = "lie_in" },
  scalar "n" { specialize = true },
  reference "symbols_reference.cu",
  implementation "right" { template "symbols.cu", tunable "last" { 0 }, grid { 1 }, block { "n" } },
  implementation "forgets" { template "symbols.cu", tunable "last" { 1 }, grid { 1 }, block { "n" } },
}
