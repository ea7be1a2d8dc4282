#pragma once
//@ include "lib/words.cuh"

// Transposes a square block of elements in a thread's registers. lines[i] is a pack of `vec` elements, held as 32-bit words;
// columns[i] becomes column i of the block. For elements of four and eight bytes the transposition only renames registers,
// which costs nothing; smaller elements are picked out of the words by byte permutations (__byte_perm).
using bits = bits_of<access>::type;

__device__ __forceinline__ void turn_block(const bits (&lines)[vec], bits (&columns)[vec]) {
  const auto from = reinterpret_cast<const unsigned int (*)[words]>(lines);
  const auto to = reinterpret_cast<unsigned int (*)[words]>(columns);
//@ local steps = sizeof(dtype) == 8 and "vec" or "words"
#pragma unroll
  for (int i = 0; i < ${steps}; ++i) {
#pragma unroll
    for (int j = 0; j < ${steps}; ++j) {
//@ if sizeof(dtype) == 8 then
      to[j][2 * i] = from[i][2 * j];
      to[j][2 * i + 1] = from[i][2 * j + 1];
//@ elseif sizeof(dtype) == 4 then
      to[j][i] = from[i][j];
//@ elseif sizeof(dtype) == 2 then
      const unsigned int a = from[2 * i][j], b = from[2 * i + 1][j];
      to[2 * j][i] = __byte_perm(a, b, 0x5410);
      to[2 * j + 1][i] = __byte_perm(a, b, 0x7632);
//@ else
      // First bytes of two lines are interleaved, then pairs of bytes.
      const unsigned int ab01 = __byte_perm(from[4 * i][j], from[4 * i + 1][j], 0x5140);
      const unsigned int ab23 = __byte_perm(from[4 * i][j], from[4 * i + 1][j], 0x7362);
      const unsigned int cd01 = __byte_perm(from[4 * i + 2][j], from[4 * i + 3][j], 0x5140);
      const unsigned int cd23 = __byte_perm(from[4 * i + 2][j], from[4 * i + 3][j], 0x7362);
      to[4 * j][i] = __byte_perm(ab01, cd01, 0x5410);
      to[4 * j + 1][i] = __byte_perm(ab01, cd01, 0x7632);
      to[4 * j + 2][i] = __byte_perm(ab23, cd23, 0x5410);
      to[4 * j + 3][i] = __byte_perm(ab23, cd23, 0x7632);
//@ end
    }
  }
}
