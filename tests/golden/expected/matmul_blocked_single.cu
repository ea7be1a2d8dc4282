// matmul: blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=false group=8 min_blocks=1
// M=4096 N=4096 K=4096 dtype=f32 dtype_c=default layout_a=col layout_b=col layout_c=col pitched=true specialize=false fill=uniform batch=1 scaled=false biased=false activation=none
using index_t = int;
using dtype = float;
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#define vec 4
#define pad 4
#define group 8
#define min_blocks 1
#define slice 4
#define threads 256
#define lanes_n 8
#define lanes_m 4
#define warps_n 2
#define buffers 1
using A_t = float;
#define A_stride1 ((index_t)((((long long)M) + 128LL - 1) / 128LL * 128LL))
using B_t = float;
#define B_stride1 ((index_t)((((long long)K) + 128LL - 1) / 128LL * 128LL))
using C_t = float;
#define C_stride1 ((index_t)((((long long)M) + 128LL - 1) / 128LL * 128LL))
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




// One buffer: a phase brings the tiles in, waits, computes, and waits again. Other blocks on the same
// multiprocessor fill the waits.


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



using tile_a = staged_tile<dtype, BM, BK, BM + pad, vec, threads, 0>;
using tile_b = staged_tile<dtype, BN, BK, BN + pad, vec, threads, 1>;

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

__global__ void __launch_bounds__(threads, min_blocks) matmul_blocked(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, index_t M, index_t N, index_t K, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  alignas(16) __shared__ dtype shared_a[buffers][BK * (BM + pad)];
  alignas(16) __shared__ dtype shared_b[buffers][BK * (BN + pad)];

#line 3 "templates/lib/grouped_tiles.cuh"
  // Blocks run roughly in order of their number. Numbered down `group` rows of tiles before moving a column to the
  // right, the blocks that run together share tiles of both operands, which then come from the L2 cache.
  const index_t tiles_m = (M + (BM - 1)) / BM;
  const index_t tiles_n = (N + (BN - 1)) / BN;
  const index_t block = blockIdx.x;
  const index_t first_row = block / (group * tiles_n) * group;
  const index_t rows = tiles_m - first_row < group ? tiles_m - first_row : group;
  const index_t within = block % (group * tiles_n);
  const index_t row0 = (first_row + within % rows) * BM;
  const index_t col0 = within / rows * BN;
#line 50 "templates/matmul_blocked.cu"

  // This thread's first row and column within the block's tile.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / warps_n * (TM * lanes_m) + lane / lanes_n * slice;
  const int col = warp % warps_n * (TN * lanes_n) + lane % lanes_n * slice;

  // Packs may be used for a tile that lies inside the matrix in an operand that is aligned for them. All threads
  // of the block agree on it, so the question costs one branch a tile.
#line 64 "templates/matmul_blocked.cu"
  const index_t line_a = A_stride1;
  const dtype *from_a = A + row0;
  const index_t step_a = line_a;


  const index_t line_b = B_stride1;
  const dtype *from_b = B + col0 * line_b;
  const index_t step_b = 1;
#line 77 "templates/matmul_blocked.cu"
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

#line 133 "templates/matmul_blocked.cu"
  for (index_t k_left = K; k_left > 0; k_left -= BK) {
    fetch(K - k_left);
    next_a.store(shared_a[0]);
    next_b.store(shared_b[0]);
    __syncthreads(); // read after write: the tiles are complete
    load_fragments(0, 0);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k + 1 < BK) load_fragments(0, k + 1);
      multiply_add(sum, a[k % 2], b[k % 2]);
    }
    __syncthreads(); // write after read: nobody needs the tiles any more
  }


#line 3 "templates/lib/store_sums.cuh"
  // Each slice of C leaves as one pack where the tile lies inside the matrix and C is aligned for it.
#line 11 "templates/lib/store_sums.cuh"
  const index_t line_c = C_stride1;
  const bool whole_c = M - row0 >= BM && N - col0 >= BN && packs_fit<slice>(C, line_c);
#pragma unroll
  for (int i = 0; i < TN; ++i) {
    const int n = col + i / slice * (lanes_n * slice) + i % slice;
    if (n >= N - col0) break;
    dtype *to = C + (col0 + n) * line_c + row0;
#pragma unroll
    for (int s = 0; s < TM / slice; ++s) {
      const int m = row + s * (lanes_m * slice);
      if (whole_c) {
        pack<dtype, slice> part;
#pragma unroll
        for (int e = 0; e < slice; ++e) part.at[e] = ([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum[s * slice + e][i]), (row0 + m + e), (col0 + n)));
        store_pack(to + m, part);
      } else {
#pragma unroll
        for (int e = 0; e < slice; ++e) {
          if (m + e < M - row0) to[m + e] = ([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum[s * slice + e][i]), (row0 + m + e), (col0 + n)));
        }
      }
    }
  }
#line 149 "templates/matmul_blocked.cu"
}
