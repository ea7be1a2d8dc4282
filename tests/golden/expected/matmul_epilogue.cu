// matmul: pipelined BM=128 BN=256 BK=16 TM=16 TN=8 lanes_m=4 order=rows bursts=7 stages=4 group=8 split=1
// M=4096 N=4096 K=4096 dtype=f32 dtype_c=default layout_a=row layout_b=row layout_c=col pitched=false specialize=false fill=uniform batch=1 scaled=true biased=true activation=relu
using index_t = int;
using dtype = float;
#define BM 128
#define BN 256
#define BK 16
#define TM 16
#define TN 8
#define lanes_m 4
#define bursts 7
#define stages 4
#define group 8
#define slice 4
#define lanes_n 8
#define WM 64
#define WN 64
#define warps_n 4
#define threads 256
using A_t = float;
#define A_stride0 ((index_t)(K))
#define A_stride1 1
using B_t = float;
#define B_stride0 ((index_t)(N))
#define B_stride1 1
using C_t = float;
#define C_stride0 1
#define C_stride1 ((index_t)(M))
using D_t = float;
#define D_stride0 1
#define D_stride1 ((index_t)(M))
using bias_t = float;
using workspace_t = float;
using tickets_t = unsigned int;

#line 1 "templates/matmul_pipelined.cu"
// C = A * B, blocked three times: a block of threads computes a BM x BN tile of C, a warp a WM x WN part of it, a
// thread TM x TN elements in registers. Tiles of A and B travel from global to shared memory by asynchronous copies,
// stages - 1 of them ahead of the one that is being multiplied.
//
// What limits it is the rate at which instructions are issued, so the inner loop has next to nothing besides its
// multiply-adds: no question about the matrix's edges, no value on its way through registers, and a phase's
// addresses are constants from one base.
#line 14 "templates/matmul_pipelined.cu"

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
#line 1 "templates/lib/async_copy.cuh"
// Copies from global to shared memory that go on while the thread computes (cp.async, sm_80 and later). A thread's
// copies between two commits are a group; wait<N> returns when all its groups but the N latest have arrived. Other
// threads see them after a barrier that follows the wait.
//
// Capacity  copies that a thread has on the way at most. Only the CPU needs to know: there a copy is made when it is
//           waited for, as late as a GPU may make it, so that a wait that is missing or too weak shows.
template <int Capacity> class async_copies {
#ifdef __CUGEN_CPU__
  struct copy {
    void *to;
    const void *from; // null: zeros
    size_t bytes;
    int of_group;
  };
  copy on_the_way[Capacity];
  int first = 0, count = 0, commits = 0;

  void add(void *to, const void *from, size_t bytes) {
    assert(count < Capacity);
    assert(reinterpret_cast<size_t>(to) % bytes == 0 && reinterpret_cast<size_t>(from) % bytes == 0);
    on_the_way[(first + count++) % Capacity] = {to, from, bytes, commits};
    if (from) cugen_note(from, bytes, CPU_ASYNC);
    cugen_note(to, bytes, CPU_WRITE | CPU_ASYNC);
  }

public:
  template <int Bytes> void start_if(bool wanted, void *to, const void *from) {
    if (wanted) add(to, from, Bytes);
  }
  template <int Bytes> void start_or_zero(bool inside, void *to, const void *from) {
    add(to, inside ? from : nullptr, Bytes);
  }
  void commit() { ++commits; }
  template <int Latest> void wait() {
    for (; count > 0 && on_the_way[first].of_group < commits - Latest; --count, first = (first + 1) % Capacity) {
      const copy &done = on_the_way[first];
      cugen_note_arrived(done.to, done.bytes);
      cugen_copy(done.to, done.from, done.bytes);
    }
  }
#else
  static __device__ __forceinline__ unsigned shared_address(void *to) {
    return static_cast<unsigned>(__cvta_generic_to_shared(to));
  }

public:
  // Bytes  4, 8 or 16; both addresses are multiples of it. 16 bytes go past the L1 cache.
  template <int Bytes> __device__ __forceinline__ void start_if(bool wanted, void *to, const void *from) {
    if (Bytes == 16) {
      asm volatile("{.reg .pred wanted; setp.ne.b32 wanted, %0, 0; @wanted cp.async.cg.shared.global [%1], [%2], 16;}" ::"r"(
                       static_cast<int>(wanted)),
                   "r"(shared_address(to)), "l"(from));
    } else {
      asm volatile("{.reg .pred wanted; setp.ne.b32 wanted, %0, 0; @wanted cp.async.ca.shared.global [%1], [%2], %3;}" ::"r"(
                       static_cast<int>(wanted)),
                   "r"(shared_address(to)), "l"(from), "n"(Bytes));
    }
  }
  // Zeros where not inside; `from` is not read then.
  template <int Bytes> __device__ __forceinline__ void start_or_zero(bool inside, void *to, const void *from) {
    const int count = inside ? Bytes : 0;
    if (Bytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(count));
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(Bytes),
                   "r"(count));
    }
  }
  __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
  template <int Latest> __device__ __forceinline__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Latest) : "memory");
  }
