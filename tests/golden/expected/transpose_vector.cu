// transpose: vector access=16 tile_rows=64 tile_cols=64 blocks=1 bank=xor down_first=true carveout_percent=-1
// rows=8192 cols=8192 batch=1 dtype=f32 pitched=false pitch_a=0 pitch_b=0
using index_t = int;
using dtype = float;
#define access 16
#define tile_rows 64
#define tile_cols 64
#define blocks 1
#define down_first 1
#define vec 4
#define words 4
#define threads 256
#define swizzle_period 8
using A_t = float;
#define A_stride0 ((index_t)(cols) * (rows))
#define A_stride1 ((index_t)(cols))
using B_t = float;
#define B_stride0 ((index_t)(rows) * (cols))
#define B_stride1 ((index_t)(rows))

#line 1 "templates/transpose_vector.cu"
// B = transposed A with `access` bytes in each load and each store. A thread loads blocks of vec x vec elements,
// turns them over in its registers, and stores packs of B's rows to shared memory, from where they leave in B's
// order. So a tile of tile_rows x tile_cols elements of A is read in rows of tile_cols and written in rows of
// tile_rows elements.
//
// Shared memory holds the tile as B has it: line c is column c of A, in packs of vec elements. The stores of a warp
// go to lines that are vec apart, at one place in each, which would be the same banks:

// place p of line c is kept at p ^ (c / vec) instead.
#line 15 "templates/transpose_vector.cu"
//
// Loads take packs where the tile lies inside A and A is aligned for them, stores where B is; anywhere else they move
// one element at a time, neighbouring threads still side by side.

#line 1 "templates/lib/words.cuh"

// Memory moved as bits, whatever the elements are: an access of 1 to 16 bytes has one unsigned type, so that a NaN or
// an infinity is moved like any other value, and a modifier for the cache can be named on each access.
template <int Bytes> struct bits_of;
template <> struct bits_of<1> { using type = unsigned char; };
template <> struct bits_of<2> { using type = unsigned short; };
template <> struct bits_of<4> { using type = unsigned int; };
template <> struct bits_of<8> { using type = uint2; };
template <> struct bits_of<16> { using type = uint4; };

// Whether accesses of Bytes may start at base and at base plus any multiple of step bytes.
template <int Bytes> __device__ __forceinline__ bool accesses_fit(const void *base, long long step) {
  return (reinterpret_cast<size_t>(base) | static_cast<size_t>(step)) % Bytes == 0;
}

#line 23 "templates/lib/words.cuh"
template <typename Bits> __device__ __forceinline__ void check_aligned(const Bits *at) {
#ifdef __CUGEN_CPU__
  if (reinterpret_cast<size_t>(at) % sizeof(Bits)) __trap(); // as a GPU does; other processors forgive it
#endif
}

template <typename Bits> __device__ __forceinline__ Bits load_bits(const Bits *from) {
  check_aligned(from);
  return __ldca(from);
}

template <typename Bits> __device__ __forceinline__ void store_bits(Bits *to, Bits value) {
  check_aligned(to);
  *to = value;
}
#line 1 "templates/lib/tile_order.cuh"

// Where a block's tile lies, from the block's number alone: a grid of one dimension has no limit that a matrix would
// meet. Blocks start roughly in order of their number, so that the order of the tiles decides which rows of which
// matrix are open in memory at the same time. Along a row of tiles A is read from its beginning to its end;
// down a column of tiles (DownFirst) B is written from its beginning to its end.
struct tile_place {
  index_t row, col, batch;
};

template <int Rows, int Cols, bool DownFirst>
__device__ __forceinline__ tile_place place_tile(index_t all_rows, index_t all_cols) {
  const index_t tiles_down = (all_rows + (Rows - 1)) / Rows;
  const index_t tiles_across = (all_cols + (Cols - 1)) / Cols;
  const index_t number = blockIdx.x;
  const index_t batch = number / (tiles_down * tiles_across);
  const index_t within = number % (tiles_down * tiles_across);
  if (DownFirst) return {within % tiles_down * Rows, within / tiles_down * Cols, batch};
  return {within / tiles_across * Rows, within % tiles_across * Cols, batch};
}
#line 1 "templates/lib/transpose_block.cuh"

