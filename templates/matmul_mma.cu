// C = A * B on tensor cores by mma.sync (compute capability 8.0 and later). A block of threads computes a
// BM x BN tile of C, a warp a WM x WN part of it. Tiles of A and B travel from global to shared memory by asynchronous
// copies, stages - 1 of them ahead of the one that is being multiplied.
//
// A line of C is a row of C, or a column if C is stored by columns. X is the operand whose lines (rows of A, columns of
// B) are C's lines, Y the other one. So X is A if C is stored by rows; otherwise X is B, and the transpose of C is
// computed, which is the product of B's transpose by A's.

//@ include "lib/pack.cuh"
//@ include "lib/swizzled_tile.cuh"
//@ include "lib/mma.cuh"
//@ include "lib/batch.cuh"
//@ include "lib/tile_by_elements.cuh"
//@ include "lib/tile_copies.cuh"
//@ if split > 1 then
//@   include "lib/last_part.cuh"
//@ end

//@ -- Describes an operand: its stride from line to line in memory, and its strides along its own dimension and along k.
//@ local function operand_of(name, extent, along_k, along, k, from, tile, warp, vec, tile0)
//@   -- matrices: the operand is loaded by ldmatrix, which can transpose only elements of 2 bytes.
//@   local matrices = dtype ~= "f64" and (along_k or sizeof(operand) == 2)
//@   return { name = name, extent = extent, along_k = along_k, stride = along_k and along or k, along = along, k = k,
//@            from = from, tile = tile, warp = warp, vec = vec, tile0 = tile0, matrices = matrices, span = matrices and 1 or 2 }
//@ end
//@ local X = operand_of("A", "M", A_layout == "row", "A_stride0", "A_stride1",
//@                      of_batch("A", A_layout, "M", "K"), "BM", "WM", vec_a, "row0")
//@ local Y = operand_of("B", "N", B_layout == "col", "B_stride1", "B_stride0",
//@                      of_batch("B", B_layout, "K", "N"), "BN", "WN", vec_b, "col0")
//@ if C_layout == "col" then X, Y = Y, X end
//@ local line_c = C_layout == "row" and "C_stride0" or "C_stride1"
//@ -- The value to store for a sum, by its place along X and Y.
//@ local function element(sum, x, y)
//@   return stored(sum, C_layout == "row" and x or y, C_layout == "row" and y or x)
//@ end
//@ -- The epilogue of floats is computed before the two ways to store, so that its code exists once.
//@ local early = fused and accumulator ~= "i32"
//@ local function last(sum, x, y) return early and sum or element(sum, x, y) end
using tile_x = swizzled_tile<A_t, ${X.tile}, BK, ${X.along_k}, ${X.span}, ${X.vec}, threads>;
using tile_y = swizzled_tile<A_t, ${Y.tile}, BK, ${Y.along_k}, ${Y.span}, ${Y.vec}, threads>;
using fragments_x = mma_fragments<A_t, tile_x, ${X.warp}, ${X.matrices}, true>;
using fragments_y = mma_fragments<A_t, tile_y, ${Y.warp}, ${Y.matrices}, false>;

