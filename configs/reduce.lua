-- One number from many: the sum, the least, the greatest, or any operator given as an expression, of a whole matrix, of
-- each of its rows or of each of its columns. Implementations: a tree in global memory, in static and in dynamic
-- shared memory, warp shuffles, vector loads in two launches, and in one, whose last block finishes.
--
-- Every variant combines in an order that depends on its parameters and the sizes alone, never on which block ends
-- first: run again, it gives the same bits.

-- A tree of the threads of a block, which exchange numbers through global or shared memory, or from register to register ("shuffle").
-- blocks: of one segment, at most. The further declarations are the implementation's own.
local function tree(name, exchange, threads, blocks, ...)
  local most = exchange == "global" and "slots // threads" or "slots"
  return implementation (name) {
    template "reduce_tree.cu",
    derive "exchange" ("'" .. exchange .. "'"),
    tunable "threads" (threads),
    tunable "blocks"  (blocks),
    derive "chain" "4096",
    derive "parts" ("max(1, min(blocks, " .. most .. ", ceil_div(length, threads)))"),
    where "threads <= device.max_threads_per_block",
    where "length <= chain * parts * threads",
    launch { entry "partial", grid { "parts", "min(segments, 65535)" }, block { "threads" } },
    launch { entry "finish", grid { 1, "min(segments, 65535)" }, block { "threads" } },
    ...
  }
end

-- Wide loads, several at once in each thread: what counts is how many bytes are on their way.
local function vector(name, one_pass, ...)
  return implementation (name) {
    template "reduce_vector.cu",
    tunable "threads" { 256, 512, 1024, 128 },
    tunable "bytes_at_once" { 16, 8, 4 },        -- of one load
    tunable "items" { 2, 4, 8, 1, 16 },          -- loads that do not wait for one another
    tunable "per_sm" { 8, 2, 4, 1, 16, 32 },     -- blocks for each multiprocessor
    tunable "loads" { "streaming", "plain" },
    derive "one_pass" (one_pass),
    derive "vec" "bytes_at_once // sizeof(dtype)",
    derive "chain" "4096 * vec",
    derive "parts"
      "max(1, min(device.sm_count * per_sm // min(segments, device.sm_count * per_sm), slots, ceil_div(length, threads * vec * items)))",
    where "axis ~= 'col'",
    where "bytes_at_once >= sizeof(dtype)",
    where "threads <= device.max_threads_per_block",
    -- Threads that a multiprocessor has no room for wait; eight rounds of them are the most that can pay.
    where "threads * per_sm <= 8 * max(device.max_threads_per_sm, 1024)",
    -- A thread's loads and sums, and some 24 for addresses and counters.
    where "items * max(bytes_at_once // 4, 1) <= 128",
    where "length <= chain * parts * threads",
    ...
  }
end