// Square blocks of elements turned over in a thread's registers. Line i of the block is a pack of `vec` elements,
// held as 32-bit words; afterwards word by word it holds column i. Elements of four and eight bytes only change their
// names, which costs nothing; smaller ones are picked out of the words by byte permutations (__byte_perm).

template <int Words> struct words_of;
template <> struct words_of<1> {
  static __device__ __forceinline__ void split(unsigned int pack, unsigned int (&to)[1]) {
    to[0] = pack;
  }
  static __device__ __forceinline__ unsigned int join(const unsigned int (&from)[1]) {
    return from[0];
  }
};
template <> struct words_of<2> {
  static __device__ __forceinline__ void split(uint2 pack, unsigned int (&to)[2]) {
    to[0] = pack.x;
    to[1] = pack.y;
  }
  static __device__ __forceinline__ uint2 join(const unsigned int (&from)[2]) {
    return make_uint2(from[0], from[1]);
  }
};
template <> struct words_of<4> {
  static __device__ __forceinline__ void split(uint4 pack, unsigned int (&to)[4]) {
    to[0] = pack.x;
    to[1] = pack.y;
    to[2] = pack.z;
    to[3] = pack.w;
  }
  static __device__ __forceinline__ uint4 join(const unsigned int (&from)[4]) {
    return make_uint4(from[0], from[1], from[2], from[3]);
  }
};

template <int Size, int Words> struct block_turn; // Size: bytes of an element

template <int Words> struct block_turn<8, Words> {
  static constexpr int lines = Words / 2;
  static __device__ __forceinline__ void run(const unsigned int (&from)[lines][Words],
                                             unsigned int (&to)[lines][Words]) {
#pragma unroll
    for (int i = 0; i < lines; ++i) {
#pragma unroll
      for (int j = 0; j < lines; ++j) {
        to[j][2 * i] = from[i][2 * j];
        to[j][2 * i + 1] = from[i][2 * j + 1];
      }
    }
  }
};

template <int Words> struct block_turn<4, Words> {
  static constexpr int lines = Words;
  static __device__ __forceinline__ void run(const unsigned int (&from)[lines][Words],
                                             unsigned int (&to)[lines][Words]) {
#pragma unroll
    for (int i = 0; i < lines; ++i) {
#pragma unroll
      for (int j = 0; j < lines; ++j) to[j][i] = from[i][j];
    }
  }
};

// Two lines of two elements at a time.
template <int Words> struct block_turn<2, Words> {
  static constexpr int lines = 2 * Words;
  static __device__ __forceinline__ void run(const unsigned int (&from)[lines][Words],
                                             unsigned int (&to)[lines][Words]) {
#pragma unroll
    for (int i = 0; i < Words; ++i) {
#pragma unroll
      for (int j = 0; j < Words; ++j) {
        const unsigned int a = from[2 * i][j];
        const unsigned int b = from[2 * i + 1][j];
        to[2 * j][i] = __byte_perm(a, b, 0x5410);
        to[2 * j + 1][i] = __byte_perm(a, b, 0x7632);
      }
    }
  }
};

// Four lines of four elements at a time: first bytes of two lines are interleaved, then pairs of bytes.
template <int Words> struct block_turn<1, Words> {
  static constexpr int lines = 4 * Words;
  static __device__ __forceinline__ void run(const unsigned int (&from)[lines][Words],
                                             unsigned int (&to)[lines][Words]) {
#pragma unroll
    for (int i = 0; i < Words; ++i) {
#pragma unroll
      for (int j = 0; j < Words; ++j) {
        const unsigned int ab01 = __byte_perm(from[4 * i][j], from[4 * i + 1][j], 0x5140);
        const unsigned int ab23 = __byte_perm(from[4 * i][j], from[4 * i + 1][j], 0x7362);
        const unsigned int cd01 = __byte_perm(from[4 * i + 2][j], from[4 * i + 3][j], 0x5140);
        const unsigned int cd23 = __byte_perm(from[4 * i + 2][j], from[4 * i + 3][j], 0x7362);
        to[4 * j][i] = __byte_perm(ab01, cd01, 0x5410);
        to[4 * j + 1][i] = __byte_perm(ab01, cd01, 0x7632);
        to[4 * j + 2][i] = __byte_perm(ab23, cd23, 0x5410);
        to[4 * j + 3][i] = __byte_perm(ab23, cd23, 0x7632);
      }
    }
  }
};
#line 22 "templates/transpose_vector.cu"

