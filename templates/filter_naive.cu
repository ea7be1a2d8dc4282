//@ include "lib/image.cuh"
//@ include "lib/weights.cuh"

// One thread an element. Neighbouring threads read neighbouring columns, and find in the cache what their neighbours have read.
__global__ void __launch_bounds__(block_x * block_y) filter_naive(${params}) {
//@ stage_weights("block_x * block_y")
  const index_t col = static_cast<index_t>(blockIdx.x) * block_x + threadIdx.x;
  const index_t row = static_cast<index_t>(blockIdx.y) * block_y + threadIdx.y;
  const image_view view = ${view()};
  if (row >= rows || col >= cols) return;
//@ store_sum("view.at(row + i - radius, col + j - radius)")
}
