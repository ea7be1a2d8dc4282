-- C = A * B for any sizes, in half, single or double precision and 8 bits. Every operand is stored by rows or by columns, packed
-- or with pitched rows. One product, or a batch of them. What is done to C on the way, a bias or GELU, is fused.
--
-- This file says what is computed. Each way to compute it is a file in matmul/, from simple to fast. What a `where` rules out there
-- is wrong, cannot be launched or is like another variant. A `heuristic` leaves out, on such GPUs only, what was never the
-- fastest on an H200: `cugen space matmul --all` shows it.

-- A sum before the activation; m and n are C's row and column.
local sum = "select(scaled and biased, alpha * acc + beta * D[m, n] + bias[n], \
                    scaled, alpha * acc + beta * D[m, n], biased, acc + bias[n], acc)"

-- The matrices of a batch stand below each other where they are stored by rows, else side by side.
local shape_a = { "select(layout_a == 'row', batch * M, M)", "select(layout_a == 'row', K, batch * K)" }
local shape_b = { "select(layout_b == 'row', batch * K, K)", "select(layout_b == 'row', N, batch * N)" }
local shape_c = { "select(layout_c == 'row', batch * M, M)", "select(layout_c == 'row', N, batch * N)" }

kernel "matmul" {
  problem "M" (4096),                            -- rows of A and C
  problem "N" (4096),                            -- columns of B and C
  problem "K" (4096),                            -- columns of A, rows of B
  problem "dtype"      { "f32", "f64", "f16", "bf16", "tf32", "e4m3", "e5m2", "i8" }, -- tf32: f32 with 10 bits of fraction
  problem "dtype_c"    { "default", "f32" },     -- of C; default: the operands' type, for 8-bit floats bf16, for i8 i32
  problem "layout_a"   { "row", "col" },
  problem "layout_b"   { "row", "col" },
  problem "layout_c"   { "row", "col" },
  problem "pitched"    { false, true },          -- rows rounded up to what the driver's pitched allocation gives
  problem "specialize" { false, true },          -- M, N and K compiled in, or passed at launch
  problem "fill"       { "uniform", "identity", "index", "ones" },
  problem "batch" (1),                           -- products, whose matrices lie as the shapes above say
  problem "scaled"     { false, true },          -- alpha * A * B + beta * D
  problem "biased"     { false, true },          -- adds a number for each of C's columns
  problem "activation" { "none", "relu", "gelu" }, -- applied last

  -- No tile divides these, every pipeline stage is used more than once, and most tiles have blocks inside the
  -- matrix as well as on its edges. N is a multiple of 4 and the others are odd, so that in the default layouts
  -- B's rows are aligned for wide loads and A's are not.
  check { M = 131, N = 260, K = 37 },

  -- A problem that was not tuned takes the best variant of one whose sizes are within a factor of two.
  policy "nearest" { distance = 1 },

  -- Types: of the operands in memory, of the sums, of C, and of what is fused.
  derive "operand"     "select(dtype == 'tf32', 'f32', dtype)",
  derive "accumulator" "select(dtype == 'f64', 'f64', dtype == 'i8', 'i32', 'f32')",
  derive "result"      "select(dtype_c == 'f32', 'f32', dtype == 'i8', 'i32', sizeof(operand) == 1, 'bf16', operand)",
  derive "fused_type"  "select(dtype == 'i8', 'f32', accumulator)",
  derive "float_8"     "dtype == 'e4m3' or dtype == 'e5m2'",
  where "dtype_c == 'default' or sizeof(operand) <= 2",      -- only sums of small operands may be stored unrounded
  derive "fused" "scaled or biased or activation ~= 'none'",
  derive "fast" "activation == 'gelu' and sizeof(result) == 2 and device.compute_capability >= 75", -- the hardware's tanh
  where "not fused or dtype ~= 'i8' or dtype_c == 'f32'", -- what is fused gives fractions, which an i32 C cannot hold

  -- Elements that lie side by side in memory: a row or a column, by the layout.
  derive "contiguous_a" "select(layout_a == 'row', K, M)",
  derive "contiguous_b" "select(layout_b == 'row', N, K)",
  derive "contiguous_c" "select(layout_c == 'row', N, M)",

  -- From one row (column) to the next, in elements.
  derive "alignment" "device.pitch_alignment // sizeof(operand)",
  derive "pitch_a" "select(pitched, round_up(contiguous_a, alignment), contiguous_a)",
  derive "pitch_b" "select(pitched, round_up(contiguous_b, alignment), contiguous_b)",
  derive "pitch_c" "select(pitched, round_up(contiguous_c, device.pitch_alignment // sizeof(result)), contiguous_c)",

  -- Elements in 16 bytes, the widest access; whether all rows begin and end at multiples of 16 bytes.
  derive "slice" "16 // sizeof(operand)",
  derive "aligned_a" "pitch_a % slice == 0 and contiguous_a % slice == 0",
  derive "aligned_b" "pitch_b % slice == 0 and contiguous_b % slice == 0",
  -- As many elements as rows and their ends are aligned for: 16 bytes, a half or a quarter of that, or one element.
  derive "half_slice" "max(slice // 2, 1)",
  derive "quarter_slice" "max(slice // 4, 1)",
  derive "vec_a" "select(aligned_a, slice, pitch_a % half_slice == 0 and contiguous_a % half_slice == 0, half_slice, \
                         pitch_a % quarter_slice == 0 and contiguous_a % quarter_slice == 0, quarter_slice, 1)",
  derive "vec_b" "select(aligned_b, slice, pitch_b % half_slice == 0 and contiguous_b % half_slice == 0, half_slice, \
                         pitch_b % quarter_slice == 0 and contiguous_b % quarter_slice == 0, quarter_slice, 1)",

  -- Whether the device has Hopper's tensor cores. The cpu device takes part as a Hopper with few multiprocessors, so that blocks
  -- have several tiles each.
  derive "hopper" "device.compute_capability == 90 and device.architecture_specific == 1 or device.is_gpu == 0",
  derive "multiprocessors" "select(device.is_gpu == 1, device.sm_count, 8)",
  derive "shared_most" "select(device.is_gpu == 1, device.shared_per_block_optin, 232448)",
  -- Operands that these tensor cores multiply: lines run along k, unless elements have 2 bytes; one of tf32 may pass through registers.
  derive "wgmma_multiplies" "hopper and dtype ~= 'f32' and dtype ~= 'f64' and \
                             (sizeof(operand) == 2 or layout_a == 'row' and layout_b == 'col' \
                              or dtype == 'tf32' and (layout_a == 'row' or layout_b == 'col'))",
  -- Matrices that the tensor memory accelerator cannot load or store, so that padded copies are made: rows must be multiples of
  -- 16 bytes apart, and the last 16 bytes of a row of C are written whole.
  derive "pads_a" "wgmma_multiplies and pitch_a * sizeof(operand) % 16 ~= 0",
  derive "pads_b" "wgmma_multiplies and pitch_b * sizeof(operand) % 16 ~= 0",
  derive "pads_c" "wgmma_multiplies and (pitch_c * sizeof(result) % 16 ~= 0 or contiguous_c * sizeof(result) % 16 ~= 0)",

  -- Operands that `packed` lays out anew, with a line for each k: those whose rows are not aligned for copies of 16 bytes.
  derive "packable" "dtype == 'f32' or dtype == 'f64'",
  derive "packs_a" "packable and not aligned_a",
  derive "packs_b" "packable and not aligned_b",
  derive "line_pa" "round_up(M, 32)",
  derive "line_pb" "round_up(N, 32)",
  derive "packed_a" "select(packs_a, K * line_pa, 0)",
  derive "packed_b" "select(packs_b, K * line_pb, 0)",
  derive "blocks_a" "select(packs_a, ceil_div(M, 64) * ceil_div(K, 32), 0)",
  derive "blocks_b" "select(packs_b, ceil_div(N, 64) * ceil_div(K, 32), 0)",

  -- Room for the sums of parts of K, at most 64 MiB in f32: for products small enough to need it, or whose last wave of tiles is
  -- shared (`wgmma_stream`).
  derive "streams" "hopper and accumulator == 'f32' and dtype ~= 'f32'",
  derive "partials" "select(M * N * batch <= 2048 * 2048, \
                            min(32 * round_up(M, 256) * round_up(N, 256) * batch, 16777216), streams, 16777216, 1)",

  input "A" { dtype = "operand", shape = shape_a, layout = "layout_a", pitch = "pitch_a", fill = "fill" },
  input "B" { dtype = "operand", shape = shape_b, layout = "layout_b", pitch = "pitch_b", fill = "fill" },
  output "C" {
    dtype = "result", shape = shape_c, layout = "layout_c", pitch = "pitch_c",
    -- A sum of K products of numbers in [-1, 1) that are rounded one after the other is off by K * eps / 15 as a
    -- rule (a random walk of partial sums of size sqrt(k) / 3, each rounded to eps / 2), and the worst of 1e8
    -- elements by six times that. Five times more than this worst is still far below one product. What is stored is
    -- rounded once more. The operands of a tf32 product lose up to 2^-10 of themselves, which adds up like the sums.
    -- Tensor cores add products of 8-bit floats with 13 bits behind the largest of 32, so that 2^-14 of a sum is lost
    -- at each step along k, which may be all to the same side. The hardware's tanh is right to 2^-11, its share in GELU to 2^-12 x.
    tolerance = "2 * K * eps(accumulator) + eps(result) + select(dtype == 'tf32', sqrt(K) / 256, 0) \
                 + select(float_8, K * sqrt(K) / 262144, 0) + select(fused, 16 * eps(fused_type), 0) \
                 + select(fast, 0.001, 0)",
    -- Over all of C these errors are 0.14 * sqrt(K) * eps where every sum is rounded, K * eps / 70 on tensor cores, which
    -- cut sums off once for 16 products, a fifth of eps(result), and 7e-4 for tf32. One lost product is 1 / sqrt(K). Few
    -- elements may all be next to 0.
    norm = "select(M * N * batch < 64, 1.0, K * eps(accumulator) / 16 + eps(result) / 2 + select(dtype == 'tf32', 0.002, 0) \
            + select(float_8, K / 262144.0, 0) + select(fused, 4 * eps(fused_type), 0) \
            + select(fast, 0.0005, 0))",
  },
  scalar "M" { dtype = "index", specialize = "specialize" },
  scalar "N" { dtype = "index", specialize = "specialize" },
  scalar "K" { dtype = "index", specialize = "specialize" },
  input "D" { dtype = "result", shape = shape_c, layout = "layout_c", pitch = "pitch_c", when = "scaled" },
  input "bias" { dtype = "result", shape = { "select(layout_c == 'row', N, batch * N)" }, when = "biased" },
  scalar "alpha" { dtype = "select(dtype == 'f64', 'f64', 'f32')", value = "0.5", when = "scaled" },
  scalar "beta"  { dtype = "select(dtype == 'f64', 'f64', 'f32')", value = "0.25", when = "scaled" },
  scratch "workspace" { dtype = "accumulator", shape = { "batch * (packed_a + packed_b) + partials" } },
  scratch "tickets" { dtype = "u32", shape = { 2048 }, fill = "zero" },
  scratch "padded_a" { dtype = "operand", shape = shape_a, layout = "layout_a", pitch = "round_up(contiguous_a, slice)", when = "pads_a" },
  scratch "padded_b" { dtype = "operand", shape = shape_b, layout = "layout_b", pitch = "round_up(contiguous_b, slice)", when = "pads_b" },
  scratch "padded_c" {
    dtype = "result", shape = shape_c, layout = "layout_c", pitch = "round_up(contiguous_c, 16 // sizeof(result))", when = "pads_c",
  },

  -- What is stored for a sum `acc`. In a config of your own, write another epilogue here; the reference uses it, too.
  formula "epilogue(acc, m, n)" ("select(fast, fast_gelu(" .. sum .. "), activation == 'gelu', gelu(" .. sum .. "), \
                                         activation == 'relu', relu(" .. sum .. "), " .. sum .. ")"),

  reference "matmul_reference.cu",
  flops "2 * M * N * K * batch",
  products "dtype",                              -- tensor cores compute them, too: their peak is the ceiling
  bytes "((M * K + K * N) * sizeof(operand) + select(scaled, 2, 1) * M * N * sizeof(result)) * batch", -- each once

  -- The third dimension of a grid counts the batch.
  where "batch <= 65535",

  include "matmul/naive.lua",        -- one thread an element
  include "matmul/skinny.lua",       -- one operand of few lines: the other one is streamed through registers
  include "matmul/tiled.lua",        -- tiles of both operands in shared memory
  include "matmul/blocked.lua",      -- a part of C in each thread's registers
  include "matmul/pipelined.lua",    -- tiles are copied while others are multiplied
  include "matmul/packed.lua",       -- the same, on operands that are laid out for it first
  include "matmul/mma.lua",          -- tensor cores, compute capability 8.0 and later
  include "matmul/wgmma_stream.lua", -- Hopper's tensor cores; tiles of the last wave are shared along k
  include "matmul/wgmma.lua",        -- Hopper's tensor cores
  include "matmul/cublaslt.lua",     -- NVIDIA's library, where it is installed
}
