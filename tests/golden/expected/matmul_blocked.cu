// matmul: blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=1 min_blocks=1
// M=1000 N=1000 K=1000 dtype=f32 dtype_c=default layout_a=row layout_b=row layout_c=row pitched=false specialize=true fill=uniform batch=1 scaled=false biased=false activation=none
using index_t = int;
#define M 1000
#define N 1000
#define K 1000
using dtype = float;
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#define vec 4
#define pad 4
#define min_blocks 1
#define slice 4
#define threads 256
#define lanes_n 8
#define lanes_m 4
#define warps_n 2
#define buffers 2
using A_t = float;
#define A_stride0 1000
using B_t = float;
#define B_stride0 1000
using C_t = float;
#define C_stride0 1000
using workspace_t = float;
using tickets_t = unsigned int;

#line 1 "templates/matmul_blocked.cu"
// C = A * B, blocked twice: a block of threads computes a BM x BN tile of C from BM x BK and BK x BN tiles in shared
// memory, and a thread computes TM x TN of it in registers. Each step along k loads TM + TN elements from shared
// memory for TM * TN multiply-adds, so that the arithmetic units and not the memories are the limit.
//
// Who computes what. A thread's rows and columns come in slices of 16 bytes, one 128-bit access each. The threads
// of a warp stand side by side within a slice, lanes_m by lanes_n of them, and a thread's next slice is a whole
// row of lanes further on: the lanes of a warp then read one contiguous stretch of shared memory, without bank
// conflicts, and lanes in the same row or column of the warp read the same word, which is a broadcast.
//

// Two buffers: while the products of one tile are computed, the next tile is on its way from global memory to
// registers; it is then stored to the other buffer, so that a phase needs one barrier and waits for no load.





#line 1 "templates/lib/pack.cuh"
// `Width` neighbouring elements that move in one access. Memory instructions move at most 16 bytes a thread, and an
// access of Width elements needs an address that is a multiple of their size.
template <typename T, int Width> struct alignas(Width * sizeof(T)) pack {
  T at[Width];
};

template <int Width, typename T> __device__ __forceinline__ void check_pack(const T *at) {
#ifdef __CUGEN_CPU__
  if (reinterpret_cast<size_t>(at) % (Width * sizeof(T))) __trap(); // as a GPU does; other processors forgive it
#endif
}

template <int Width, typename T> __device__ __forceinline__ pack<T, Width> load_pack(const T *from) {
  check_pack<Width>(from);
  return *reinterpret_cast<const pack<T, Width> *>(from);
}

template <int Width, typename T> __device__ __forceinline__ void store_pack(T *to, const pack<T, Width> &values) {
  check_pack<Width>(to);
  *reinterpret_cast<pack<T, Width> *>(to) = values;
}

// Whether packs may start at base and at base plus any multiple of stride. With one element they always may.
template <int Width, typename T> __device__ __forceinline__ bool packs_fit(const T *base, index_t stride) {
  return Width == 1 || (stride % Width == 0 && reinterpret_cast<size_t>(base) % (Width * sizeof(T)) == 0);
}
#line 2 "templates/lib/tile.cuh"

// One operand's tile on its way from global memory, through registers, to shared memory.
//
// In shared memory a tile always lies as [k][i], where i runs along M for A and along N for B: what one step of
// the product needs then stands side by side and loads 16 bytes at a time. So an operand whose k is contiguous in
// global memory (A stored by rows, B by columns) is transposed on its way in; the other kind is copied.
//
// Extent       elements of the tile along i
// Depth        elements along k
// Lead         distance in shared memory from one k to the next: Extent plus padding, which moves the transposed
//              stores of a warp to different banks
// Width        elements in one global access
// Threads      threads of the block, which share the work
// k_contiguous whether k or i is contiguous in global memory. A line is a stretch that is: Depth or Extent long
template <typename T, int Extent, int Depth, int Lead, int Width, int Threads, bool k_contiguous> struct staged_tile {
  static constexpr int packs_per_line = (k_contiguous ? Depth : Extent) / Width;
  static constexpr int packs_per_thread = Extent * Depth / (Width * Threads);

  pack<T, Width> held[packs_per_thread];

  // Where the thread's p-th pack lies. Neighbouring threads take neighbouring packs of a line, so that a warp's
  // accesses fall into few 32-byte sectors.
  static __device__ __forceinline__ int line(int p) {
    return (p * Threads + static_cast<int>(threadIdx.x)) / packs_per_line;
  }
  static __device__ __forceinline__ int along(int p) {
    return (p * Threads + static_cast<int>(threadIdx.x)) % packs_per_line * Width;
  }

  // The whole tile lies inside the matrix and its packs are aligned: no question asked.
  // origin: the tile's first element; stride: from one line to the next.
  __device__ __forceinline__ void fetch(const T *origin, index_t stride) {
#pragma unroll
    for (int p = 0; p < packs_per_thread; ++p) held[p] = load_pack<Width>(origin + line(p) * stride + along(p));
  }

  // Anywhere else: one element at a time, with zeros for what lies outside the matrix, which add nothing to the
  // product. i_left, k_left: elements from the origin to the matrix's end.
  __device__ __forceinline__ void fetch_guarded(const T *origin, index_t stride, index_t i_left, index_t k_left) {
    const index_t lines_left = k_contiguous ? i_left : k_left;
    const index_t along_left = k_contiguous ? k_left : i_left;
#pragma unroll
    for (int p = 0; p < packs_per_thread; ++p) {
#pragma unroll
      for (int e = 0; e < Width; ++e) {
        const bool inside = line(p) < lines_left && along(p) + e < along_left;
        held[p].at[e] = inside ? origin[line(p) * stride + along(p) + e] : T(0);
      }
    }
  }

  __device__ __forceinline__ void store(T *shared) const {
#pragma unroll
    for (int p = 0; p < packs_per_thread; ++p) {
      if (k_contiguous) {
#pragma unroll
        for (int e = 0; e < Width; ++e) shared[(along(p) + e) * Lead + line(p)] = held[p].at[e];
      } else {
        store_pack<Width>(shared + line(p) * Lead + along(p), held[p]);
      }
    }
  }
};
#line 20 "templates/matmul_blocked.cu"