kernel "reduce" {
  problem "rows" (1),
  problem "cols" (16777216),
  problem "axis"  { "all", "row", "col" },       -- what becomes one number: everything, each row, each column
  problem "op"    { "sum", "min", "max", "largest" },
  problem "dtype" { "f32", "f64", "f16", "bf16", "i32" },
  problem "fill"  { "uniform", "ones", "index" },

  -- Rows of no round length, so that most begin where no wide load may.
  check { rows = 37, cols = 211 },

  -- Which tiles and how many blocks win changes little within a factor of two.
  policy "nearest" { distance = 1 },

  -- The operator. It has to be associative and commutative: blocks and threads take the elements by turns. To use one of
  -- your own, write it here in place of the last, and its neutral element below; `first` is the first element.
  formula "combine(a, b)"
    "select(op == 'sum', a + b, op == 'min', min(a, b), op == 'max', max(a, b), max(abs(a), abs(b)))",
  formula "identity(first)" "select(op == 'min' or op == 'max', first, 0)",

  -- One result is the reduction of a segment of `length` elements.
  derive "segments" "select(axis == 'all', 1, axis == 'row', rows, cols)",
  derive "length"   "select(axis == 'all', rows * cols, axis == 'row', cols, rows)",
  -- From one element of a segment to the next, and from one segment to the next.
  derive "step" "select(axis == 'col', cols, 1)",
  derive "next" "select(axis == 'all', 0, axis == 'row', cols, 1)",

  -- Results, and all that is added on the way, are wider than what is read: 2^31 halves of 1 are not 65504, and 2^31
  -- integers of 2^31 do not wrap round.
  derive "result" "select(dtype == 'f64', 'f64', dtype == 'i32', 'i64', 'f32')",

  -- The most results that the blocks of a segment may leave behind.
  derive "some"  "min(ceil_div(length, 64), 65536)",
  derive "slots" "select(segments <= 64, max(some, 1024), some)",

  input   "x" { dtype = "dtype", shape = { "rows", "cols" }, fill = "fill" },
  output  "y" {
    dtype = "result", shape = { "segments" },
    -- A thread adds up at most `chain` = 4096 numbers one after the other. Such a sum of numbers in [-1, 1) walks at
    -- random: after j it is sqrt(j / 3) large, and rounding it is off by eps / sqrt(12) of it at most, so that chain of
    -- them are off by eps * chain / (6 * sqrt(2)), and length / chain such sums by eps * sqrt(length * chain) / 8.5,
    -- 7.5 * eps * sqrt(length). Six times that is where one result in 1e9 lies. The rest is exact: the least and the
    -- greatest choose, and integers do not round.
    tolerance = "select(op == 'sum', 48 * eps(result) * sqrt(length), 0)",
  },
  scratch "partials" { dtype = "result", shape = { "segments", "slots" } },
  scratch "tickets"  { dtype = "u32", shape = { "segments" }, fill = "zero" },
  scalar  "rows" { dtype = "i64" },
  scalar  "cols" { dtype = "i64" },

  reference "reduce_reference.cu",
  flops "rows * cols",
  bytes "rows * cols * sizeof(dtype) + segments * sizeof(result)",

  -- One element of scratch a thread: the reduction as it is first taught.
  tree("global", "global", { 128, 256, 512 }, { 512, 128, 64, 16 }, where "threads <= slots"),
  -- Shared memory whose size is known when the kernel is compiled, and whose size the launch gives.
  tree("static", "shared", { 128, 256, 512, 1024 }, { 512, 128, 1024, 4096 },
       shared "tree" { dtype = "result", shape = { "threads" }, dynamic = "false" }),
  tree("dynamic", "shared", { 128, 256, 512, 1024 }, { 512, 128, 1024, 4096 },
       shared "tree" { dtype = "result", shape = { "threads" }, dynamic = "true" }),
  -- Warps exchange registers; shared memory has one number a warp.
  tree("shuffle", "shuffle", { 256, 128, 512, 1024 }, { 1024, 128, 512, 4096 }),

  vector("vector", "false",
         launch { entry "partial", grid { "parts", "min(segments, 65535)" }, block { "threads" } },
         launch { entry "finish", grid { 1, "min(segments, 65535)" }, block { "threads" } }),
  -- One launch: the block that is last to leave its number adds them up. On an H200 within 7 % of the best for seven whole arrays
  -- of 2^20 to 2^30.
  vector("onepass", "true", try { threads = 256, bytes_at_once = 16, items = 2, per_sm = 8 },
         grid { "parts", "min(segments, 65535)" }, block { "threads" }),

  -- Short rows: a part of a warp for each.
  implementation "rows" {
    template "reduce_rows.cu",
    -- On an H200 13 % behind the best for rows of 8192; for rows of 100 blocks of 128 threads were 4 %, of 512 20 % behind.
    try { lanes = 16, threads = 256 },
    tunable "lanes" { 32, 16, 8, 4 },
    tunable "threads" { 256, 128, 512 },
    tunable "bytes_at_once" { 16, 8, 4 },
    derive "vec" "bytes_at_once // sizeof(dtype)",
    where "axis == 'row'",
    where "bytes_at_once >= sizeof(dtype)",
    where "length <= 4096 * lanes * vec",
    where "ceil_div(segments, threads // lanes) <= 2147483647",
    grid { "ceil_div(segments, threads // lanes)" },
    block { "threads" },
  },

  -- Columns: threads stand side by side along a row and walk down.
  implementation "columns" {
    template "reduce_columns.cu",
    try { wide = 32, high = 8, bytes_at_once = 16, items = 8, per_sm = 4 }, -- the best of 110 on an H200, at 8192 x 8192
    tunable "wide" { 32, 16, 64, 128 },          -- threads along a row
    tunable "high" { 8, 4, 16, 2 },              -- rows of threads
    tunable "bytes_at_once" { 16, 8, 4 },
    tunable "items" { 8, 4, 1 },
    tunable "per_sm" { 8, 4, 2, 16 },
    derive "vec" "bytes_at_once // sizeof(dtype)",
    derive "groups" "ceil_div(cols, wide * vec)",
    derive "parts"
      "max(1, min(device.sm_count * per_sm // min(groups, device.sm_count * per_sm), slots, ceil_div(rows, high * items), 65535))",
    where "axis == 'col'",
    where "bytes_at_once >= sizeof(dtype)",
    where "wide * high >= 64 and wide * high <= 1024",
    where "high * wide * vec * sizeof(result) <= device.shared_per_block",
    where "length <= 4096 * parts * high",
    grid { "groups", "parts" },
    block { "wide", "high" },
  },
}