__global__ void __launch_bounds__(threads, min_blocks) matmul_mma(${params}) {
  A_t *const shared = tiles.at(0, 0); // stages of a tile of X and one of Y
  constexpr int stage = tile_x::size + tile_y::size;

//@ include "lib/grouped_tiles.cuh"

  // The warp's part of the block's tile begins at line warp_x of X and line warp_y of Y. Neighbouring warps share lines of X.
  constexpr int warps_y = ${Y.tile} / ${Y.warp};
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int warp_x = warp / warps_y * ${X.warp};
  const int warp_y = warp % warps_y * ${Y.warp};

  const index_t stride_x = ${X.stride};
  const index_t stride_y = ${Y.stride};
  const A_t *const from_x = ${X.from} + ${X.tile0} * ${X.along};
  const A_t *const from_y = ${Y.from} + ${Y.tile0} * ${Y.along};
  const index_t step_x = ${X.k}, step_y = ${Y.k};
  C_t *const c = ${of_batch("C", C_layout, "M", "N")};

//@ if vec_a > 1 or vec_b > 1 then
//@ local m, n = "e / BN", "e % BN"
//@ if C_layout == "col" then m, n = "e % BM", "e / BM" end
//@ local loop = "int e = " .. (split > 1 and "blockIdx.y == 0 ? threadIdx.x : BM * BN" or "threadIdx.x") .. "; e < BM * BN; e += threads"
//@ tile_by_elements("!packs_fit<" .. X.vec .. ">(" .. X.name .. ", stride_x) || !packs_fit<" .. Y.vec .. ">(" .. Y.name .. ", stride_y)",
//@                  loop, m, n)
//@ end

  // Only the first tiles may be short along k, so that the loop below knows only whole tiles.
//@ if split > 1 then
  const index_t part = blockIdx.y, all = (K + (BK - 1)) / BK;
  index_t left = all / split + (part < all % split);
  const index_t first_k = part == 0 ? K - (all - 1) * BK : BK;
  const index_t behind = all / split * part + min(all % split, part); // tiles of the parts before
  const index_t skip = part == 0 ? 0 : K - (all - behind) * BK;
  tile_x next_x(from_x + skip * step_x, stride_x, ${X.extent} - ${X.tile0});
  tile_y next_y(from_y + skip * step_y, stride_y, ${Y.extent} - ${Y.tile0});
//@ else
  index_t left = (K + (BK - 1)) / BK;
  const index_t first_k = K - (left - 1) * BK;
  tile_x next_x(from_x, stride_x, ${X.extent} - ${X.tile0});
  tile_y next_y(from_y, stride_y, ${Y.extent} - ${Y.tile0});
//@ end
//@ local tile_x, tile_y = { "x", "0" }, { "y", "tile_x::size" }
//@ tile_copies(tile_x, tile_y, tile_x, tile_y)
#pragma unroll 1
  for (int s = 1; s < stages - 1; ++s) copy_tiles(s * stage, s < left, 0, copies);

  accumulator sum[fragments_x::count][2 * fragments_y::count][4] = {};
  // The fragments of one step along k are loaded while those of the step before are multiplied.
  mma_word x[2][fragments_x::count][2 * mma_words];
  mma_word y[2][fragments_y::count][2 * mma_words];
  const fragments_x own_x(warp_x);
  const fragments_y own_y(warp_y);
  const auto load_fragments = [&](int at, int step) {
#pragma unroll
    for (int i = 0; i < fragments_x::count; ++i) own_x.load(x[step % 2][i], shared + at, i, step);
#pragma unroll
    for (int j = 0; j < fragments_y::count; ++j) own_y.load(y[step % 2][j], shared + at + tile_x::size, j, step);
  };
  // Multiplies to and fro along Y, so that each product has a fragment in common with the product before.
  const auto multiply = [&](int step) {
#pragma unroll
    for (int i = 0; i < fragments_x::count; ++i) {
#pragma unroll
      for (int n = 0; n < fragments_y::count; ++n) {
        const int j = i % 2 ? fragments_y::count - 1 - n : n;
        multiply_add<0>(sum[i][2 * j], x[step % 2][i], y[step % 2][j]);
        multiply_add<1>(sum[i][2 * j + 1], x[step % 2][i], y[step % 2][j]);
      }
    }
  };

  constexpr int steps = fragments_x::steps;
  static_assert(steps % 2 == 0, "the last step's fragments and the next tile's first are two");
  copy_wait<stages - 2>();
  __syncthreads();
  load_fragments(0, 0);
  int reading = 0;
  int writing = (stages - 1) * stage; // the stage that no thread reads any more
  for (; left > 0; --left) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      copy_tiles(writing, left >= stages, step * copies / steps, (step + 1) * copies / steps);
      if (step < steps - 1) {
        load_fragments(reading, step + 1);
      } else {
        // Waits until the next tile has arrived, and all threads have loaded what they need of this tile.
        copy_wait<stages - 2>();
        __syncthreads();
        writing = reading;
        reading = reading == (stages - 1) * stage ? 0 : reading + stage;
        if (left > 1) load_fragments(reading, 0);
      }
      multiply(step);
    }
  }

//@ if split > 1 then
  // The thread of the same number in the last block reads a thread's sums. Four sums of each thread stand together.
  const index_t tile = static_cast<index_t>(blockIdx.z) * gridDim.x + blockIdx.x;
  accumulator *const parts = workspace + batch * (packed_a + packed_b) + tile * (split * BM * BN) + threadIdx.x * 4;
  constexpr int columns = 2 * fragments_y::count;
