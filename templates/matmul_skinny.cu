// C = A * B where C has few rows or few columns. A line is a row of A or a column of B. X is the operand of many lines, Y that of few lines:
// nearly all bytes are X's, and each element of X is multiplied by few elements of Y, so that the speed of memory decides. X goes from
// memory to registers, unroll loads ahead of their products.
//
// Lane 4 g + t of a warp has the lines of number g and the quarter of number t of their k. If X's lines lie along k, a unit of X is 16 lines
// of 128 bytes, because memory gives 128 bytes faster than halves of them: a lane has 32 bytes of each of the lines g and g + 8. Otherwise a
// unit is 128 bytes across the lines for each of several k: a lane has 16 bytes, which are neighbouring lines, for each of its k. It does
// not matter which k a lane has, as long as it has the same k of both operands.
//@ if tensor then
// Tensor cores multiply 16 lines of X by 8 of Y; what a lane loads are its words of the fragments.
//@ end
// The warps that share lines add up their sums in shared memory, in the same order every time.
//@ if split > 1 then
// The blocks that share lines leave their sums in the workspace, and the block that leaves its sums last adds up the sums of all.
//@ end

//@ include "lib/pack.cuh"
//@ include "lib/batch.cuh"
//@ include "lib/tile_by_elements.cuh"
//@ include "lib/next_launch.cuh"
//@ if tensor then
//@   include "lib/mma.cuh"
//@ end
//@ if split > 1 then
//@   include "lib/last_part.cuh"
//@ end

//@ local a = { name = "A", from = of_batch("A", A_layout, "M", "K"), line = "A_stride0", k = "A_stride1", count = "M" }
//@ local b = { name = "B", from = of_batch("B", B_layout, "K", "N"), line = "B_stride1", k = "B_stride0", count = "N" }
//@ local X, Y = a, b
//@ if not x_is_a then X, Y = b, a end
// Of a unit, a lane has own_depth elements along k, in own_parts parts of one line or one k each. A unit is unit_depth long and unit_lines wide.
constexpr int own_depth = ${lane_k}, own_parts = ${x_along_k and 2 or lane_k}, unit_depth = ${unit_k}, unit_lines = ${unit_x};
// The number of Y's lines, the number of steps in which they are multiplied, and the number of X's lines of a block.
constexpr int y_lines = ${count_y}, y_tiles = ${tiles_y}, block_lines = ${block_x};
using x_pack = pack<A_t, ${x_along_k and lane_k or slice}>;
using y_pack = pack<A_t, own_depth>;

// Loads Count elements that stand `step` apart, Width at a time. Elements from number `left` on become zeros.
template <int Width, int Count>
__device__ __forceinline__ pack<A_t, Count> load_line(const A_t *from, index_t step, index_t left) {
  pack<A_t, Count> to;
#pragma unroll
  for (int e = 0; e < Count; e += Width) {
    pack<A_t, Width> part = {};
    if (e < left) part = load_pack<Width>(from + e * step);
#pragma unroll
    for (int i = 0; i < Width; ++i) to.at[e + i] = part.at[i];
  }
  return to;
}
//@ if tensor then

template <int Count> __device__ __forceinline__ mma_word word_of(const pack<A_t, Count> &held, int word) {
  mma_word bits;
  memcpy(&bits, reinterpret_cast<const char *>(held.at) + word * sizeof bits, sizeof bits);
  return bits;
}
//@ end

