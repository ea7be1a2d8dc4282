// matmul: mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 group=8 min_blocks=1 f64_rows=8 f64_k=4
// M=4096 N=4096 K=4096 dtype=tf32 dtype_c=default layout_a=col layout_b=row layout_c=row pitched=false specialize=false fill=uniform batch=1 scaled=false biased=false activation=none
using index_t = int;
#define BM 64
#define BN 64
#define WM 32
#define WN 32
#define stages 3
#define group 8
#define min_blocks 1
using accumulator = float;
#define BK 16
#define threads 128
#define store_width 4
using A_t = float;
#define A_stride1 ((index_t)(M))
using B_t = float;
#define B_stride0 ((index_t)(N))
using C_t = float;
#define C_stride0 ((index_t)(N))
using workspace_t = float;
using tickets_t = unsigned int;

#line 1 "templates/matmul_mma.cu"
// C = A * B on tensor cores by mma.sync, for any GPU of compute capability 8.0 and later. A block of threads computes a
// BM x BN tile of C, a warp a WM x WN part of it. Tiles of A and B travel from global to shared memory by asynchronous
// copies, stages - 1 of them ahead of the one that is being multiplied.
//
// C is computed by its lines. Those of a C that is stored by columns are its columns, and its transpose is the product
// of the operands' transposes the other way around: X is the operand whose lines (i) are C's, Y the other one.

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
#line 1 "templates/lib/swizzled_tile.cuh"

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
#line 3 "templates/lib/swizzled_tile.cuh"

// One operand's tile on its way from global to shared memory, where it lies as in global memory: line after line, packs
// of 16 bytes in a line. Within a line the packs are exchanged by an exclusive or with the line's number, so that what
// a warp reads together, packs of neighbouring lines, comes from different banks without a byte of padding.
//
// Extent       elements of the tile along the operand's own dimension i: M for A, N for B
// Depth        elements along k
// k_contiguous whether k or i is contiguous in global memory: lines run along it
// Span         neighbouring packs that a warp reads of each line together: 1 by ldmatrix, 2 by single elements
// Width        elements in one copy, of 16 bytes at most; what cp.async cannot copy (2 bytes and less) passes through
//              a register
// Threads      threads of the block, which share the work
//
// What lies beyond the operand's end along i is never asked about: a copy there reads the last element (or pack)
// again, and what is computed from it is not stored. Along k the first tile may be short, and has zeros there.
template <typename T, int Extent, int Depth, bool k_contiguous, int Span, int Width, int Threads>
struct swizzled_tile {
  static constexpr bool along_k = k_contiguous;
  static constexpr int depth = Depth;
  static constexpr int size = Extent * Depth;
  static constexpr int pack_size = 16 / sizeof(T);
  static constexpr int line_size = k_contiguous ? Depth : Extent;
  static constexpr int copies = size / (Width * Threads);

  // A line's packs change places by groups of Span. 128 bytes are all banks once: shorter lines share them.
  static constexpr int groups = line_size / pack_size / Span;
  static constexpr int lines_together = groups < 8 / Span ? 8 / Span / groups : 1;
  static constexpr int period = groups < 8 / Span ? groups : 8 / Span;
  static_assert(groups % period == 0 && (period & (period - 1)) == 0, "packs must stay in their line");

  // Of the element `along` in `line`. The same for lines that are 8 apart but for the line's own distance.
  static __device__ __forceinline__ int place(int line, int along) {
    const int moved = along / pack_size ^ line / lines_together % period * Span;
    return line * line_size + moved * pack_size + along % pack_size;
  }

  // The thread's p-th copy: neighbouring threads take neighbouring copies of a line. Where the block copies whole lines
  // at once, it is as far along its line as the first, and as many lines further down.
  static constexpr int across = line_size / Width;
  static constexpr bool whole_lines = Threads % across == 0;
  static constexpr int lines_at_once = whole_lines ? Threads / across : 0;
  static __device__ __forceinline__ int line(int p) {
    const int t = threadIdx.x;
    return whole_lines ? t / across + p * lines_at_once : (p * Threads + t) / across;
  }
  static __device__ __forceinline__ int along(int p) {
    const int t = threadIdx.x;
    return (whole_lines ? t % across : (p * Threads + t) % across) * Width;
  }
  static __device__ __forceinline__ int target(int p) {
    if constexpr (whole_lines && lines_at_once % 8 == 0) {
      return place(line(0), along(0)) + p * (lines_at_once * line_size);
    } else {
      return place(line(p), along(p));
    }
  }

