//@ include "lib/pack.cuh"

// One operand's tile on its way from global memory, through registers, to shared memory.
//
// In shared memory a tile always lies as [k][i], where i runs along M for A and along N for B: the elements of one step of
// the product then stand side by side, and are loaded 16 bytes at a time. So an operand whose k is contiguous in
// global memory (A stored by rows, B by columns) is transposed on its way in; the other kind is copied.
//
// Extent       elements of the tile along i
// Depth        elements along k
// Lead         distance in shared memory from one k to the next: Extent plus padding, which moves the transposed
//              stores of a warp to different banks
// Width        elements in one global access
// Threads      threads of the block, which share the work
// k_contiguous whether k or i is contiguous in global memory, where a contiguous line is Depth or Extent elements long
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

  // Fetches a tile that lies inside the matrix and whose packs are aligned.
  // origin: the tile's first element; stride: from one line to the next.
  __device__ __forceinline__ void fetch(const T *origin, index_t stride) {
#pragma unroll
    for (int p = 0; p < packs_per_thread; ++p) held[p] = load_pack<Width>(origin + line(p) * stride + along(p));
  }

  // Fetches any other tile, one element at a time, with zeros for what lies outside the matrix, which add nothing to
  // the product. i_left, k_left: elements from the origin to the matrix's end.
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
