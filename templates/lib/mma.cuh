#pragma once
// Products of small matrices on tensor cores (mma.sync, compute capability 8.0 and later; some types need more). PTX ISA,
// "Matrix Multiply-Accumulate Operation using mma Instruction".
//
// A warp adds the product of a 16 x k and a k x 8 matrix to a 16 x 8 matrix of sums. Lane l has, with g = l / 4 and t = l % 4,
// the sums of the rows g and g + 8 and the columns 2 t and 2 t + 1: first both columns of row g, then those of row g + 8.
//
// The operands A and B come as fragments of 16 lines (rows of A, columns of B). A lane has the words t + 4 q of the lines g + 8 h,
// for h = 0 and 1 and q from 0 to mma_words - 1. A word is 4 bytes of elements with neighbouring k, or a double.
// In a fragment of A the word is number 2 q + h. In a fragment of B the word is number mma_words h + q, since an instruction
// multiplies one half h of the fragment: the compiler would move words that are not in neighbouring registers each time.

//@ if dtype == "f64" then
using mma_word = double;
constexpr int mma_words = f64_k / 4;
//@ else
using mma_word = unsigned;
constexpr int mma_words = 2;
//@ end
constexpr int mma_depth = mma_words * 4 * sizeof(mma_word) / sizeof(A_t); // elements along k that an instruction multiplies

//@ local instructions = {
//@   f16 = "m16n8k16.row.col.f32.f16.f16.f32", bf16 = "m16n8k16.row.col.f32.bf16.bf16.f32",
//@   tf32 = "m16n8k8.row.col.f32.tf32.tf32.f32", e4m3 = "m16n8k32.row.col.f32.e4m3.e4m3.f32",
//@   e5m2 = "m16n8k32.row.col.f32.e5m2.e5m2.f32", i8 = "m16n8k32.row.col.s32.s8.s8.s32",
//@ }
//@ local sums = dtype == "i8" and "+r" or "+f"

template <int Half>
__device__ __forceinline__ void multiply_add(accumulator (&sum)[4], const mma_word (&a)[2 * mma_words],
                                             const mma_word (&b)[2 * mma_words]) {
//@ if instructions[dtype] then
  asm("mma.sync.aligned.${instructions[dtype]} {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "${sums}"(sum[0]), "${sums}"(sum[1]), "${sums}"(sum[2]), "${sums}"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * Half]), "r"(b[2 * Half + 1]));
//@ elseif f64_rows == 8 then
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[2 * h]), "+d"(sum[2 * h + 1])
        : "d"(a[h]), "d"(b[Half]));
  }
//@ else
//@ local left, right, operands = {}, {}, {}
//@ for r = 0, f64_k // 2 - 1 do
//@   left[#left + 1] = "%" .. 4 + r
//@   operands[#operands + 1] = '"d"(a[' .. r .. "])"
//@ end
//@ for q = 0, f64_k // 4 - 1 do
//@   right[#right + 1] = "%" .. 4 + f64_k // 2 + q
//@   operands[#operands + 1] = '"d"(b[Half * mma_words + ' .. q .. "])"
//@ end
  asm("mma.sync.aligned.m16n8k${f64_k}.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {${table.concat(left, ", ")}}, "
      "{${table.concat(right, ", ")}}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : ${table.concat(operands, ", ")});
//@ end
}

// Loads four matrices of 8 lines of 16 bytes. Lane l gives the address of one of the 32 lines, and gets the word l % 4 of line
// l / 4 of each matrix; transposed, the elements l / 4, of 2 bytes each, of the lines 2 (l % 4) and 2 (l % 4) + 1.
//@ for _, way in ipairs { { "load_matrices", "" }, { "load_matrices_transposed", ".trans" } } do
//@ local name, transposed = table.unpack(way)
__device__ __forceinline__ void ${name}(unsigned (&to)[4], const void *line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4${transposed}.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(line))));
}
//@ end

// A warp's part of an operand's tile in shared memory, as fragments of 16 lines. Matrices: the fragments are loaded by
// ldmatrix, which can transpose elements of 2 bytes; otherwise by words of one element. Left: fragments of A, else of B.
template <typename T, class Tile, int Extent, bool Matrices, bool Left> struct mma_fragments {
  static constexpr int count = Extent / 16;
  static constexpr int steps = Tile::depth / mma_depth;
  static_assert((Extent & (Extent - 1)) == 0, "Extent must be a power of two: elements are addressed by exclusive or");
  // The place of the first element that the lane reads. Other elements of the line are at `own` exclusive-or their distance,
  // since the warp's part begins at a multiple of its extent and packs change places by an exclusive or, too.
  int own;

  // first: the warp's first line, along i.
  __device__ __forceinline__ explicit mma_fragments(int first) {
    const int lane = threadIdx.x % 32;
    const int h = Left ? lane / 8 % 2 : lane / 16, q = Left ? lane / 16 : lane / 8 % 2; // of the lane's matrix
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

  // Loads the i-th fragment of a step along k.
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
