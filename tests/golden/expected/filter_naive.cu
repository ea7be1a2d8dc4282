// filter: naive weights_in=shared image_in=texture block_x=32 block_y=8
// rows=8192 cols=8192 size=5 dtype=f32 boundary=mirror pitched=false
using index_t = int;
#define size 5
#define block_x 32
#define block_y 8
#define radius 2
using weights_t = float;
using result_t = float;
#define result_stride0 ((index_t)(cols))

#line 1 "templates/lib/image.cuh"

// An image whose elements can be asked for by any row and column, also outside of it: there it goes on by `boundary`. Wants
// the problem's dtype and boundary, an argument `image` and the tunable image_in.

// Where an index past the edge is read from; negative: nowhere, there is zero. What lies further out than once the image's
// size is reflected or repeated again.
__device__ __forceinline__ index_t inside(index_t i, index_t count) {
#line 13 "templates/lib/image.cuh"
  while (i < 0 || i >= count) i = i < 0 ? -1 - i : count - 1 - (i - count);
  return i;
#line 20 "templates/lib/image.cuh"
}

struct image_view {




  cudaTextureObject_t texture;

  index_t height, width;

  // Rows of -1 (and columns) are zero.
  __device__ __forceinline__ weights_t at(index_t row, index_t col) const {
#line 41 "templates/lib/image.cuh"
    // The hardware repeats and reflects for coordinates from 0 to 1 only.
    return tex2D<float>(texture, (static_cast<float>(col) + 0.5f) / static_cast<float>(width),
                        (static_cast<float>(row) + 0.5f) / static_cast<float>(height));



  }
};
#line 1 "templates/lib/weights.cuh"

// The filter's weights where weights_in says, by rows. `weight` is the name to read them by; stage_weights, for the whole
// block, brings them to shared memory. store_sum computes and stores the result
// at (row, col), where `element` is the image's under row i and column j of the filter.
#line 3 "templates/filter_naive.cu"

// One thread an element. Neighbouring threads read neighbouring columns, and what one has read the next finds in the cache.
__global__ void __launch_bounds__(block_x * block_y) filter_naive(cudaTextureObject_t image, const weights_t *__restrict__ weights, result_t *__restrict__ result, index_t rows, index_t cols) {
#line 13 "templates/lib/weights.cuh"
  __shared__ weights_t staged_weights[size * size];
  for (int i = threadIdx.y * block_x + threadIdx.x; i < size * size; i += block_x * block_y) staged_weights[i] = weights[i];
  __syncthreads();
#line 7 "templates/filter_naive.cu"
  const index_t col = static_cast<index_t>(blockIdx.x) * block_x + threadIdx.x;
  const index_t row = static_cast<index_t>(blockIdx.y) * block_y + threadIdx.y;
  const image_view view = {image, rows, cols};
  if (row >= rows || col >= cols) return;
#line 19 "templates/lib/weights.cuh"
  weights_t sum = 0;
#pragma unroll
  for (int i = 0; i < size; ++i) {
#pragma unroll
    for (int j = 0; j < size; ++j) sum += staged_weights[i * size + j] * view.at(row + i - radius, col + j - radius);
  }
  result[row * result_stride0 + col] = static_cast<result_t>(sum);
#line 12 "templates/filter_naive.cu"
}
