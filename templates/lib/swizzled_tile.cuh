#pragma once
//@ include "lib/async_copy.cuh"

// One operand's tile on its way from global to shared memory, where it lies as in global memory: line after line, packs
// of 16 bytes in a line. Within a line the packs are exchanged by an exclusive or with the line's number, so that what
// a warp reads together, packs of neighbouring lines, comes from different banks without a byte of padding.
//
// Extent       elements of the tile along the operand's own dimension i: M for A, N for B
// Depth        elements along k
// k_contiguous whether k or i is contiguous in global memory: lines run along the contiguous one
// Span         neighbouring packs that a warp reads of each line together: 1 by ldmatrix, 2 by single elements
// Width        elements in one copy, of 16 bytes at most; what cp.async cannot copy (2 bytes and less) passes through
//              a register
// Threads      threads of the block, which share the work
//
// A copy beyond the operand's end along i reads the last element (or pack) again, and results computed from that copy are not
// stored. Along k the first tile may be short, and is filled up with zeros.
template <typename T, int Extent, int Depth, bool k_contiguous, int Span, int Width, int Threads>
struct swizzled_tile {
  static constexpr bool along_k = k_contiguous;
  static constexpr int depth = Depth;
  static constexpr int size = Extent * Depth;
  static constexpr int pack_size = 16 / sizeof(T);
  static constexpr int line_size = k_contiguous ? Depth : Extent;
  static constexpr int copies = size / (Width * Threads);

  // A line's packs change places by groups of Span. The banks repeat every 128 bytes, which several shorter lines share.
  static constexpr int groups = line_size / pack_size / Span;
  static constexpr int lines_together = groups < 8 / Span ? 8 / Span / groups : 1;
  static constexpr int period = groups < 8 / Span ? groups : 8 / Span;
  static_assert(groups % period == 0 && (period & (period - 1)) == 0, "packs must stay in their line");

  // Returns the place of element `along` of `line`. Lines that are 8 apart have the same order of packs.
  static __device__ __forceinline__ int place(int line, int along) {
    const int moved = along / pack_size ^ line / lines_together % period * Span;
    return line * line_size + moved * pack_size + along % pack_size;
  }

  // Where the thread's p-th copy lies; neighbouring threads take neighbouring copies of a line. If the block copies whole
  // lines at once, all copies of a thread lie equally far along their lines.
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
    const index_t i = wanted < i_left ? wanted : i_left - (k_contiguous ? 1 : Width); // past the end: the last copy's
    return k_contiguous ? from + along(p) + i * stride : from + i + line(p) * stride;
  }

  __device__ __forceinline__ void advance(index_t by) {
    from += by;
  }

  __device__ __forceinline__ void start(int p, T *shared, bool wanted) const {
    T *to = shared + target(p);
    if constexpr (Width * sizeof(T) < 4) {
      if (wanted) store_pack(to, load_pack<Width>(source(p)));
    } else {
      copy_if<Width * sizeof(T)>(wanted, to, source(p));
    }
  }
  // Starts the copies of the first tile, which has only k_left elements along k.
  __device__ __forceinline__ void start_short(T *shared, index_t k_left) const {
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      T *to = shared + target(p);
      const bool inside = (k_contiguous ? along(p) : line(p)) < k_left;
      if constexpr (Width * sizeof(T) < 4) {
        store_pack(to, inside ? load_pack<Width>(source(p)) : pack<T, Width>{});
      } else {
        copy_or_zero<Width * sizeof(T)>(inside, to, source(p));
      }
    }
  }
};