using pack = bits_of<access>::type;

// The place in shared memory, in packs, of a line's p-th pack.
__device__ __forceinline__ int place_of(int line, int p) {

  return line * (tile_rows / vec) + (p ^ (line / vec % swizzle_period));
#line 34 "templates/transpose_vector.cu"
}

__global__ void __launch_bounds__(threads) transpose_vector(const A_t *__restrict__ A, B_t *__restrict__ B, index_t rows, index_t cols, index_t batch) {
  extern __shared__ __align__(16) unsigned char part[];
  pack *packs = reinterpret_cast<pack *>(part);
  dtype *elements = reinterpret_cast<dtype *>(part);

  const tile_place place = place_tile<tile_rows, tile_cols, down_first>(rows, cols);
  const index_t rows_left = rows - place.row;
  const index_t cols_left = cols - place.col;
  const bool inside = rows_left >= tile_rows && cols_left >= tile_cols;
  // Packs never stand across an edge when the sizes are multiples of theirs.
  const bool whole = inside || (rows % vec == 0 && cols % vec == 0);
  const dtype *from = A + place.batch * A_stride0 + place.row * A_stride1 + place.col;
  dtype *to = B + place.batch * B_stride0 + place.col * B_stride1 + place.row;
  const long long size = sizeof(dtype);

  if (whole && accesses_fit<access>(A, (A_stride0 * size) | (A_stride1 * size))) {
    unsigned int held[blocks][vec][words];
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      const int row = (threadIdx.x + b * threads) / (tile_cols / vec) * vec;
      const int col = (threadIdx.x + b * threads) % (tile_cols / vec) * vec;
      if (inside || (row < rows_left && col < cols_left)) {
#pragma unroll
        for (int i = 0; i < vec; ++i) {
          words_of<words>::split(load_bits(reinterpret_cast<const pack *>(from + (row + i) * A_stride1 + col)),
                                 held[b][i]);
        }
      }
    }
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      const int row = (threadIdx.x + b * threads) / (tile_cols / vec) * vec;
      const int col = (threadIdx.x + b * threads) % (tile_cols / vec) * vec;
      unsigned int turned[vec][words];
      block_turn<sizeof(dtype), words>::run(held[b], turned);
#pragma unroll
      for (int i = 0; i < vec; ++i) packs[place_of(col + i, row / vec)] = words_of<words>::join(turned[i]);
    }
  } else {
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
      const int row = e / tile_cols;
      const int col = e % tile_cols;
      if (row < rows_left && col < cols_left) {
        elements[place_of(col, row / vec) * vec + row % vec] = from[row * A_stride1 + col];
      }
    }
  }
  __syncthreads();
  if (whole && accesses_fit<access>(B, (B_stride0 * size) | (B_stride1 * size))) {
#pragma unroll
    for (int p = 0; p < blocks * vec; ++p) {
      const int col = (threadIdx.x + p * threads) / (tile_rows / vec);
      const int row = (threadIdx.x + p * threads) % (tile_rows / vec) * vec;
      if (inside || (row < rows_left && col < cols_left)) {
        store_bits(reinterpret_cast<pack *>(to + col * B_stride1 + row), packs[place_of(col, row / vec)]);
      }
    }
  } else {
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
      const int col = e / tile_rows;
      const int row = e % tile_rows;
      if (row < rows_left && col < cols_left) {
        to[col * B_stride1 + row] = elements[place_of(col, row / vec) * vec + row % vec];
      }
    }
  }
}