  const T *from;  // the tile's first element
  index_t stride; // from one line to the next
  index_t i_left; // elements from the tile's first to the operand's end along i

  __device__ __forceinline__ swizzled_tile(const T *origin, index_t line_stride, index_t left)
      : from(origin), stride(line_stride), i_left(left) {}

  __device__ __forceinline__ const T *source(int p) const {
    const index_t wanted = k_contiguous ? line(p) : along(p);
    const index_t i = wanted < i_left ? wanted : i_left - (k_contiguous ? 1 : Width); // past the end the last ones
    return k_contiguous ? from + along(p) + i * stride : from + i + line(p) * stride;
  }

  __device__ __forceinline__ void advance(index_t by) {
    from += by;
  }

  // The p-th copy of the tile, only when wanted.
  template <class Copies>
  __device__ __forceinline__ void start(Copies &on_the_way, int p, T *shared, bool wanted) const {
    T *to = shared + target(p);
    if constexpr (Width * sizeof(T) < 4) {
      if (wanted) store_pack(to, load_pack<Width>(source(p)));
    } else {
      on_the_way.template start_if<Width * sizeof(T)>(wanted, to, source(p));
    }
  }
  // The first tile, of which only k_left are there along k.
  template <class Copies>
  __device__ __forceinline__ void start_short(Copies &on_the_way, T *shared, index_t k_left) const {
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      T *to = shared + target(p);
      const bool inside = (k_contiguous ? along(p) : line(p)) < k_left;
      if constexpr (Width * sizeof(T) < 4) {
        store_pack(to, inside ? load_pack<Width>(source(p)) : pack<T, Width>{});
      } else {
        on_the_way.template start_or_zero<Width * sizeof(T)>(inside, to, source(p));
      }
    }
  }
};
#line 1 "templates/lib/mma.cuh"

// Products of small matrices on tensor cores (mma.sync, compute capability 8.0), one function an instruction. PTX ISA,
// "Matrix Multiply-Accumulate Operation using mma Instruction".
//
// A warp adds the product of a 16 x k matrix by a k x 8 one to a 16 x 8 one. Lane l has, with g = l / 4 and t = l % 4,
// sums of the rows g and g + 8 and the columns 2 t and 2 t + 1, in this order.
//
// Both operands come as fragments of 16 lines (rows of A, columns of B): words t + 4 q of the lines g + 8 h. A word is
// 4 bytes, elements with neighbouring k, or a double; there are two of them along k, or k / 4 doubles. Of A it is
// fragment[2 q + h]. Of B one half h is multiplied, whose words must stand in neighbouring registers, or they would be
// moved there each time: fragment[words h + q].





using mma_word = unsigned;
constexpr int mma_words = 2;

constexpr int mma_depth = mma_words * 4 * sizeof(mma_word) / sizeof(A_t); // k of an instruction

#line 28 "templates/lib/mma.cuh"
#ifdef __CUGEN_CPU__

// The lane that comes last multiplies for all.
struct mma_slot {
  accumulator *sum;
  const mma_word *a, *b;

  static constexpr int elements = sizeof(mma_word) / sizeof(A_t);

  static accumulator value(mma_word word, int element) {
    A_t parts[elements];
    memcpy(parts, &word, sizeof word);

    // The last 13 bits do not reach the multiplier.
    return __uint_as_float(__float_as_uint(parts[element]) & 0xffffe000u);



  }

