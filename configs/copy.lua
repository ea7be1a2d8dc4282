-- y = x: how fast memory can be read and written. Everything is one line of width * height * depth elements, or rows with
-- a pitch. One element for each thread; a tile for each block; packs of bytes with several loads in flight; bulk copies
-- through shared memory.

kernel "copy" {
  problem "width"  (67108864),                   -- elements in a row
  problem "height" (1),                          -- rows in a slice
  problem "depth"  (1),                          -- slices
  problem "dtype"   { "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" },
  problem "pitched" { false, true },             -- rows rounded up to what the driver's pitched allocation gives
  problem "pitch_x" (0),                         -- elements from one row of x to the next; 0: by `pitched`
  problem "pitch_y" (0),

  -- Odd rows; many chunks of the largest size, and the last one ragged.
  check { width = 30011, height = 5, depth = 2 },

  policy "nearest" { distance = 2 },

  derive "rows"    "height * depth",
  derive "packed"  "not pitched and pitch_x == 0 and pitch_y == 0",
  derive "aligned_width" "select(pitched, round_up(width, device.pitch_alignment // sizeof(dtype)), width)",
  derive "x_step"  "select(pitch_x ~= 0, pitch_x, aligned_width)",
  derive "y_step"  "select(pitch_y ~= 0, pitch_y, aligned_width)",

  input  "x" { dtype = "dtype", shape = { "depth", "height", "width" }, pitch = "x_step" },
  output "y" { dtype = "dtype", shape = { "depth", "height", "width" }, pitch = "y_step" },
  scalar "width" {},
  scalar "height" {},
  scalar "depth" {},

  reference "copy_reference.cu",
  bytes "2 * width * rows * sizeof(dtype)",      -- read and written

  implementation "element" {
    template "copy_element.cu",
    tunable "threads" { 256, 128, 512, 1024 },
    grid  { "ceil_div(width * rows, threads)" },
    block { "threads" },
  },

  -- The tiles of transpose.lua: the time that a transpose takes beyond this copy is the cost of turning tiles over.
  implementation "tile" {
    template "copy_tile.cu",
    tunable "tile" { 32, 64 },
    tunable "rows_per_thread" { 4, 8, 1 },       -- 32 x 8, 32 x 4 or 32 x 32 threads
    derive "threads_y" "tile // rows_per_thread",
    where "tile * threads_y <= device.max_threads_per_block",
    grid  { "ceil_div(rows, tile) * ceil_div(width, tile)" },
    block { "tile", "threads_y" },
    heuristic "sm_90" "rows > 1",                -- of a single row, 31 of a tile's 32 threads do nothing
  },

  implementation "vector" {
    template "copy_vector.cu",
    -- The first is within 1 % of the best in nine problems on an H200; the second is for rows that are not aligned.
    try { loads = 1, threads = 256, load_through = "read_only" },
    try { threads = 256 },
    tunable "access"  { 16, 8, 4, 2, 1 },        -- bytes in one load or store
    tunable "loads"   { 1, 2, 4, 8 },            -- of a thread before its first store
    tunable "threads" { 128, 256, 512, 1024 },
    tunable "blocks_per_sm" { 0, 2, 4 },         -- a persistent grid of so many; 0: a block for each chunk
    tunable "load_through"  { "l1", "l2", "read_only" },
    -- No streaming stores: they speed up a copy that runs alone, but leave other kernels' data in the L2: in turns it loses up to 2 %.
    derive "store_as" "'plain'",
    derive "vec" "access // sizeof(dtype)",
    where "access >= sizeof(dtype)",
    derive "packs"  "select(packed, ceil_div(width * rows, vec), ceil_div(width, vec) * rows)",
    derive "chunks" "ceil_div(packs, threads * loads)",
    where "blocks_per_sm * threads <= device.max_threads_per_sm",

    -- An H200 does not need more loads or threads, nor variety in narrow accesses, which only show their cost. Without them
    -- a short budget reaches the rest.
    heuristic "sm_90" "loads <= 4 and threads <= 512",
    heuristic "sm_90" "access == 16 or threads == 256 and blocks_per_sm == 0 and load_through == 'l1'",
    -- Blocks that each move little keep close together in memory, and those of a persistent grid drift apart. It was
    -- measured to be slower, and is therefore tried with one way to load only.
    heuristic "sm_90" "blocks_per_sm == 0 or load_through == 'l1'",
    heuristic "sm_90" "loads == 1 or load_through == 'l1'",
    grid  { "select(blocks_per_sm == 0, chunks, min(chunks, blocks_per_sm * device.sm_count))" },
    block { "threads" },
  },

  implementation "bulk" {
    requires "device.compute_capability >= 90 or device.is_gpu == 0",
    template "copy_bulk.cu",
    tunable "piece"  { 16384, 4096, 8192, 32768 }, -- bytes in one bulk copy
    tunable "stages" { 4, 3, 8 },                -- pieces of a block in flight
    shared "ring" { dtype = "u8", shape = { "piece" }, stages = "stages", align = 128, dynamic = "true" },
    tunable "blocks_per_sm" { 1, 2, 4 },
    derive "threads" "128",
    where "blocks_per_sm * (piece * stages + 1024 + 8 * stages) <= device.shared_per_sm",
    where "piece * stages + 8 * stages <= device.shared_per_block_optin",
    derive "line_bytes" "select(packed, width * rows, width) * sizeof(dtype)",
    derive "pieces" "ceil_div(line_bytes, piece) * select(packed, 1, rows)",
    grid   { "min(pieces, blocks_per_sm * device.sm_count)" },
    block  { "threads" },
    heuristic "sm_90" "piece == 16384 or piece == 4096", -- the two that an H200 is searched with
  },
}
