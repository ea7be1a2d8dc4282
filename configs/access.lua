-- What access patterns cost: a copy of n elements whose loads and stores can be misaligned (an offset), strided or
-- scattered. Only useful bytes are counted, so that the rate falls as the sectors that a warp's request takes grow.
--   cugen run access --set load_offset=1      five sectors a request instead of four
--   cugen run access --set load_stride=8      a sector for each element
--   cugen run access --set scattered=true

kernel "access" {
  problem "n" (33554432),                        -- elements
  problem "dtype" { "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" },
  problem "load_offset"  (0),                    -- elements before the first one that is read
  problem "load_stride"  (1),                    -- elements from one to the next
  problem "store_offset" (0),                    -- elements before y's first one, which become zero
  problem "store_stride" (1),
  problem "scattered" { false, true },           -- loads without neighbours; n is a power of two

  check { n = 16384 },

  derive "multiplier" "2654435761",              -- odd: 2^32 divided by the golden ratio (Knuth, volume 3, 6.4)

  where "load_offset >= 0 and store_offset >= 0",
  where "not scattered or is_pow2(n)",

  -- A row of one element, so that the stride is a pitch.
  input  "x" { dtype = "dtype", shape = { "n + load_offset", 1 }, pitch = "load_stride" },
  output "y" { dtype = "dtype", shape = { "n + store_offset", 1 }, pitch = "store_stride" },
  scalar "n" {},
  scalar "load_offset" {},
  scalar "load_stride" {},
  scalar "store_stride" {},

  reference "access_reference.cu",
  bytes "2 * n * sizeof(dtype)",                 -- what is asked for, not what moves

  implementation "elements" {
    template "access.cu",
    tunable "threads" { 256, 128, 512, 1024 },
    tunable "loads"   { 1, 4, 8 },               -- of a thread before its first store
    tunable "load_through" { "l1", "l2", "read_only", "streaming" },
    tunable "store_as"     { "plain", "streaming" },
    grid  { "ceil_div(n, threads * loads)" },
    block { "threads" },
  },
}
