#pragma once
// Transposes square blocks of elements in a thread's registers. Line i of the block is a pack of `vec` elements, held as
// 32-bit words; afterwards it holds column i. For elements of four and eight bytes that only renames registers, which
// costs nothing; smaller ones are picked out of the words by byte permutations (__byte_perm).

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
