// filter: tiled weights_in=global image_in=global block_x=32 block_y=8 rows_per_thread=4
// rows=8192 cols=8192 size=5 dtype=f16 boundary=zero pitched=true
#include <cuda_fp16.h>

using index_t = int;
#define size 5
#define block_x 32
#define block_y 8
#define rows_per_thread 4
#define radius 2
#define tile_x 36
#define tile_y 36
using image_t = __half;
#define image_stride0 ((index_t)((((long long)cols) + 256LL - 1) / 256LL * 256LL))
using weights_t = float;
using result_t = __half;
#define result_stride0 ((index_t)((((long long)cols) + 256LL - 1) / 256LL * 256LL))

#line 1 "templates/lib/image.cuh"

// An image whose elements can be asked for by any row and column, also outside of it: there it goes on by `boundary`. Wants
// the problem's dtype and boundary, an argument `image` and the tunable image_in.

// Where an index past the edge is read from; negative: nowhere, there is zero. What lies further out than once the image's
// size is reflected or repeated again.
__device__ __forceinline__ index_t inside(index_t i, index_t count) {



  return i < count ? i : -1;
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

    if (r < 0 || c < 0) return 0;

    return static_cast<weights_t>(base[r * stride + c]);
#line 47 "templates/lib/image.cuh"
  }
};
#line 1 "templates/lib/weights.cuh"

// The filter's weights where weights_in says, by rows. `weight` is the name to read them by; stage_weights, for the whole
// block, brings them to shared memory.
#line 3 "templates/filter_tiled.cu"

// A block's elements of the image and `radius` more on every side come to shared memory once; each is used up to size^2
// times from there.
__global__ void __launch_bounds__(block_x * block_y) filter_tiled(const image_t *__restrict__ image, const weights_t *__restrict__ weights, result_t *__restrict__ result, index_t rows, index_t cols) {
  __shared__ weights_t tile[tile_y][tile_x];

  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t row0 = static_cast<index_t>(blockIdx.y) * (block_y * rows_per_thread);
  const index_t col0 = static_cast<index_t>(blockIdx.x) * block_x;
  const image_view view = {image, image_stride0, rows, cols};

  // What no element of the image needs is not read: a block may reach far past the end.
  for (int i = y; i < tile_y && row0 + i < rows + 2 * radius; i += block_y) {
    for (int j = x; j < tile_x && col0 + j < cols + 2 * radius; j += block_x) {
      tile[i][j] = view.at(row0 + i - radius, col0 + j - radius);
    }
  }
  __syncthreads();

  const index_t col = col0 + x;
  if (col >= cols) return;
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    const index_t row = row0 + y + k * block_y;
    if (row >= rows) return;
    weights_t sum = 0;
#pragma unroll
    for (int i = 0; i < size; ++i) {
#pragma unroll
      for (int j = 0; j < size; ++j) sum += weights[i * size + j] * tile[y + k * block_y + i][x + j];
    }
    result[row * result_stride0 + col] = static_cast<result_t>(sum);
  }
}