  static void multiply(void **slots, unsigned) {
    accumulator left[16][mma_depth], right[mma_depth][8];
    for (int lane = 0; lane < 32; ++lane) {
      const mma_slot *own = static_cast<const mma_slot *>(slots[lane]);
      for (int q = 0; q < mma_words; ++q) {
        for (int e = 0; e < elements; ++e) {
          const int k = (lane % 4 + 4 * q) * elements + e;
          left[lane / 4][k] = value(own->a[2 * q], e);
          left[lane / 4 + 8][k] = value(own->a[2 * q + 1], e);
          right[k][lane / 4] = value(own->b[q], e);
        }
      }
    }
    for (int lane = 0; lane < 32; ++lane) {
      accumulator *sum = static_cast<mma_slot *>(slots[lane])->sum;
      for (int e = 0; e < 4; ++e) {
        for (int k = 0; k < mma_depth; ++k) sum[e] += left[lane / 4 + e / 2 * 8][k] * right[k][lane % 4 * 2 + e % 2];
      }
    }
  }
};

template <int Half>
__device__ __forceinline__ void multiply_add(accumulator (&sum)[4], const mma_word (&a)[2 * mma_words],
                                             const mma_word (&b)[2 * mma_words]) {
  mma_slot slot = {sum, a, b + Half * mma_words};
  cugen_own_hooks->warp(0xffffffffu, mma_slot::multiply, &slot);
}

// Each lane says where one line of 16 bytes lies, and gets the word l % 4 of the line l / 4 of four times 8 lines.
struct ldmatrix_slot {
  const void *line;
  const void *of[4];

  static void exchange(void **slots, unsigned) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int m = 0; m < 4; ++m) {
        static_cast<ldmatrix_slot *>(slots[lane])->of[m] =
            static_cast<const ldmatrix_slot *>(slots[m * 8 + lane / 4])->line;
      }
    }
  }
  // Transposed: the lines of the 2-byte elements that a lane gets are 2 (l % 4) and the next.
  static void exchange_transposed(void **slots, unsigned) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int m = 0; m < 4; ++m) {
        static_cast<ldmatrix_slot *>(slots[lane])->of[m] =
            static_cast<const ldmatrix_slot *>(slots[m * 8 + lane % 4 * 2])->line;
        static_cast<ldmatrix_slot *>(slots[lane])->next[m] =
            static_cast<const ldmatrix_slot *>(slots[m * 8 + lane % 4 * 2 + 1])->line;
      }
    }
  }
  const void *next[4];
};

__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const void *line) {
  assert(reinterpret_cast<size_t>(line) % 16 == 0);
  ldmatrix_slot slot = {line};
  cugen_own_hooks->warp(0xffffffffu, ldmatrix_slot::exchange, &slot);
  for (int m = 0; m < 4; ++m) to[m] = static_cast<const unsigned *>(slot.of[m])[threadIdx.x % 4];
}

__device__ __forceinline__ void load_matrices_transposed(unsigned (&to)[4], const void *line) {
  assert(reinterpret_cast<size_t>(line) % 16 == 0);
  ldmatrix_slot slot = {line};
  cugen_own_hooks->warp(0xffffffffu, ldmatrix_slot::exchange_transposed, &slot);
  for (int m = 0; m < 4; ++m) {
    const unsigned low = static_cast<const unsigned short *>(slot.of[m])[threadIdx.x % 32 / 4];
    to[m] = low | static_cast<unsigned>(static_cast<const unsigned short *>(slot.next[m])[threadIdx.x % 32 / 4]) << 16;
  }
}

#else

template <int Half>
__device__ __forceinline__ void multiply_add(accumulator (&sum)[4], const mma_word (&a)[2 * mma_words],
                                             const mma_word (&b)[2 * mma_words]) {

  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * Half]), "r"(b[2 * Half + 1]));
#line 152 "templates/lib/mma.cuh"
}

// Each lane says where one line of 16 bytes lies, and gets the word l % 4 of the line l / 4 of four times 8 lines.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const void *line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(line))));
}

// The element l / 4 of the lines 2 (l % 4) and the next, of 2 bytes each.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&to)[4], const void *line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(line))));
}

#endif

