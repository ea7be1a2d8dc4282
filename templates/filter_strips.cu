//@ include "lib/pack.cuh"
//@ include "lib/image.cuh"
//@ include "lib/weights.cuh"

// A thread computes `vec` columns of `strip` rows, from the top to the bottom, and keeps the sums of `size` rows of
// results in registers: of all rows of results to which one row of the image contributes.
//@
//@ -- The halo on each side comes in as many loads of `halo` elements as cover the radius. halo is the radius if that is a
//@ -- power of two below vec, else vec.
//@ local halo = (radius < vec and is_pow2(radius)) and radius or vec
//@ local halos = ceil_div(radius, halo)

// How a strip and its halo are read. packed: they lie inside the image, and wide loads fit; loose: they lie inside, but
// wide loads do not fit; edge: they may reach beyond the image.
enum strip_place { packed, loose, edge };

// What a thread needs of one row of the image: its own columns and `radius` more on each side.
struct row_window {
  static constexpr int halo = ${halo}, halos = ${halos};
  static constexpr int reach = halo * halos; // columns from the first one that is loaded to the thread's own
  image_t at[vec + 2 * reach];

  __device__ __forceinline__ weights_t get(int col) const { return static_cast<weights_t>(at[reach - radius + col]); }

  template <strip_place place>
  __device__ __forceinline__ void load(const image_view &view, index_t row, index_t col) {
    const image_t *from = view.base + row * view.stride + col; // the thread's first column
    if constexpr (place == packed) {
#pragma unroll
      for (int p = 0; p < halos; ++p) {
        load_elements<halo>(at + p * halo, from - reach + p * halo);
        load_elements<halo>(at + reach + vec + p * halo, from + vec + p * halo);
      }
      load_elements<vec>(at + reach, from);
    } else {
#pragma unroll
      for (int e = reach - radius; e < reach + vec + radius; ++e)
        at[e] = place == loose ? from[e - reach] : static_cast<image_t>(view.at(row, col + e - reach));
    }
  }
};

//@ local weights_parameter = "const weights_t *" .. (weights_in == "global" and "__restrict__ " or "") .. weight .. ", "
template <strip_place place>
__device__ __forceinline__ void filter_strip(const image_view &view, result_t *to, index_t row0, index_t col,
                                             ${weights_in == "constant" and "" or weights_parameter}index_t stride) {
  // sums[k] is for the row of results to which the next row of the image adds its products with row k of the weights.
  weights_t sums[size][vec] = {};
//@ if ahead then
  row_window coming; // the row after the one that is being used
  if constexpr (place != edge) coming.template load<place>(view, row0 - radius, col);
//@ end
#pragma unroll(place == edge ? 1 : ${unrolled and steps or 1})
  for (int i = 0; i < steps; ++i) {
    const index_t row = row0 + i - (size - 1);
    if (place == edge && row >= view.height) return;
    row_window window;
//@ if ahead then
    if constexpr (place != edge) {
      window = coming;
      if (i + 1 < steps) coming.template load<place>(view, row0 + i + 1 - radius, col);
    } else {
      window.template load<edge>(view, row0 + i - radius, col);
    }
//@ else
    window.template load<place>(view, row0 + i - radius, col);
//@ end
#pragma unroll
    for (int k = 0; k < size; ++k) {
#pragma unroll
      for (int j = 0; j < size; ++j) {
#pragma unroll
        for (int v = 0; v < vec; ++v) sums[k][v] += ${weight}[k * size + j] * window.get(v + j);
      }
    }
    // The first `size - 1` rows that a strip reads complete no result.
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

//@ local arguments = "view, result, row0, col, " .. (weights_in == "constant" and "" or weight .. ", ") .. "result_stride0"
//@ -- Blocks that a multiprocessor must hold at least: the fewer, the more registers the compiler may take to load ahead.
//@ local bounds = resident > 0 and "block_x * block_y, " .. resident // (block_x * block_y) or "block_x * block_y"
__global__ void __launch_bounds__(${bounds}) filter_strips(${params}) {
//@ stage_weights("block_x * block_y")
  const index_t col = (static_cast<index_t>(blockIdx.x) * block_x + threadIdx.x) * vec;
  const index_t row0 = (static_cast<index_t>(blockIdx.y) * block_y + threadIdx.y) * strip;
  const image_view view = ${view()};
  if (col >= cols || row0 >= rows) return;

  const bool aligned = packs_fit<vec>(image, image_stride0) && packs_fit<vec>(result, result_stride0);
  const bool inner = col >= row_window::reach && cols - col >= vec + row_window::reach && row0 >= radius &&
                     rows - row0 >= strip + radius;
  if (inner && aligned) {
    filter_strip<packed>(${arguments});
  } else if (inner) {
    filter_strip<loose>(${arguments});
  } else {
    filter_strip<edge>(${arguments});
  }
}