using tile_a = staged_tile<dtype, BM, BK, BM + pad, vec, threads, 1>;
using tile_b = staged_tile<dtype, BN, BK, BN + pad, vec, threads, 0>;

// A thread's elements of one k: `count` of them in slices that are `step` apart.
template <int count, int step>
__device__ __forceinline__ void load_fragment(dtype (&fragment)[count], const dtype *from) {
#pragma unroll
  for (int s = 0; s < count / slice; ++s) {
    const pack<dtype, slice> part = load_pack<slice>(from + s * step);
#pragma unroll
    for (int e = 0; e < slice; ++e) fragment[s * slice + e] = part.at[e];
  }
}

__device__ __forceinline__ void multiply_add(dtype (&sum)[TM][TN], const dtype (&a)[TM], const dtype (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
  }
}

__global__ void __launch_bounds__(threads, min_blocks) matmul_blocked(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  alignas(16) __shared__ dtype shared_a[buffers][BK * (BM + pad)];
  alignas(16) __shared__ dtype shared_b[buffers][BK * (BN + pad)];

#line 14 "templates/lib/grouped_tiles.cuh"
  const index_t tiles_n = (N + (BN - 1)) / BN;
  const index_t row0 = blockIdx.x / tiles_n * BM;
  const index_t col0 = blockIdx.x % tiles_n * BN;
#line 50 "templates/matmul_blocked.cu"

  // This thread's first row and column within the block's tile.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / warps_n * (TM * lanes_m) + lane / lanes_n * slice;
  const int col = warp % warps_n * (TN * lanes_n) + lane % lanes_n * slice;

  // Packs may be used for a tile that lies inside the matrix in an operand that is aligned for them. All threads
  // of the block agree on it, so the question costs one branch a tile.

  const index_t line_a = A_stride0;
  const dtype *from_a = A + row0 * line_a;
  const index_t step_a = 1;
#line 73 "templates/matmul_blocked.cu"
  const index_t line_b = B_stride0;
  const dtype *from_b = B + col0;
  const index_t step_b = line_b;

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
  const auto load_fragments = [&](int buffer, int k) {
    load_fragment<TM, lanes_m * slice>(a[k % 2], shared_a[buffer] + k * (BM + pad) + row);
    load_fragment<TN, lanes_n * slice>(b[k % 2], shared_b[buffer] + k * (BN + pad) + col);
  };


  fetch(0);
  next_a.store(shared_a[0]);
  next_b.store(shared_b[0]);
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
        next_a.store(shared_a[buffer]);
        next_b.store(shared_b[buffer]);
        __syncthreads();
        load_fragments(buffer, 0);
      }
      multiply_add(sum, a[k % 2], b[k % 2]);
    }
  }
#line 147 "templates/matmul_blocked.cu"

#line 3 "templates/lib/store_sums.cuh"
  // Each slice of C leaves as one pack where the tile lies inside the matrix and C is aligned for it.
#line 11 "templates/lib/store_sums.cuh"
  const index_t line_c = C_stride0;
  const bool whole_c = M - row0 >= BM && N - col0 >= BN && packs_fit<slice>(C, line_c);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int m = row + i / slice * (lanes_m * slice) + i % slice;
    if (m >= M - row0) break;
    dtype *to = C + (row0 + m) * line_c + col0;
#pragma unroll
    for (int s = 0; s < TN / slice; ++s) {
      const int n = col + s * (lanes_n * slice);
      if (whole_c) {
        pack<dtype, slice> part;
#pragma unroll
        for (int e = 0; e < slice; ++e) part.at[e] = ([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum[i][s * slice + e]), (row0 + m), (col0 + n + e)));
        store_pack(to + n, part);
      } else {
#pragma unroll
        for (int e = 0; e < slice; ++e) {
          if (n + e < N - col0) to[n + e] = ([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum[i][s * slice + e]), (row0 + m), (col0 + n + e)));
        }
      }
    }
  }
#line 149 "templates/matmul_blocked.cu"
}