// A warp's part of an operand's tile in shared memory, as fragments of 16 lines. Matrices: loaded by ldmatrix, which
// transposes elements of 2 bytes; else a word at a time, which is an element then. Left: as A's, else as B's.
template <typename T, class Tile, int Extent, bool Matrices, bool Left> struct mma_fragments {
  static constexpr int count = Extent / 16;
  static constexpr int steps = Tile::depth / mma_depth;
  static_assert((Extent & (Extent - 1)) == 0, "what stands in place of an addition below");
  // The first element that the lane reads. Those along its line are found by an exclusive or with their distance, since
  // the warp's part begins at a multiple of its extent and packs change places by an exclusive or too.
  int own;

  // first: of the warp's lines, along i.
  __device__ __forceinline__ explicit mma_fragments(int first) {
    const int lane = threadIdx.x % 32;
    const int h = Left ? lane / 8 % 2 : lane / 16, q = Left ? lane / 16 : lane / 8 % 2; // of the matrix it points into
    if constexpr (Matrices && Tile::along_k) {
      own = Tile::place(first + lane % 8 + h * 8, q * Tile::pack_size);
    } else if constexpr (Matrices) {
      own = Tile::place(lane % 8 + q * 8, first + h * 8);
    } else if constexpr (Tile::along_k) {
      own = Tile::place(first + lane / 4, lane % 4);
    } else {
      own = Tile::place(lane % 4, first + lane / 4);
    }
  }

  // The i-th fragment of a step along k.
  __device__ __forceinline__ void load(mma_word (&to)[2 * mma_words], const T *tile, int i, int step) const {
    if constexpr (Matrices && Tile::along_k) {
      load_matrices(to, tile + (own ^ step * mma_depth) + i * 16 * Tile::line_size);
    } else if constexpr (Matrices) {
      load_matrices_transposed(to, tile + (own ^ i * 16) + step * 16 * Tile::line_size);
    } else {
#pragma unroll
      for (int w = 0; w < 2 * mma_words; ++w) {
        const int h = Left ? w % 2 : w / mma_words, q = Left ? w / 2 : w % mma_words;
        const int k = (step * mma_words + q) * 4, n = (2 * i + h) * 8;
        const T *from = Tile::along_k ? tile + (own ^ k) + n * Tile::line_size : tile + (own ^ n) + k * Tile::line_size;
        to[w] = *reinterpret_cast<const mma_word *>(from);
      }
    }
  }
};
#line 12 "templates/matmul_mma.cu"

#line 34 "templates/matmul_mma.cu"
using tile_x = swizzled_tile<A_t, BM, BK, 0, 2, 4, threads>;
using tile_y = swizzled_tile<A_t, BN, BK, 0, 2, 4, threads>;
using fragments_x = mma_fragments<A_t, tile_x, WM, 0, true>;
using fragments_y = mma_fragments<A_t, tile_y, WN, 0, false>;

