-- How fast device memory is: a plain copy, 16 bytes at a time. Its best variant is the ceiling for kernels that are
-- bound by memory, and 'cugen roofline' measures it.

kernel "peak_copy" {
  problem "n" (1 << 27),                         -- elements: 512 MiB read, 512 MiB written, many times any cache
  check { n = 32768 },

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = 0 },

  reference "peak_copy_reference.cu",
  bytes "2 * n * sizeof('f32')",

  implementation "vectorised" {
    template "peak_copy.cu",
    tunable "threads" { 256, 512, 1024 },
    tunable "loads" { 4, 2, 1, 8 },              -- of 16 bytes each, in flight before the first store
    where "n % (4 * threads * loads) == 0",
    grid  { "n // (4 * threads * loads)" },
    block { "threads" },
  },
}
