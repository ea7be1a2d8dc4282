-- Sums of the chunks of x, which lies in each kind of memory in turn: the device's own, pinned, mapped (zero-copy) or
-- managed. The kind is a tunable, so that the table of `cugen tune reader` shows what it costs a kernel to reach for the
-- host's memory: little for little data, a crossing of the bus for every pass over much. What the other side of the
-- bargain costs, moving the data first, `cugen transfer` measures.

kernel "reader" {
  problem "n" (1 << 26),                         -- elements of x
  problem "passes" (1),                          -- how often each is read: streamed once, or used again and again
  problem "chunk" (4096),                        -- elements that a block sums at a time
  problem "dtype" { "f32", "f64" },

  -- The last chunk is not full, and its sums go round more than once.
  check { n = 30011, passes = 3 },
  policy "nearest" { distance = 1 },

  -- Managed memory moves to the device when it is first touched and is then the device's own; the rest stays.
  tunable "memory_kind" { "device", "managed", "pinned", "mapped" },

  where "passes >= 1",
  where "chunk >= 1",
  derive "chunks" "ceil_div(n, chunk)",
  derive "shift"  "max(chunks // passes, 1)",    -- a block's next pass reads a chunk that no cache holds any more

  input  "x"    { dtype = "dtype", shape = { "n" }, memory = "memory_kind" },
  -- Below the worst case of sums rounded one after the other.
  output "sums" { dtype = "dtype", shape = { "chunks" }, tolerance = "passes * chunk * eps(dtype)" },
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