#endif
};
#line 2 "templates/lib/async_tile.cuh"

// One operand's tile on its way from global to shared memory without passing through registers.
//
// In shared memory a tile always lies as [k][i], where i runs along M for A and along N for B: what one step of the
// product needs then stands side by side and loads 16 bytes at a time. An operand whose k is contiguous in global
// memory (A stored by rows, B by columns) is transposed on the way, one element a copy; the other kind is copied
// Width elements at a time.
//
// Extent       elements of the tile along i
// Depth        elements along k
// Lead         distance in shared memory from one k to the next: Extent, and padding when the tile is transposed,
//              which sends the elements that a warp's copies store to different banks
// Width        elements in one copy; 1 when the tile is transposed
// Threads      threads of the block, which share the work
// k_contiguous whether k or i is contiguous in global memory
//
// What lies beyond the operand's end along i is never asked about: a copy there reads the last element (or pack)
// again, and what is computed from it is not stored. Along k the first tile may be short, and has zeros there.
template <typename T, int Extent, int Depth, int Lead, int Width, int Threads, bool k_contiguous> struct async_tile {
  static constexpr int copies = Extent * Depth / (Width * Threads);

  // Transposed, 32 bytes along k are a sector of global memory; with Lead = Extent + 4 the copies of a warp, one
  // sector in each of its lines, go to different banks.
  static constexpr int sector = 32 / sizeof(T);
  static constexpr int across = k_contiguous ? sector : Extent / Width; // copies side by side in global memory
  static constexpr int lines = Threads / across;                       // lines of them in a pass of the block

  // From the thread's first copy to its p-th, within the tile.
  static __device__ constexpr int step_i(int p) {
    return k_contiguous ? p * lines % Extent : lines > 0 ? 0 : p * Threads * Width % Extent;
  }
  static __device__ constexpr int step_k(int p) {
    return k_contiguous ? p * lines / Extent * sector : lines > 0 ? p * lines : p * Threads * Width / Extent;
  }

  int own_k;             // of the thread's first copy
  int own_at;            // where it goes in shared memory
  const T *from[copies]; // where its next copies come from

  // origin: the tile's first element; stride: from one line to the next; i_left: elements from the tile's first to
  // the operand's end along i.
  __device__ __forceinline__ async_tile(const T *origin, index_t stride, index_t i_left) {
    const int t = threadIdx.x;
    const int own_i = k_contiguous ? t / across : t % across * Width;
    own_k = k_contiguous ? t % across : t / across;
    own_at = own_k * Lead + own_i;
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      const index_t wanted = own_i + step_i(p);
      const index_t i = wanted < i_left ? wanted : i_left - Width;
      const index_t k = own_k + step_k(p);
      from[p] = origin + (k_contiguous ? i * stride + k : k * stride + i);
    }
  }

  __device__ __forceinline__ void advance(index_t by) {
#pragma unroll
    for (int p = 0; p < copies; ++p) from[p] += by;
  }

  // The p-th copy of the tile, only when wanted.
  template <class Copies>
  __device__ __forceinline__ void start(Copies &on_the_way, int p, T *shared, bool wanted) const {
    T *to = shared + own_at;
    on_the_way.template start_if<Width * sizeof(T)>(wanted, to + (step_k(p) * Lead + step_i(p)), from[p]);
  }
  // The first tile, of which only k_left are there along k.
  template <class Copies>
  __device__ __forceinline__ void start_short(Copies &on_the_way, T *shared, index_t k_left) const {
    T *to = shared + own_at;
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      const bool inside = own_k + step_k(p) < k_left;
      on_the_way.template start_or_zero<Width * sizeof(T)>(inside, to + (step_k(p) * Lead + step_i(p)), from[p]);
    }
  }
};
#line 18 "templates/matmul_pipelined.cu"



using tile_a = async_tile<dtype, BM, BK, 132, 1, threads, 1>;
using tile_b = async_tile<dtype, BN, BK, 256, 4, threads, 0>;




