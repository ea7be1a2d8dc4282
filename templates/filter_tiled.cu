//@ include "lib/image.cuh"
//@ include "lib/weights.cuh"

// A block's elements of the image and `radius` more on every side come to shared memory once; each is used up to size^2
// times from there.
__global__ void __launch_bounds__(block_x * block_y) filter_tiled(${params}) {
//@ stage_weights("block_x * block_y")
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t row0 = static_cast<index_t>(blockIdx.y) * (block_y * rows_per_thread);
  const index_t col0 = static_cast<index_t>(blockIdx.x) * block_x;
  const image_view view = ${view()};

  // Rows and columns that no result needs are not read: a block may reach far past the image's end.
  for (int i = y; i < tile_y && row0 + i < rows + 2 * radius; i += block_y) {
    for (int j = x; j < tile_x && col0 + j < cols + 2 * radius; j += block_x) {
      tile(i, j) = view.at(row0 + i - radius, col0 + j - radius);
    }
  }
  __syncthreads();

  const index_t col = col0 + x;
  if (col >= cols) return;
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    const index_t row = row0 + y + k * block_y;
    if (row >= rows) return;
//@ store_sum("tile(y + k * block_y + i, x + j)")
  }
}
