-- A weighted sum in two passes. It exists to use what matmul does not: constant memory, dynamic shared memory,
-- scratch, several launches with entries of their own (one of them a function template), tunables and restrictions
-- shared by implementations, a memory kind, a scalar with a value of its own, an integer dtype, a requirement.

kernel "features" {
  problem "n" (100000),
  problem "dtype"  { "f32", "f64", "i32" },
  problem "memory" { "device", "pinned", "mapped", "managed", "registered" },
  check { n = 1003 },

  tunable "blocks"  { 8, 1, 32 },
  tunable "threads" { 128, 64, 256 },
  where "blocks * threads <= n",

  input    "x"        { dtype = "dtype", shape = { "n" }, memory = "memory" },
  constant "weights"  { dtype = "dtype", shape = { "4" }, fill = "index" },
  scratch  "partials" { dtype = "dtype", shape = { "blocks" } },
  -- Below the worst case of sums rounded one after the other; integers are exact.
  output   "total"    { dtype = "dtype", shape = { "1" }, tolerance = "n * eps(dtype)" },
  scalar   "n"        { dtype = "i64" },
  scalar   "scale"    { dtype = "dtype", value = "3" },

  reference "features_reference.cu",
  flops "2 * n",
  bytes "n * sizeof(dtype)",

  implementation "tree" {
    template "features.cu",
    launch {
      entry "partial_sums",
      grid { "blocks" }, block { "threads" }, shared "threads * sizeof(dtype)",
    },
    launch { entry "final_sum<32>", grid { "1" }, block { "32" } },
  },

  -- The same through warp shuffles, for devices that have them.
  implementation "shuffle" {
    requires "device.compute_capability >= 70 or device.is_gpu == 0",
    template "features_shuffle.cu",
    launch { entry "partial_sums", grid { "blocks" }, block { "threads" } },
    launch { entry "final_sum", grid { "1" }, block { "32" } },
  },
}