__global__ void __launch_bounds__(threads) matmul_skinny(${params}) {
  launch_next();
  wait_for_launch();
  const index_t x0 = static_cast<index_t>(blockIdx.x) * block_lines;
  const index_t count = ${X.count}, left_x = count - x0;
  const index_t ${x_along_k and "line_x = " .. X.line or "step_x = " .. X.k};
  const index_t line_y = ${Y.line}, step_y = ${Y.k};
//@ local unfit = {}
//@ if width_x > 1 then unfit[1] = "!packs_fit<" .. width_x .. ">(" .. X.name .. ", " .. (x_along_k and "line_x" or "step_x") .. ")" end
//@ if width_y > 1 then unfit[#unfit + 1] = "!packs_fit<" .. width_y .. ">(" .. Y.name .. ", line_y)" end
//@ if #unfit > 0 then
  const index_t row0 = ${x_is_a and "x0" or "0"}, col0 = ${x_is_a and "0" or "x0"};
//@   local x, y = "e % block_lines", "e / block_lines"
//@   local loop = "int e = blockIdx.y == 0 ? threadIdx.x : block_lines * y_lines; e < block_lines * y_lines; e += threads"
//@   tile_by_elements(table.concat(unfit, " || "), loop, x_is_a and x or y, x_is_a and y or x)
//@ end

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int g = lane / 4, t = lane % 4;
  const int warp_k = warp % warps_k;
  const int own_x = warp / warps_k * (unit_lines * units); // the warp's first line within the block's
  constexpr int chunk = unit_depth * unroll;
  const index_t chunks_k = (K + (chunk - 1)) / chunk;
//@ if split > 1 then
  const index_t part = blockIdx.y;
  const index_t first = chunks_k / split * part + min(chunks_k % split, part);
  const index_t end = first + chunks_k / split + (part < chunks_k % split);
//@ else
  const index_t first = 0, end = chunks_k;
//@ end

  // Lines past X's end are read as the last line (if lines lie along k) or as zeros; their sums are not stored.
  const A_t *const y = ${Y.from};
//@ if x_along_k then
  const A_t *x[units][own_parts];
#pragma unroll
  for (int i = 0; i < units; ++i) {
#pragma unroll
    for (int h = 0; h < own_parts; ++h) {
      x[i][h] = ${X.from} + min(x0 + own_x + i * unit_lines + h * 8 + g, static_cast<index_t>(count - 1)) * line_x;
    }
  }
//@ else
  const A_t *const x = ${X.from} + x0 + own_x + g * slice;
//@ end

//@ local tiles_x = x_along_k and 1 or slice // 2 -- products of 16 lines in a unit
//@ local lines_x = x_along_k and 2 or slice      -- lines of a lane in a unit
//@ if tensor then
  accumulator sum[units][${tiles_x}][y_tiles][4] = {};
//@ else
  accumulator sum[units][${lines_x}][y_tiles] = {};
//@ end
  // A chunk of X on its way to registers, and the chunk of Y if that is small.
  struct chunk_of {
    x_pack x[unroll][units][own_parts];
//@ if early then
    y_pack y[unroll][y_tiles];
//@ end
  };
  const auto load_y = [&](int j, index_t k) {
    const index_t line = ${tensor and "min(j * 8 + g, y_lines - 1)" or "j"};
    return load_line<${width_y}, own_depth>(y + line * line_y + k * step_y, step_y, K - k);
  };
  const auto load_chunk = [&](chunk_of &to, index_t c) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const index_t k = c * chunk + u * unit_depth + t * own_depth;
#pragma unroll
      for (int i = 0; i < units; ++i) {
#pragma unroll
        for (int p = 0; p < own_parts; ++p) {
//@ if x_along_k then
          to.x[u][i][p] = load_line<${width_x}, own_depth>(x[i][p] + k, 1, K - k);
//@ else
          to.x[u][i][p] = load_line<${width_x}, slice>(x + (k + p) * step_x + i * unit_lines, 1,
                                                    k + p < K ? left_x - own_x - i * unit_lines - g * slice : 0);
//@ end
        }
      }
//@ if early then
#pragma unroll
      for (int j = 0; j < y_tiles; ++j) to.y[u][j] = load_y(j, k);
//@ end
    }
  };
  const auto multiply_chunk = [&](const chunk_of &held, index_t c) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int j = 0; j < y_tiles; ++j) {
        const y_pack by = ${early and "held.y[u][j]" or "load_y(j, c * chunk + u * unit_depth + t * own_depth)"};
#pragma unroll
        for (int i = 0; i < units; ++i) {
          const x_pack *const own = held.x[u][i];
//@ if not tensor then
#pragma unroll
          for (int e = 0; e < ${x_along_k and "own_depth" or "slice"}; ++e) {
#pragma unroll
            for (int p = 0; p < own_parts; ++p) sum[i][${x_along_k and "p" or "e"}][j] += own[p].at[e] * by.at[${x_along_k and "e" or "p"}];
          }
//@ else
          mma_word left[2 * mma_words], right[2 * mma_words];
#pragma unroll
          for (int step = 0; step < own_depth * 4 / mma_depth; ++step) {
#pragma unroll
            for (int q = 0; q < mma_words; ++q) right[q] = word_of(by, step * mma_words + q);
//@   if x_along_k then
#pragma unroll
            for (int q = 0; q < mma_words; ++q) {
#pragma unroll
              for (int h = 0; h < 2; ++h) left[2 * q + h] = word_of(own[h], step * mma_words + q);
            }
            multiply_add<0>(sum[i][0][j], left, right);
//@   else
#pragma unroll
            for (int s = 0; s < ${slice // 2}; ++s) {
#pragma unroll
              for (int q = 0; q < mma_words; ++q) {
                const int part = step * mma_words + q;
#pragma unroll
                for (int h = 0; h < 2; ++h) {
//@     if sizeof(operand) == 2 then
                  left[2 * q + h] = __byte_perm(word_of(own[2 * part], s), word_of(own[2 * part + 1], s), h == 0 ? 0x5410 : 0x7632);
//@     else
                  left[2 * q + h] = word_of(own[part], 2 * s + h);
//@     end
                }
              }
              multiply_add<0>(sum[i][s][j], left, right);
            }
//@   end
          }
//@ end
        }
      }
    }
  };
