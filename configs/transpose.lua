-- B = A transposed, for each of a batch of matrices: as many bytes as a copy, but rows become columns, so that either loads or
-- stores run against memory unless a tile is turned over on the chip. The implementations go from one element a thread to
-- 16-byte accesses both ways.

-- One element a thread. columns_along: the thread index that runs along A's columns; see lesson "index arithmetic" in the template.
-- reads: how A is loaded. With `const` and __restrict__ ("restrict") the compiler chooses ld.global.nc itself. Without __restrict__ it
-- must take A and B for one and the same buffer, so that a load stays a plain one, ld.global, unless the source says __ldg.
local function naive(name, columns_along, reads, block_x, block_y)
  local parts = {
    template "transpose_naive.cu",
    tunable "columns_along" (columns_along),
    derive "reads" ("'" .. reads .. "'"),
    tunable "block_x" (block_x),
    tunable "block_y" (block_y),
    where "block_x * block_y >= 128",
    where "block_x * block_y <= device.max_threads_per_block",
    grid  { "batch * ceil_div(rows, select(columns_along == 'x', block_y, block_x))"
            .. " * ceil_div(cols, select(columns_along == 'x', block_x, block_y))" },
    block { "block_x", "block_y" },
  }
  if reads ~= "restrict" then parts[#parts + 1] = pass { "A", "B", "rows", "cols", "batch" } end
  return implementation (name) (parts)
end

-- The implementations through shared memory differ in what is done about bank conflicts.
local function tiled(name, bank, pads, layout)
  return implementation (name) {
    template "transpose_tiled.cu",
    tunable "bank" { bank },
    tunable "pad"  (pads),                       -- elements added to a row of the tile
    tunable "tile" { 32, 64 },
    tunable "rows_per_thread" { 4, 8, 1 },       -- elements that a thread moves; 1: a block of tile x tile threads
    tunable "down_first" { false },
    derive "threads_y" "tile // rows_per_thread",
    where "tile * threads_y <= device.max_threads_per_block",
    shared "part" { dtype = "dtype", shape = { "tile", "tile" }, layout = layout },
    grid  { "batch * ceil_div(rows, tile) * ceil_div(cols, tile)" },
    block { "tile", "threads_y" },
  }
end

kernel "transpose" {
  problem "rows"  (8192),                        -- of A
  problem "cols"  (8192),
  problem "batch" (1),                           -- matrices
  problem "dtype"   { "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" },
  problem "pitched" { false, true },             -- rows rounded up to what the driver's pitched allocation gives
  problem "pitch_a" (0),                         -- elements from one row of A to the next; 0: by `pitched`
  problem "pitch_b" (0),

  -- Ragged in every tile, and with tiles that lie inside; rows are aligned for packs of four, columns are not.
  check { rows = 268, cols = 391, batch = 2 },

  policy "nearest" { distance = 1 },

  derive "alignment" "device.pitch_alignment // sizeof(dtype)",
  derive "a_step" "select(pitch_a ~= 0, pitch_a, pitched, round_up(cols, alignment), cols)",
  derive "b_step" "select(pitch_b ~= 0, pitch_b, pitched, round_up(rows, alignment), rows)",

  input  "A" { dtype = "dtype", shape = { "batch", "rows", "cols" }, pitch = "a_step" },
  output "B" { dtype = "dtype", shape = { "batch", "cols", "rows" }, pitch = "b_step" },
  scalar "rows" {},
  scalar "cols" {},
  scalar "batch" {},

  reference "transpose_reference.cu",
  bytes "2 * batch * rows * cols * sizeof(dtype)", -- read and written

  naive("coalesced_read", { "x" }, "restrict", { 32, 16 }, { 8, 32 }),
  naive("coalesced_write", { "y" }, "restrict", { 32, 16 }, { 8, 32 }),
  naive("coalesced_read_plain", { "x" }, "plain", { 32 }, { 32, 8 }),
  naive("coalesced_read_ldg", { "x" }, "ldg", { 32 }, { 32, 8 }),
  naive("coalesced_write_plain", { "y" }, "plain", { 32 }, { 32, 8 }),
  naive("coalesced_write_ldg", { "y" }, "ldg", { 32 }, { 32, 8 }),
  -- Either order, as a tunable, in blocks that the implementations above have not. Where x runs along A's columns, 32 threads wide, a
  -- warp loads one stretch of a row and stores to 32 rows; where y does, the reverse. Blocks of 8 are a warp of 8 x 4 threads: four
  -- stretches on one side, eight on the other, so that the order matters less.
  naive("naive", { "x", "y" }, "restrict", { 32, 8 }, { 16, 4 }),
  tiled("conflicts", "plain", { 0 }, "row"),
  tiled("padded", "plain", { 1 }, "row+${pad}"),
  tiled("swizzled", "xor", { 0 }, "row^${log2(tile)},0,${log2(tile)}"),

  -- Blocks of packs turned over in registers, with no shared memory between.
  implementation "registers" {
    template "transpose_registers.cu",
    tunable "access"       { 16, 8, 4 },         -- bytes in one load or store
    tunable "lanes_across" { 8, 4, 16 },         -- blocks of a warp side by side
    tunable "warps_across" { 2, 1, 4 },
    tunable "warps_down"   { 8, 4, 2 },
    tunable "down_first"   { true, false },
    tunable "load_through" { "l1", "streaming" },
    tunable "store_as"     { "plain", "streaming" },
    where "(load_through == 'streaming') == (store_as == 'streaming')",
    where "access >= sizeof(dtype)",
    derive "vec"   "access // sizeof(dtype)",
    derive "words" "access // 4",
    derive "lanes_down" "32 // lanes_across",
    derive "threads" "32 * warps_across * warps_down",
    derive "tile_rows" "vec * lanes_down * warps_down",
    derive "tile_cols" "vec * lanes_across * warps_across",
    where "threads >= 64 and threads <= 512",

    -- An H200 does not need other shapes of a warp, small blocks, nor variety in narrow accesses, which are for rows that wide
    -- ones do not fit. Without them a short budget reaches the rest.
    heuristic "sm_90" "lanes_across == 8 and threads >= 128",
    heuristic "sm_90" "access == 16 or warps_across == 2 and warps_down == 8 and down_first and load_through == 'l1'",
    grid  { "batch * ceil_div(rows, tile_rows) * ceil_div(cols, tile_cols)" },
    block { "threads" },
  },

  -- The same through shared memory, so that whole rows of a tile are read and written.
  implementation "vector" {
    template "transpose_vector.cu",
    -- On an H200 within 2 % of the best from 4096 on, 12 % behind it at 1024; twice its time at 2047 x 4100.
    try { tile_rows = 64, tile_cols = 64, blocks = 4 },
    tunable "access"    { 16, 8, 4 },            -- bytes in one load or store
    tunable "tile_rows" { 64, 128, 32, 256, 16 },
    tunable "tile_cols" { 64, 128, 32, 256, 16 },
    tunable "blocks"    { 1, 2, 4 },             -- of vec x vec elements, for each thread
    tunable "bank"      { "xor", "pad", "plain" },
    tunable "down_first" { true, false },        -- the order of tiles: B written, or A read, from end to end
    tunable "carveout_percent" { -1, 50 },       -- less shared memory: more L1, fewer blocks at a time
    derive "load_through" "'l1'",
    derive "store_as" "'plain'",
    where "access >= sizeof(dtype)",
    derive "tile_bytes" "tile_rows * tile_cols * sizeof(dtype)",
    -- Rows of a tile are 128 to 1024 bytes long.
    where "tile_rows * sizeof(dtype) >= 128 and tile_rows * sizeof(dtype) <= 1024",
    where "tile_cols * sizeof(dtype) >= 128 and tile_cols * sizeof(dtype) <= 1024",
    where "tile_bytes <= 65536",
    derive "vec"   "access // sizeof(dtype)",
    derive "words" "access // 4",
    where "tile_rows % vec == 0 and tile_cols % vec == 0",
    where "(tile_rows // vec) * (tile_cols // vec) % (32 * blocks) == 0",
    derive "threads" "(tile_rows // vec) * (tile_cols // vec) // blocks",
    where "threads >= 64 and threads <= 1024",
    -- Packs of the blocks, and their turned copies.
    where "blocks * vec * words <= 64",
    -- The tile as B has it. The stores of a warp go to lines that are vec apart, at one place in each, which would be the same
    -- banks: packs are exchanged by the number of the group of vec lines, or one is left free behind each group.
    derive "swizzle_period" "min(128 // access, tile_rows // vec)",
    shared "part" {
      dtype = "dtype", shape = { "tile_cols", "tile_rows" },
      layout = "select(bank == 'xor', 'row^${log2(swizzle_period)},${log2(vec)},${log2(tile_rows)}', \
                       bank == 'pad', 'row/${vec}x${tile_rows}+${vec}', 'row')",
    },

    -- An H200 does not need variety in narrow accesses, in other ways with bank conflicts, or in long rows read in order.
    derive "usual" "tile_rows == tile_cols and down_first and carveout_percent == -1",
    heuristic "sm_90" "access == 16 or usual",
    heuristic "sm_90" "bank == 'xor' or usual",
    heuristic "sm_90" "carveout_percent == -1 or down_first and tile_rows == tile_cols",
    heuristic "sm_90" "down_first or max(tile_rows, tile_cols) * sizeof(dtype) <= 512",
    grid   { "batch * ceil_div(rows, tile_rows) * ceil_div(cols, tile_cols)" },
    block  { "threads" },
    carveout "carveout_percent",
  },
}
