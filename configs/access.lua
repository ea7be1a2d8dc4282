-- What access patterns cost: a copy of n elements whose loads and stores can be misaligned (an offset), strided, scattered,
-- all from one word, or few at a time. Only useful bytes are counted, so that the rate falls as the sectors that a warp's
-- request takes grow. `cugen run` measures it, `cugen check` counts it, without a GPU:
--
--                                        sectors  used   lines  used     of a load, f32
--   cugen check access                      4     100 %    1    100 %
--     ... --set load_offset=1               5      80 %    2     50 %    1.25 times the fewest sectors
--     ... --set load_stride=2               8      50 %    2     50 %
--     ... --set load_stride=8              32    12.5 %    8   12.5 %    a sector for each element
--     ... --set load_stride=32             32    12.5 %   32    3.1 %    a line for each element
--     ... --set broadcast=true              1    12.5 %    1    3.1 %    all lanes on one word
--                                                                        of a store
--     ... --set active_lanes=8              1     100 %    1     25 %    one segment; 16 lanes: two; 32: four
--
-- Memory moves in sectors (segments) of 32 bytes. A line of 128 bytes is four of them under one tag of the cache: a request is
-- looked up line by line, but fetches only the sectors that it touches. GPUs whose L1 fetched whole lines (compute capability 2.x)
-- used 4 of 128 bytes, 3.1 %, where only one word of a line was wanted; since then it is 4 of 32, 12.5 %.

kernel "access" {
  problem "n" (33554432),                        -- elements
  problem "dtype" { "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" },
  problem "load_offset"  (0),                    -- elements before the first one that is read
  problem "load_stride"  (1),                    -- elements from one to the next
  problem "store_offset" (0),                    -- elements before y's first one, which become zero
  problem "store_stride" (1),
  problem "scattered" { false, true },           -- loads without neighbours; n is a power of two
  problem "broadcast" { false, true },           -- all lanes of a warp load one word, the first of theirs
  problem "active_lanes" { 32, 16, 8, 4 },       -- of each warp, the lowest ones; the others neither load nor store

  check { n = 16384 },

  derive "multiplier" "2654435761",              -- odd: 2^32 divided by the golden ratio (Knuth, volume 3, 6.4)

  where "load_offset >= 0 and store_offset >= 0",
  where "not scattered or is_pow2(n)",
  where "not (scattered and broadcast)",

  -- A row of one element, so that the stride is a pitch.
  input  "x" { dtype = "dtype", shape = { "n + load_offset", 1 }, pitch = "load_stride" },
  output "y" { dtype = "dtype", shape = { "n + store_offset", 1 }, pitch = "store_stride" },
  scalar "n" {},
  scalar "load_offset" {},
  scalar "load_stride" {},
  scalar "store_stride" {},

  reference "access_reference.cu",
  bytes "select(broadcast, n + ceil_div(n, active_lanes), 2 * n) * sizeof(dtype)", -- what is asked for, not what moves

  implementation "elements" {
    template "access.cu",
    tunable "threads" { 256, 128, 512, 1024 },
    tunable "loads"   { 1, 4, 8 },               -- loads of a thread before its first store
    tunable "load_through" { "l1", "l2", "read_only", "streaming" },
    tunable "store_as"     { "plain", "streaming" },
    grid  { "ceil_div(n, threads // 32 * active_lanes * loads)" },
    block { "threads" },
  },
}
