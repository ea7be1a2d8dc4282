// filter: strips weights_in=global image_in=global block_x=64 block_y=4 vec=4 strip=8 unrolled=true ahead=false resident=1024
// rows=8192 cols=8192 size=3 dtype=f32 boundary=clamp pitched=false
using index_t = int;
#define size 3
#define block_x 64
#define block_y 4
#define vec 4
#define strip 8
#define radius 1
#define steps 10
using image_t = float;
#define image_stride0 ((index_t)(cols))
using weights_t = float;
using result_t = float;
#define result_stride0 ((index_t)(cols))

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
#line 1 "templates/lib/image.cuh"

// An image whose elements can be asked for by any row and column, also outside of it: there it goes on by `boundary`. Wants
// the problem's dtype and boundary, an argument `image` and the tunable image_in.

// Where an index past the edge is read from; negative: nowhere, there is zero. What lies further out than once the image's
// size is reflected or repeated again.
__device__ __forceinline__ index_t inside(index_t i, index_t count) {

  return min(max(i, static_cast<index_t>(0)), count - 1);
#line 20 "templates/lib/image.cuh"
}

struct image_view {

  const image_t *base;
  index_t stride;



  index_t height, width;

  // Rows of -1 (and columns) are zero.
  __device__ __forceinline__ weights_t at(index_t row, index_t col) const {

    const index_t r = inside(row, height);
    const index_t c = inside(col, width);



    return static_cast<weights_t>(base[r * stride + c]);
#line 47 "templates/lib/image.cuh"
  }
};
#line 1 "templates/lib/weights.cuh"

// The filter's weights where weights_in says, by rows. `weight` is the name to read them by; stage_weights, for the whole
// block, brings them to shared memory.
#line 9 "templates/filter_strips.cu"

// How a strip is read: it and its halo lie inside the image and start aligned for wide loads; they lie inside; anywhere.
enum strip_place { packed, loose, edge };

// What a thread needs of one row of the image: its own columns and `radius` more on each side.
struct row_window {
  static constexpr int halo = 1;
  static constexpr int halos = 1;
  static constexpr int reach = halo * halos; // columns from the first one that is loaded to the thread's own
  image_t at[vec + 2 * reach];

  __device__ __forceinline__ weights_t get(int col) const { return static_cast<weights_t>(at[reach - radius + col]); }

  // from: the thread's first column of the row.
  __device__ __forceinline__ void load_packs(const image_t *from) {
#pragma unroll
    for (int p = 0; p < halos; ++p) {
      const pack<image_t, halo> left = load_pack<halo>(from - reach + p * halo);
      const pack<image_t, halo> right = load_pack<halo>(from + vec + p * halo);
#pragma unroll
      for (int e = 0; e < halo; ++e) {
        at[p * halo + e] = left.at[e];
        at[reach + vec + p * halo + e] = right.at[e];
      }
    }
    const pack<image_t, vec> own = load_pack<vec>(from);
#pragma unroll
    for (int e = 0; e < vec; ++e) at[reach + e] = own.at[e];
  }

  template <strip_place place>
  __device__ __forceinline__ void load(const image_view &view, index_t row, index_t col) {
    if constexpr (place == packed) {
      load_packs(view.base + row * view.stride + col);
    } else {
      const image_t *from = view.base + row * view.stride + col;
#pragma unroll
      for (int e = reach - radius; e < reach + vec + radius; ++e)
        at[e] = place == loose ? from[e - reach] : static_cast<image_t>(view.at(row, col + e - reach));
    }
  }
};

template <strip_place place>
__device__ __forceinline__ void filter_strip(const image_view &view, result_t *to, index_t row0, index_t col,

                                             const weights_t *__restrict__ weights,



                                             index_t stride) {
  // sums[k] is of the row of results that weights row k of the next row of the image belongs to.
  weights_t sums[size][vec];
#pragma unroll
  for (int k = 0; k < size; ++k) {
#pragma unroll
    for (int v = 0; v < vec; ++v) sums[k][v] = 0;
  }





#pragma unroll(place == edge ? 1 : 10)
  for (int i = 0; i < steps; ++i) {
    const index_t row = row0 + i - (size - 1);
    if (place == edge && row >= view.height) return;
    row_window window;
#line 85 "templates/filter_strips.cu"
    window.template load<place>(view, row0 + i - radius, col);

#pragma unroll
    for (int k = 0; k < size; ++k) {
#pragma unroll
      for (int j = 0; j < size; ++j) {
#pragma unroll
        for (int v = 0; v < vec; ++v) sums[k][v] += weights[k * size + j] * window.get(v + j);
      }
    }
    // The first `size - 1` rows complete nothing.
    if (i >= size - 1) {
      result_t *at = to + row * stride + col;
      pack<result_t, vec> out;
#pragma unroll
      for (int v = 0; v < vec; ++v) out.at[v] = static_cast<result_t>(sums[size - 1][v]);
      if (place == packed) {
        store_pack<vec>(at, out);
      } else {
#pragma unroll
        for (int v = 0; v < vec; ++v)
          if (place == loose || v < view.width - col) at[v] = out.at[v];
      }
    }
#pragma unroll
    for (int k = size - 1; k > 0; --k) {
#pragma unroll
      for (int v = 0; v < vec; ++v) sums[k][v] = sums[k - 1][v];
    }
#pragma unroll
    for (int v = 0; v < vec; ++v) sums[0][v] = 0;
  }
}




__global__ void __launch_bounds__(block_x * block_y, 4) filter_strips(const image_t *__restrict__ image, const weights_t *__restrict__ weights, result_t *__restrict__ result, index_t rows, index_t cols) {

  const index_t col = (static_cast<index_t>(blockIdx.x) * block_x + threadIdx.x) * vec;
  const index_t row0 = (static_cast<index_t>(blockIdx.y) * block_y + threadIdx.y) * strip;
  const image_view view = {image, image_stride0, rows, cols};
  if (col >= cols || row0 >= rows) return;

  const bool aligned = packs_fit<vec>(image, image_stride0) && packs_fit<vec>(result, result_stride0);
  const bool inner = col >= row_window::reach && cols - col >= vec + row_window::reach && row0 >= radius &&
                     rows - row0 >= strip + radius;
  if (inner && aligned) {
    filter_strip<packed>(view, result, row0, col, weights, result_stride0);
  } else if (inner) {
    filter_strip<loose>(view, result, row0, col, weights, result_stride0);
  } else {
    filter_strip<edge>(view, result, row0, col, weights, result_stride0);
  }
}
