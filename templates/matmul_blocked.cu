// C = A * B, blocked twice: a block of threads computes a BM x BN tile of C from BM x BK and BK x BN tiles in shared
// memory, and a thread computes TM x TN of it in registers. Each step along k loads TM + TN elements from shared
// memory for TM * TN multiply-adds, so that the arithmetic units and not the memories are the limit.
//
// Who computes what. A thread's rows and columns come in slices of 16 bytes, one 128-bit access each. The threads
// of a warp stand side by side within a slice, lanes_m by lanes_n of them, and a thread's next slice is a whole
// row of lanes further on: the lanes of a warp then read one contiguous stretch of shared memory, without bank
// conflicts, and lanes in the same row or column of the warp read the same word, which is a broadcast.
//
//@ if double_buffer then
// Two buffers: while the products of one tile are computed, the next tile is on its way from global memory to
// registers; it is then stored to the other buffer, so that a phase needs only one barrier.
//@ else
// One buffer: a phase brings the tiles in, waits, computes, and waits again. Other blocks on the same
// multiprocessor fill the waits.
//@ end

//@ include "lib/tile.cuh"
//@ include "lib/batch.cuh"

//@ local a_along_k = A_layout == "row"
//@ local b_along_k = B_layout == "col"
using tile_a = staged_tile<dtype, BM, BK, BM + pad, vec, threads, ${a_along_k}>;
using tile_b = staged_tile<dtype, BN, BK, BN + pad, vec, threads, ${b_along_k}>;

// Loads a thread's `count` elements of one k, in slices that are `step` apart.
template <int count, int step>
__device__ __forceinline__ void load_fragment(dtype (&fragment)[count], const dtype *from) {
#pragma unroll
  for (int s = 0; s < count / slice; ++s) load_elements<slice>(fragment + s * slice, from + s * step);
}

__device__ __forceinline__ void multiply_add(dtype (&sum)[TM][TN], const dtype (&a)[TM], const dtype (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
  }
}

__global__ void __launch_bounds__(threads, min_blocks) matmul_blocked(${params}) {
//@ include "lib/grouped_tiles.cuh"

  // This thread's first row and column within the block's tile.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / warps_n * (TM * lanes_m) + lane / lanes_n * slice;
  const int col = warp % warps_n * (TN * lanes_n) + lane % lanes_n * slice;

  // A tile is moved by packs if it lies inside the matrix and the operand is aligned for packs. All threads of the
  // block decide alike, so the decision costs one branch a tile.
  const index_t line_a = ${a_along_k and "A_stride0" or "A_stride1"}, step_a = A_stride1;
  const index_t line_b = ${b_along_k and "B_stride1" or "B_stride0"}, step_b = B_stride0;
  const dtype *from_a = ${of_batch("A", A_layout, "M", "K")} + row0 * A_stride0;
  const dtype *from_b = ${of_batch("B", B_layout, "K", "N")} + col0 * B_stride1;
  const bool whole_a = M - row0 >= BM && packs_fit<vec>(A, line_a);
  const bool whole_b = N - col0 >= BN && packs_fit<vec>(B, line_b);

  tile_a next_a;
  tile_b next_b;
  // Brings the tiles that start at k0 to registers.
  const auto fetch = [&](index_t k0) {
    const bool whole_k = K - k0 >= BK;
    if (whole_a && whole_k) {
      next_a.fetch(from_a + k0 * step_a, line_a);
    } else {
      next_a.fetch_guarded(from_a + k0 * step_a, line_a, M - row0, K - k0);
    }
    if (whole_b && whole_k) {
      next_b.fetch(from_b + k0 * step_b, line_b);
    } else {
      next_b.fetch_guarded(from_b + k0 * step_b, line_b, N - col0, K - k0);
    }
  };

  dtype sum[TM][TN] = {};
  // The fragments of one k are loaded while those of the k before are multiplied.
  dtype a[2][TM];
  dtype b[2][TN];
  // There is one address for each buffer: an address for each k would take the registers that the sums need.
  const auto load_fragments = [&](int buffer, int k) {
    load_fragment<TM, lanes_m * slice>(a[k % 2], shared_a.at(buffer, 0, 0) + k * (BM + pad) + row);
    load_fragment<TN, lanes_n * slice>(b[k % 2], shared_b.at(buffer, 0, 0) + k * (BN + pad) + col);
  };

//@ if double_buffer then
  fetch(0);
  next_a.store(shared_a.at(0, 0, 0));
  next_b.store(shared_b.at(0, 0, 0));
  __syncthreads();
  load_fragments(0, 0);

  int buffer = 0;
  for (index_t k_left = K; k_left > 0; k_left -= BK) {
    const bool more = k_left > BK;
    if (more) fetch(K - k_left + BK);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k + 1 < BK) {
        load_fragments(buffer, k + 1);
      } else if (more) {
        // The other buffer was last read before the barrier of the phase before, so it is free to be filled.
        buffer ^= 1;
        next_a.store(shared_a.at(buffer, 0, 0));
        next_b.store(shared_b.at(buffer, 0, 0));
        __syncthreads();
        load_fragments(buffer, 0);
      }
      multiply_add(sum, a[k % 2], b[k % 2]);
    }
  }
//@ else
  for (index_t k_left = K; k_left > 0; k_left -= BK) {
    fetch(K - k_left);
    next_a.store(shared_a.at(0, 0, 0));
    next_b.store(shared_b.at(0, 0, 0));
    __syncthreads(); // read after write: the tiles are complete
    load_fragments(0, 0);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k + 1 < BK) load_fragments(0, k + 1);
      multiply_add(sum, a[k % 2], b[k % 2]);
    }
    __syncthreads(); // write after read: nobody needs the tiles any more
  }
//@ end

//@ include "lib/store_sums.cuh"
}
