-- Sums of the chunks of x, which lies in each kind of memory in turn: the device's own, pinned, mapped (zero-copy),
-- registered (from malloc, page-locked afterwards) or managed. The kind is a tunable, so that the table of `cugen tune
-- reader` shows what it costs a kernel to reach for the host's memory: little for little data, a crossing of the bus for
-- every pass over much. `cugen transfer` measures the alternative: what it costs to move the data to the device first.

kernel "reader" {
  problem "n" (1 << 26),                         -- elements of x
  problem "passes" (1),                          -- how often each is read: streamed once, or used again and again
  problem "chunk" (4096),                        -- elements that a block sums at a time
  problem "dtype" { "f32", "f64" },

  -- The last chunk is not full, and its sums go round more than once.
  check { n = 30011, passes = 3 },
  policy "nearest" { distance = 1 },

  -- Managed memory moves to the device when it is first touched and is then the device's own; the rest stays.
  tunable "memory_kind" { "device", "managed", "pinned", "mapped", "registered" },

  where "passes >= 1",
  where "chunk >= 1",
  derive "chunks" "ceil_div(n, chunk)",
  derive "shift"  "max(chunks // passes, 1)",    -- a block's next pass reads a chunk that no cache holds any more

  input  "x"    { dtype = "dtype", shape = { "n" }, memory = "memory_kind" },
  -- A sum of the `terms` numbers of [-1, 1) walks at random: it is sqrt(terms / 3) large, `repeats` times that where the
  -- same chunk comes again, and rounding it is off by eps / sqrt(12) of it at most. A thread adds up at most
  -- terms / 128 + 4 * passes of them one after the other, which is why the error grows faster than in `reduce`, whose
  -- threads add up 4096 at most: by eps * repeats * sqrt(terms * (terms / 128 + 4 * passes) / 72) in all, and what the
  -- threads hold goes through twelve additions at most, eps * repeats * sqrt(terms / 3). Six times both is where one
  -- result in 1e9 lies.
  --
  -- A result may be off by `tolerance` of its own size, so that of large sums it forgives too much. The norm of all errors,
  -- against that of all sums, sqrt(terms * repeats / 3) each, does not; there 24 times is allowed, since the sums of a few chunks
  -- may all be small. It finds one number that every chunk lacks up to some 10^7 numbers a chunk of f32.
  derive "terms"   "passes * chunk",
  derive "repeats" "ceil_div(passes, chunks)",
  output "sums" {
    dtype = "dtype", shape = { "chunks" },
    tolerance = "eps(dtype) * repeats * sqrt(terms * (12 + 2 * passes + 1.0 * terms / 256))",
    norm = "select(chunks >= 4, eps(dtype) * sqrt(repeats * (576 + 96 * passes + 3.0 * terms / 16)), 1)",
  },
  scalar "n" {},
  scalar "passes" {},

  reference "reader_reference.cu",
  bytes "n * sizeof(dtype)",                     -- however often they are read

  implementation "stream" {
    template "reader.cu",
    tunable "threads" { 256, 128 },
    tunable "vec"     { 4, 2, 1 },               -- elements in one load
    tunable "loads"   { 4, 1 },                  -- that are on their way before the first is used
    where "vec * sizeof(dtype) <= 16",
    where "chunk % vec == 0",
    where "chunks <= 2147483647",
    grid  { "chunks" },
    block { "threads" },
  },
}
