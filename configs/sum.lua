-- The sum of an array as reductions are first taught: one element a thread, blocks of 128. A block adds up its part in a tree, with a
-- barrier in its loop, and leaves one number; the same kernel then adds up these numbers, until one is left. 10^8 elements
-- take launches of 781,250, 6,104, 48 and 1 blocks. `reduce` is what becomes of it when each thread first adds up many elements.

-- dynamic: its shared memory has a size that the launch gives. The first launch adds up x, and each further one the numbers that the
-- launch before it has left, to and fro between two buffers of scratch.
local function tree(name, file, dynamic)
  return implementation (name) {
    template (file),
    tunable "threads" { 128, 256, 512, 1024, 64 }, -- of a block; as many elements
    shared "tree" { dtype = "dtype", shape = { "threads" }, dynamic = dynamic },
    derive "launches" "max(1, ceil_log(n, threads))",
    where "threads <= device.max_threads_per_block",
    entry "sum",
    steps "launches",
    pass {
      "select(step == 0, 'x', step % 2 == 1, 'ping', 'pong')",
      "select(step == launches - 1, 'result', step % 2 == 0, 'ping', 'pong')",
      { "n", value = "ceil_div(n, pow(threads, step))" },
    },
    grid   { "ceil_div(n, pow(threads, step + 1))" },
    block  { "threads" },
  }
end

kernel "sum" {
  problem "n" (100000000),
  problem "dtype" { "f32", "f64", "i32" },

  -- Two launches and three, the last block of each partly filled.
  check { n = 20011 },

  policy "nearest" { distance = 1 },

  -- The tree in global memory overwrites its input.
  input   "x" { dtype = "dtype", shape = { "n" }, overwrite = true },
  output  "result" {
    dtype = "dtype", shape = { 1 },
    -- A sum of k numbers in [-1, 1) is sqrt(k / 3) large, and rounding it is off by eps / sqrt(12) of it at most. So the n / k sums of
    -- a level are off by eps * sqrt(n) / 6, those of all levels by eps * sqrt(n * levels) / 6. Six times that is where one result
    -- in 1e9 lies.
    tolerance = "select(dtype == 'i32', 0, eps(dtype) * sqrt(n * (1 + ceil_log(n, 2))))",
  },
  scratch "ping" { dtype = "dtype", shape = { "ceil_div(n, 64)" } },
  scratch "pong" { dtype = "dtype", shape = { "ceil_div(n, 64 * 64)" } },
  scalar  "n"    {},

  reference "sum_reference.cu",
  flops "n",
  bytes "n * sizeof(dtype) + sizeof(dtype)",     -- x is read once; the tree's further traffic is its cost

  tree("global", "sum_global.cu", "false"),      -- in global memory
  tree("static", "sum_shared.cu", "false"),      -- in shared memory of a size that the compiler knows
  tree("dynamic", "sum_shared.cu", "true"),
}
