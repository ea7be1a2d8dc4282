//@ include "lib/async_copy.cuh"

// One operand's tile on its way from global to shared memory without passing through registers.
//
// In shared memory a tile always lies as [k][i], where i runs along M for A and along N for B: the elements of one step of
// the product then stand side by side, and are loaded 16 bytes at a time. An operand whose k is contiguous in global
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
// A copy beyond the operand's end along i reads the last element (or pack) again, and results computed from that copy are not
// stored. Along k the first tile may be short, and is filled up with zeros.
template <typename T, int Extent, int Depth, int Lead, int Width, int Threads, bool k_contiguous> struct async_tile {
  static constexpr int copies = Extent * Depth / (Width * Threads);

  // In a transposed tile, a warp's copies read one sector of 32 bytes along k in each of several lines; with
  // Lead = Extent + 4 the copies go to different banks.
  static constexpr int sector = 32 / sizeof(T);
  static constexpr int across = k_contiguous ? sector : Extent / Width; // copies side by side in global memory
  static constexpr int lines = Threads / across;                       // lines that the block copies in one pass

  // Distances in the tile from the thread's first copy to its p-th.
  static __device__ constexpr int step_i(int p) {
    return k_contiguous ? p * lines % Extent : lines > 0 ? 0 : p * Threads * Width % Extent;
  }
  static __device__ constexpr int step_k(int p) {
    return k_contiguous ? p * lines / Extent * sector : lines > 0 ? p * lines : p * Threads * Width / Extent;
  }

  int own_k;             // the k of the thread's first copy
  int own_at;            // where the thread's first copy goes in shared memory
  const T *from[copies]; // where the thread's next copies come from

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

  __device__ __forceinline__ void start(int p, T *shared, bool wanted) const {
    T *to = shared + own_at;
    copy_if<Width * sizeof(T)>(wanted, to + (step_k(p) * Lead + step_i(p)), from[p]);
  }
  // Starts the copies of the first tile, which has only k_left elements along k.
  __device__ __forceinline__ void start_short(T *shared, index_t k_left) const {
    T *to = shared + own_at;
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      const bool inside = own_k + step_k(p) < k_left;
      copy_or_zero<Width * sizeof(T)>(inside, to + (step_k(p) * Lead + step_i(p)), from[p]);
    }
  }
};