//@ if ahead then
  // The next chunk is on its way while the chunk before is multiplied.
  chunk_of held;
  if (first + warp_k < end) load_chunk(held, first + warp_k);
#pragma unroll 2
  for (index_t c = first + warp_k; c < end; c += warps_k) {
    chunk_of next;
    if (c + warps_k < end) load_chunk(next, c + warps_k);
    multiply_chunk(held, c);
    held = next;
  }
//@ else
  for (index_t c = first + warp_k; c < end; c += warps_k) {
    chunk_of held;
    load_chunk(held, c);
    multiply_chunk(held, c);
  }
//@ end

#pragma unroll
  for (int i = 0; i < units; ++i) {
    const int line = own_x + i * unit_lines;
#pragma unroll
    for (int j = 0; j < y_tiles; ++j) {
//@ if tensor then
#pragma unroll
      for (int s = 0; s < ${tiles_x}; ++s) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          parts(warp_k, line + ${x_along_k and "g + e / 2 * 8" or "g * slice + 2 * s + e / 2"}, j * 8 + 2 * t + e % 2) = sum[i][s][j][e];
        }
      }
//@ else
#pragma unroll
      for (int l = 0; l < ${lines_x}; ++l) {
        accumulator one = sum[i][l][j];
        one += __shfl_xor_sync(0xffffffffu, one, 1);
        one += __shfl_xor_sync(0xffffffffu, one, 2);
        if (j % 4 == t) parts(warp_k, line + ${x_along_k and "g + l * 8" or "g * slice + l"}, j) = one;
      }
//@ end
    }
  }
  __syncthreads();

  // Neighbouring threads store neighbouring elements of C.
//@ local along_x = x_is_a == (C_layout == "col")
  constexpr int results = block_lines * y_lines;
  const auto line_of = [](int e) { return ${along_x and "e % block_lines" or "e / y_lines"}; };
  const auto column_of = [](int e) { return ${along_x and "e / block_lines" or "e % y_lines"}; };
  const auto total_of = [&](int e) {
    accumulator total = parts(0, line_of(e), column_of(e));
#pragma unroll
    for (int w = 1; w < warps_k; ++w) total += parts(w, line_of(e), column_of(e));
    return total;
  };
//@ if split > 1 then
  const index_t tile = static_cast<index_t>(blockIdx.z) * gridDim.x + blockIdx.x;
  accumulator *const shares = workspace + batch * (packed_a + packed_b) + tile * (split * results);
  for (int e = threadIdx.x; e < results; e += threads) shares[part * results + e] = total_of(e);
  if (!is_last(split, tickets + tile)) return;
//@ end
  C_t *const c = ${of_batch("C", C_layout, "M", "N")};
  for (int e = threadIdx.x; e < results; e += threads) {
    if (line_of(e) >= left_x) continue;
//@ if split > 1 then
    accumulator total = shares[e];
#pragma unroll
    for (int p = 1; p < split; ++p) total += shares[p * results + e];
//@ else
    const accumulator total = total_of(e);
//@ end
    const index_t m = ${x_is_a and "x0 + line_of(e)" or "column_of(e)"}, n = ${x_is_a and "column_of(e)" or "x0 + line_of(e)"};
    c[m * C_stride0 + n * C_stride1] = static_cast<C_t>(${stored("total", "m", "n")});
  }
}
