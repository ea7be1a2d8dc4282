-- How many bytes of a text belong to each class. The counters are a __device__ variable, the table from byte to class is a
-- __constant__ one: neither is a parameter of the kernel.
kernel "classes" {
  problem "n" (1000000), check { n = 5003 },
  input "text" { dtype = "u8", shape = { "n" }, values = "(index * 7919 + index // 31) % 256" },
  constant "class_of" { dtype = "u8", shape = { 256 }, values = "index * index // 3 % 8" },
  inout "counts" { dtype = "u32", shape = { 8 }, fill = "index", access = "symbol" },
  scalar "n" { dtype = "i32" },
  reference "classes_reference.cu",
  bytes "n",
  implementation "atomic" {
    template "classes.cu",
    tunable "BLOCK" { 256, 128 },
    tunable "PER_THREAD" { 8, 1 },
    grid { "ceil_div(n, BLOCK * PER_THREAD)" }, block { "BLOCK" },
  },
}