// A slice of a thread's elements of one k.
__device__ __forceinline__ void load_slice(dtype *fragment, const dtype *from) {
  const pack<dtype, slice> part = load_pack<slice>(from);
#pragma unroll
  for (int e = 0; e < slice; ++e) fragment[e] = part.at[e];
}

__global__ void __launch_bounds__(threads, 1) matmul_pipelined(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, index_t M, index_t N, index_t K, const D_t *__restrict__ D, const bias_t *__restrict__ bias, float alpha, float beta, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  extern __shared__ dtype shared[]; // stages of a tile of A and one of B
  constexpr int stage_a = BK * 132;
  constexpr int stage = stage_a + BK * 256;

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
#line 40 "templates/matmul_pipelined.cu"

  // This thread's first row and column within the block's tile. Neighbouring lanes share columns in pairs and rows
  // from one pair to the next, so that the hardware merges what half a warp loads into one access of 128 bytes.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / warps_n * WM + (lane / (2 * lanes_n) * 2 + lane % 2) * slice;
  const int col = warp % warps_n * WN + lane / 2 % lanes_n * slice;

#line 53 "templates/matmul_pipelined.cu"
  const index_t line_a = A_stride0;
  const index_t across_a = M;
  const dtype *from_a = A + row0 * A_stride0;
#line 62 "templates/matmul_pipelined.cu"
  const index_t line_b = B_stride0;
  const index_t across_b = N;
  const dtype *from_b = B + col0 * B_stride1;

  const index_t step_a = 1;
  const index_t step_b = line_b;

#line 74 "templates/matmul_pipelined.cu"
  // An application's operand that wide copies may not start at: slow, but right.
  if (!packs_fit<4>(B, line_b)) {



    const dtype *const all_a = A;
    const dtype *const all_b = B;
    dtype *const c = C;
#pragma unroll 1
    for (int e = 0; e < TM * TN; ++e) {
      const index_t m = row0 + row + e / TN / slice * (lanes_m * slice) + e / TN % slice;
      const index_t n = col0 + col + e % TN / slice * (lanes_n * slice) + e % TN % slice;
      if (m >= M || n >= N) continue;
      const dtype *a = all_a + m * A_stride0;
      const dtype *b = all_b + n * B_stride1;
      dtype sum = 0;
#pragma unroll 1
      for (index_t k = 0; k < K; ++k) sum += a[k * A_stride1] * b[k * B_stride0];
      c[m * C_stride0 + n * C_stride1] = ([&](auto __v_acc, auto __v_m, auto __v_n) -> decltype(__v_acc) { using __t = decltype(__v_acc); return ([](auto __x) { return __x < 0 ? decltype(__x)(0) : __x; }(((__t(alpha) * __v_acc) + (__t(beta) * __t(D[__v_m * D_stride0 + __v_n * D_stride1]))) + __t(bias[__v_n]))); }((sum), (m), (n)));
    }
    return;
  }


  // The first tile is the one that may be short along k, so that the loop below knows only whole ones.
#line 112 "templates/matmul_pipelined.cu"
  index_t left = (K + (BK - 1)) / BK;
  const index_t first_k = K - (left - 1) * BK;


  tile_a next_a(from_a, line_a, across_a - row0);
  tile_b next_b(from_b, line_b, across_b - col0);
  async_copies<(stages - 1) * (tile_a::copies + tile_b::copies)> on_the_way;

  constexpr int copies = tile_a::copies + tile_b::copies;
  // Starts some of the next tiles' copies, from the first of them up to the last; their end is the end of a group.
  const auto copy_tiles = [&](int at, bool wanted, int first, int last) {
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      if (p < first || p >= last) continue;
      if (p < tile_b::copies) {
        next_b.start(on_the_way, p, shared + at + stage_a, wanted);
      } else {
        next_a.start(on_the_way, p - tile_b::copies, shared + at, wanted);
      }
    }
    if (last < copies) return;
    on_the_way.commit();
    next_a.advance(BK * step_a);
    next_b.advance(BK * step_b);
  };

  next_a.start_short(on_the_way, shared, first_k);
  next_b.start_short(on_the_way, shared + stage_a, first_k);
  on_the_way.commit();
  next_a.advance(first_k * step_a);
  next_b.advance(first_k * step_b);
