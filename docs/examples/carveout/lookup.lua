-- Sums of words of a table that L1 holds or does not hold, by how L1 and shared memory share their memory. No shared memory is used.
kernel "lookup" {
  problem "n" (4194304), problem "words" (32768), -- a power of two: 128 KiB
  check { n = 1003, words = 1024 },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "64 * eps('f32')" }, input "table" { dtype = "f32", shape = { "words" } },
  scalar "n" { dtype = "i32" }, scalar "words" { dtype = "i32" },
  reference "lookup_reference.cu",
  bytes "(n + words) * sizeof('f32')", flops "64 * n",
  implementation "sums" { template "lookup.cu", tunable "carveout_percent" { -1, 0, 50, 100 }, -- -1: the driver decides
    grid { "ceil_div(n, 256)" }, block { 256 }, carveout "carveout_percent" },
}