__global__ void __launch_bounds__(threads, min_blocks) matmul_mma(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, index_t M, index_t N, index_t K, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  extern __shared__ uint4 shared_packs[]; // stages of a tile of X and one of Y
  A_t *const shared = reinterpret_cast<A_t *>(shared_packs);
  constexpr int stage = tile_x::size + tile_y::size;

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
#line 45 "templates/matmul_mma.cu"

  // The warp's part of the block's tile, and the lane's first line of it; neighbouring warps share lines of X.
  constexpr int warps_y = BN / WN;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int warp_x = warp / warps_y * WM;
  const int warp_y = warp % warps_y * WN;

  const index_t stride_x = A_stride1;
  const index_t stride_y = B_stride0;
  const A_t *const from_x = A + row0 * 1;
  const A_t *const from_y = B + col0 * 1;
  const index_t step_x = stride_x;
  const index_t step_y = stride_y;
  C_t *const c = C;


  // An application's operand that wide copies may not start at: slow, but right.
  if (!packs_fit<4>(A, stride_x) || !packs_fit<4>(B, stride_y)) {
#pragma unroll 1
    for (int e = threadIdx.x; e < BM * BN; e += threads) {
      const index_t x = e / BN;
      const index_t y = e % BN;
      if (x >= M - row0 || y >= N - col0) continue;
      const A_t *const left = from_x + x * 1;
      const A_t *const right = from_y + y * 1;
      accumulator sum = 0;
#pragma unroll 1
      for (index_t k = 0; k < K; ++k) {
        sum += static_cast<accumulator>(left[k * step_x]) * static_cast<accumulator>(right[k * step_y]);
      }
      c[(row0 + x) * C_stride0 + col0 + y] =
          static_cast<C_t>(([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum), (row0 + x), (col0 + y))));
    }
    return;
  }


  tile_x next_x(from_x, stride_x, M - row0);
  tile_y next_y(from_y, stride_y, N - col0);
  constexpr int copies = tile_x::copies + tile_y::copies;
  async_copies<(stages - 1) * copies> on_the_way;

  // Starts some of the next tiles' copies, from the first of them up to the last; their end is the end of a group.
  const auto copy_tiles = [&](int at, bool wanted, int first, int last) {
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      if (p < first || p >= last) continue;
      if (p < tile_x::copies) {
        next_x.start(on_the_way, p, shared + at, wanted);
      } else {
        next_y.start(on_the_way, p - tile_x::copies, shared + at + tile_x::size, wanted);
      }
    }
    if (last < copies) return;
    on_the_way.commit();
    next_x.advance(BK * step_x);
    next_y.advance(BK * step_y);
  };

  // The first tiles are the ones that may be short along k, so that the loop below knows only whole ones.
  index_t left = (K + (BK - 1)) / BK;
  const index_t first_k = K - (left - 1) * BK;
  next_x.start_short(on_the_way, shared, first_k);
  next_y.start_short(on_the_way, shared + tile_x::size, first_k);
  on_the_way.commit();
  next_x.advance(first_k * step_x);
  next_y.advance(first_k * step_y);
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
  // To and fro along Y: each product then has a fragment in common with the one before.
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
  on_the_way.wait<stages - 2>();
  __syncthreads();
  load_fragments(0, 0);
  int reading = 0;
  int writing = (stages - 1) * stage; // the stage that everybody is done with
  for (; left > 0; --left) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      copy_tiles(writing, left >= stages, step * copies / steps, (step + 1) * copies / steps);
      if (step < steps - 1) {
        load_fragments(reading, step + 1);
      } else {
        // The next tile is there, and everybody has loaded what he needs of this one.
        on_the_way.wait<stages - 2>();
        __syncthreads();
        writing = reading;
        reading = reading == (stages - 1) * stage ? 0 : reading + stage;
        if (left > 1) load_fragments(reading, 0);
      }
      multiply(step);
    }
  }

#line 181 "templates/matmul_mma.cu"
  // Lanes in pairs exchange two of their columns, so that each has four side by side: 32 bytes in all, and more.
  const bool whole = M - row0 >= BM && N - col0 >= BN &&
                     packs_fit<store_width>(C, C_stride0);
  const bool odd = lane % 2;
#line 214 "templates/matmul_mma.cu"
#pragma unroll
  for (int i = 0; i < 2 * fragments_x::count; ++i) {
    const index_t line = row0 + warp_x + i * 8 + lane / 4;
#pragma unroll
    for (int j = 0; j < fragments_y::count; ++j) {
      const accumulator *const low = sum[i / 2][2 * j] + i % 2 * 2;
      const accumulator *const high = sum[i / 2][2 * j + 1] + i % 2 * 2;
      const accumulator first = __shfl_xor_sync(0xffffffffu, odd ? low[0] : high[0], 1);
      const accumulator second = __shfl_xor_sync(0xffffffffu, odd ? low[1] : high[1], 1);
      const accumulator four[4] = {odd ? first : low[0], odd ? second : low[1], odd ? high[0] : first,
                                   odd ? high[1] : second};
      const index_t column = col0 + warp_y + j * 16 + (odd ? 8 : 0) + lane % 4 / 2 * 4;
      C_t *const to = c + line * C_stride0 + column;
      if (whole) {
#pragma unroll
        for (int s = 0; s < 4; s += store_width) {
          pack<C_t, store_width> part;
#pragma unroll
          for (int e = 0; e < store_width; ++e) {
            part.at[e] = static_cast<C_t>(([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((four[s + e]), (line), (column + s + e))));
          }
          store_pack(to + s, part);
        }
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (line < M && column + e < N) {
            to[e] = static_cast<C_t>(([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((four[e]), (line), (column + e))));
          }
        }
      }
    }
  }
}