#pragma unroll
  for (int s = 1; s < stages - 1; ++s) copy_tiles(s * stage, s < left, 0, copies);

  dtype sum[TM][TN] = {};
  // The fragments of one k are loaded while those of the k before are multiplied.
  dtype a[2][TM];
  dtype b[2][TN];
  const dtype *const own_a = shared + row;
  const dtype *const own_b = shared + stage_a + col;
  const auto load_a = [&](int at, int k, int s) {
    load_slice(a[k % 2] + s * slice, own_a + at + k * 132 + s * (lanes_m * slice));
  };
  const auto load_b = [&](int at, int k, int s) {
    load_slice(b[k % 2] + s * slice, own_b + at + k * 256 + s * (lanes_n * slice));
  };
  // The products of one k, among which the loads of the next one's fragments are spread. They go to and fro along the
  // rows: each then has an operand in common with the one before, which need not be read from the registers again.
  const auto step = [&](int k, int next_at, int next_k) {




    load_b(next_at, next_k, 0);



#pragma unroll
    for (int e = 0; e < 21; ++e) {

      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;




      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }
#line 165 "templates/matmul_pipelined.cu"
    load_b(next_at, next_k, 1);



#pragma unroll
    for (int e = 21; e < 42; ++e) {

      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;




      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }
#line 167 "templates/matmul_pipelined.cu"
    load_a(next_at, next_k, 0);

#pragma unroll
    for (int e = 42; e < 64; ++e) {

      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;




      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }
#line 167 "templates/matmul_pipelined.cu"
    load_a(next_at, next_k, 1);

#pragma unroll
    for (int e = 64; e < 85; ++e) {

      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;




      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }
#line 167 "templates/matmul_pipelined.cu"
    load_a(next_at, next_k, 2);

#pragma unroll
    for (int e = 85; e < 106; ++e) {

      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;




      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }
#line 167 "templates/matmul_pipelined.cu"
    load_a(next_at, next_k, 3);

#pragma unroll
    for (int e = 106; e < 128; ++e) {

      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;




      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }

  };

  on_the_way.wait<stages - 2>();
  __syncthreads();
#pragma unroll
  for (int s = 0; s < TN / slice; ++s) load_b(0, 0, s);
#pragma unroll
  for (int s = 0; s < TM / slice; ++s) load_a(0, 0, s);
  constexpr int every = (BK - 1) / bursts; // steps along k from one burst to the next
  int reading = 0;
  int writing = (stages - 1) * stage; // the stage that everybody is done with
  for (;;) {
#pragma unroll
    for (int k = 0; k < BK - 1; ++k) {
      if (k % every == 0 && k / every < bursts) {
        copy_tiles(writing, left >= stages, k / every * copies / bursts, (k / every + 1) * copies / bursts);
      }
      step(k, reading, k + 1);
    }
    if (--left == 0) break;
    on_the_way.wait<stages - 2>();
    __syncthreads();
    writing = reading;
    reading = reading == (stages - 1) * stage ? 0 : reading + stage;
    step(BK - 1, reading, 0);
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] += a[(BK - 1) % 2][i] * b[(BK - 1) % 2][j];
  }


  // Changes nothing, but the compiler does not know that threadIdx.z is 0. Else it would keep each slice of the sums in
  // four registers in a row, as its store wants them, where they share register banks with the operands above.
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = __uint_as_float(__float_as_uint(sum[i][j]) | threadIdx.z);
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
        for (int e = 0; e < slice; ++e) part.at[e] = ([&](auto __v_acc, auto __v_m, auto __v_n) -> decltype(__v_acc) { using __t = decltype(__v_acc); return ([](auto __x) { return __x < 0 ? decltype(__x)(0) : __x; }(((__t(alpha) * __v_acc) + (__t(beta) * __t(D[__v_m * D_stride0 + __v_n * D_stride1]))) + __t(bias[__v_n]))); }((sum[s * slice + e][i]), (row0 + m + e), (col0 + n)));
        store_pack(to + m, part);
      } else {
#pragma unroll
        for (int e = 0; e < slice; ++e) {
          if (m + e < M - row0) to[m + e] = ([&](auto __v_acc, auto __v_m, auto __v_n) -> decltype(__v_acc) { using __t = decltype(__v_acc); return ([](auto __x) { return __x < 0 ? decltype(__x)(0) : __x; }(((__t(alpha) * __v_acc) + (__t(beta) * __t(D[__v_m * D_stride0 + __v_n * D_stride1]))) + __t(bias[__v_n]))); }((sum[s * slice + e][i]), (row0 + m + e), (col0 + n)));
        }
      }
    }
  }
#line 254 "templates/matmul_pipelined.cu"
}
