-- A 2-D filter (cross-correlation): result[r][c] = sum of weights[i][j] * image[r + i - size / 2][c + j - size / 2]. Odd
-- sizes from 3 to 15, any image, four ways to go on past its edges. The weights lie in __constant__, global or shared
-- memory or in a __device__ variable; the image is read by its address, through shared tiles or through a texture. The kernels:
-- one element a thread, tiles with their halo in shared memory, strips of rows whose sums stay in registers.

kernel "filter" {
  problem "rows" (8192),
  problem "cols" (8192),
  problem "size"     { 5, 3, 7, 9, 11, 13, 15 },         -- rows and columns of the weights
  problem "dtype"    { "f32", "f16", "f64" },            -- of image and result; sums are f32, for f64 f64
  problem "boundary" { "clamp", "zero", "mirror", "wrap" }, -- mirror: with the edge twice, ... 1 0 | 0 1 2 ...
  problem "pitched"  { false, true },                    -- rows rounded up to what the driver's pitched allocation gives

  -- Ragged for every block, with blocks inside as well as on every edge, and rows aligned for the widest loads.
  check { rows = 67, cols = 264 },

  policy "nearest" { distance = 1 },

  -- Where the kernel reads the weights from (symbol: a __device__ variable), and how it reads the image. The arguments stay
  -- the same.
  tunable "weights_in" { "constant", "global", "shared", "symbol" },
  tunable "image_in"   { "global", "texture", "array" },

  derive "radius"    "size // 2",
  derive "sum_dtype" "select(dtype == 'f64', 'f64', 'f32')",
  derive "row_pitch"     "select(pitched, round_up(cols, device.pitch_alignment // sizeof(dtype)), cols)",

  -- Textures have no f64. A texture over memory needs rows at multiples of 32 bytes. An array is copied before every launch,
  -- which takes as long as any copy.
  where "image_in == 'global' or dtype ~= 'f64'",
  where "image_in ~= 'texture' or row_pitch * sizeof(dtype) % 32 == 0",
  where "image_in == 'global' or (rows <= 65000 and cols <= 131072)",

  input "image" {
    dtype = "dtype", shape = { "rows", "cols" }, pitch = "row_pitch",
    access = "image_in", address = "select(boundary == 'zero', 'border', boundary)",
  },
  constant "weights" {
    dtype = "sum_dtype", shape = { "size", "size" }, access = "select(weights_in == 'shared', 'global', weights_in)",
  },
  output "result" {
    dtype = "dtype", shape = { "rows", "cols" }, pitch = "row_pitch",
    -- The result is rounded once, the sum of size^2 products of numbers in [-1, 1) after each.
    tolerance = "eps(dtype) + 2 * size * size * eps(sum_dtype)",
  },
  scalar "rows" {},
  scalar "cols" {},

  reference "filter_reference.cu",
  flops "2 * size * size * rows * cols",
  bytes "2 * rows * cols * sizeof(dtype)",

  -- One thread an element, size^2 reads of the image each.
  implementation "naive" {
    template "filter_naive.cu",
    tunable "block_x" { 32, 64, 128 },
    tunable "block_y" { 8, 4, 2, 16 },
    where "block_x * block_y <= device.max_threads_per_block",
    -- The second dimension of a grid has at most 65535 blocks.
    where "ceil_div(rows, block_y) <= 65535",
    grid  { "ceil_div(cols, block_x)", "ceil_div(rows, block_y)" },
    block { "block_x", "block_y" },
  },

  -- The block's part of the image with a halo of `radius` around it in shared memory.
  implementation "tiled" {
    template "filter_tiled.cu",
    tunable "block_x" { 32, 64, 128 },
    tunable "block_y" { 8, 4, 16 },
    tunable "rows_per_thread" { 4, 1, 2, 8 },            -- block_y apart
    derive "tile_x" "block_x + 2 * radius",
    derive "tile_y" "block_y * rows_per_thread + 2 * radius",
    where "block_x * block_y <= device.max_threads_per_block",
    shared "tile" { dtype = "sum_dtype", shape = { "tile_y", "tile_x" } },
    where "(tile_x * tile_y + size * size) * sizeof(sum_dtype) <= device.shared_per_block",
    where "ceil_div(rows, block_y * rows_per_thread) <= 65535",
    grid  { "ceil_div(cols, block_x)", "ceil_div(rows, block_y * rows_per_thread)" },
    block { "block_x", "block_y" },
  },

  -- A thread goes down a strip of `vec` columns. Each row of the image that it reads adds to the `size` rows of results
  -- that it reaches, whose sums stay in registers; the oldest is then complete.
  implementation "strips" {
    template "filter_strips.cu",
    -- What led on an H200, from 3 x 3 to 15 x 15.
    try { block_x = 64, block_y = 4, vec = 4, strip = 4, unrolled = true, resident = 1024 },
    try { block_x = 64, block_y = 1, vec = 4, strip = 4, unrolled = true, resident = 768 },
    try { block_x = 32, block_y = 1, vec = 4, strip = 32, unrolled = false, ahead = true, resident = 512 },
    tunable "block_x" { 64, 32, 128 },
    tunable "block_y" { 4, 2, 1, 8 },
    tunable "vec" { 4, 2, 8, 1 },                        -- columns of a strip, and elements in one load
    tunable "strip" { 8, 4, 16, 32, 64, 128 },           -- rows of a strip
    tunable "unrolled" { true, false },                  -- the loop over these rows
    tunable "ahead" { false, true },                     -- a row is loaded while the one before it is used
    tunable "resident" { 1024, 768, 512, 0, 1536 },      -- threads that must fit a multiprocessor: bounds the registers
    derive "threads" "block_x * block_y",
    derive "steps" "strip + size - 1",
    -- Registers: sums, the window, rows that are on their way, weights that are no operands in constant memory, and
    -- some 20 for addresses and counters.
    derive "words" "sizeof(sum_dtype) // 4",
    derive "registers" [[words * (size * vec + select(ahead, 2, 1) * (vec + 2 * radius)
                         + select(weights_in == 'constant', 0, min(size * size, 81))) + 20]],
    -- A texture access gives one element, so that there are no wide loads.
    where "image_in == 'global'",
    where "weights_in ~= 'symbol'", -- the template passes them by address
    where "vec * sizeof(dtype) <= 16",
    where "resident % threads == 0 and resident // threads <= device.max_blocks_per_sm",
    where "resident <= device.max_threads_per_sm",
    -- Code that exceeds the instruction cache is not faster. Unrolled, the compiler orders the loads.
    where "not unrolled or (steps * size * size * vec <= 6144 and not ahead)",
    where "registers <= 232",
    where "registers * max(resident, threads) <= device.registers_per_sm",
    where "ceil_div(rows, block_y * strip) <= 65535",
    heuristic "sm_90" "strip <= 64 and resident <= 1024", -- an H200 needs no more
    grid  { "ceil_div(cols, block_x * vec)", "ceil_div(rows, block_y * strip)" },
    block { "block_x", "block_y" },
  },
}