#pragma unroll
  for (int i = 0; i < fragments_x::count; ++i) {
#pragma unroll
    for (int j = 0; j < columns; ++j) {
#pragma unroll
      for (int e = 0; e < 4; e += ${16 // sizeof(accumulator)}) store_elements<${16 // sizeof(accumulator)}>(parts + part * (BM * BN) + (i * columns + j) * threads * 4 + e, sum[i][j] + e);
    }
  }
  if (!is_last(split, tickets + tile)) return;
#pragma unroll 1
  for (int p = 0; p < split; ++p) {
#pragma unroll
    for (int i = 0; i < fragments_x::count; ++i) {
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        accumulator one[4];
#pragma unroll
        for (int e = 0; e < 4; e += ${16 // sizeof(accumulator)}) load_elements<${16 // sizeof(accumulator)}>(one + e, parts + p * (BM * BN) + (i * columns + j) * threads * 4 + e);
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[i][j][e] = (p == 0 ? 0 : sum[i][j][e]) + one[e];
      }
    }
  }

//@ end
//@ if early then
  // The epilogue takes the last line or column in place of lines and columns past the end, which are not stored.
#pragma unroll
  for (int i = 0; i < fragments_x::count; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * fragments_y::count; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const index_t line = min(${X.tile0} + warp_x + i * 16 + e / 2 * 8 + lane / 4, static_cast<index_t>(${X.extent} - 1));
        const index_t column = min(${Y.tile0} + warp_y + j * 8 + lane % 4 * 2 + e % 2, static_cast<index_t>(${Y.extent} - 1));
        sum[i][j][e] = ${element("sum[i][j][e]", "line", "column")};
      }
    }
  }
//@ end
  // Lanes in pairs exchange two of their columns, so that each has four side by side, and two lanes store eight columns of a
  // line side by side.
  const bool whole = ${X.extent} - ${X.tile0} >= ${X.tile} && ${Y.extent} - ${Y.tile0} >= ${Y.tile} &&
                     packs_fit<store_width>(C, ${line_c});
  const bool odd = lane % 2;
//@ if sizeof(result) == 2 then
  // Results are rounded before they are exchanged, so that two fit a word.
  if (whole) {
#pragma unroll
    for (int i = 0; i < 2 * fragments_x::count; ++i) {
      const index_t line = ${X.tile0} + warp_x + i * 8 + lane / 4;
#pragma unroll
      for (int j = 0; j < fragments_y::count; ++j) {
        const index_t column = ${Y.tile0} + warp_y + j * 16;
        pack<C_t, 2> own[2];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const accumulator one = sum[i / 2][2 * j + e / 2][i % 2 * 2 + e % 2];
          own[e / 2].at[e % 2] = static_cast<C_t>(
              ${last("one", "line", "column + lane % 4 * 2 + e / 2 * 8 + e % 2")});
        }
        unsigned words[2], both[2];
        memcpy(words, own, sizeof words);
        const unsigned other = __shfl_xor_sync(0xffffffffu, odd ? words[0] : words[1], 1);
        both[0] = odd ? other : words[0];
        both[1] = odd ? words[1] : other;
        pack<C_t, 4> four;
        memcpy(&four, both, sizeof four);
        store_pack(c + line * ${line_c} + column + (odd ? 8 : 0) + lane % 4 / 2 * 4, four);
      }
    }
    return;
  }
//@ end
#pragma unroll
  for (int i = 0; i < 2 * fragments_x::count; ++i) {
    const index_t line = ${X.tile0} + warp_x + i * 8 + lane / 4;
#pragma unroll
    for (int j = 0; j < fragments_y::count; ++j) {
      const accumulator *const low = sum[i / 2][2 * j] + i % 2 * 2;
      const accumulator *const high = sum[i / 2][2 * j + 1] + i % 2 * 2;
      const accumulator first = __shfl_xor_sync(0xffffffffu, odd ? low[0] : high[0], 1);
      const accumulator second = __shfl_xor_sync(0xffffffffu, odd ? low[1] : high[1], 1);
      const accumulator four[4] = {odd ? first : low[0], odd ? second : low[1], odd ? high[0] : first,
                                   odd ? high[1] : second};
      const index_t column = ${Y.tile0} + warp_y + j * 16 + (odd ? 8 : 0) + lane % 4 / 2 * 4;
      C_t *const to = c + line * ${line_c} + column;
      if (whole) {
#pragma unroll
        for (int s = 0; s < 4; s += store_width) {
          pack<C_t, store_width> part;
#pragma unroll
          for (int e = 0; e < store_width; ++e) {
            part.at[e] = static_cast<C_t>(${last("four[s + e]", "line", "column + s + e")});
          }
          store_pack(to + s, part);
        }
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (line < ${X.extent} && column + e < ${Y.extent}) {
            to[e] = static_cast<C_t>(${last("four[e]", "line", "column + e")});
          }
        }
      }
    }
  }
}
