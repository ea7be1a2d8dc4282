// B = transposed A through shared memory: a block brings a tile in by rows and takes it out by columns, so that loads
// and stores are both coalesced. A thread moves tile / threads_y elements.
//
// The layout of the tile decides how many different banks of shared memory the lanes of a warp meet when the warp goes
// down a column of the tile.

//@ include "lib/tile_order.cuh"

__global__ void __launch_bounds__(tile * threads_y) transpose_tiled(${params}) {
  const tile_place place = place_tile<tile, tile, down_first>(rows, cols);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t rows_left = rows - place.row;
  const index_t cols_left = cols - place.col;

  const dtype *from = A + place.batch * A_stride0 + place.row * A_stride1 + place.col;
#pragma unroll
  for (int r = 0; r < tile; r += threads_y) {
    if (y + r < rows_left && x < cols_left) part(y + r, x) = from[(y + r) * A_stride1 + x];
  }
  __syncthreads();
  dtype *to = B + place.batch * B_stride0 + place.col * B_stride1 + place.row;
#pragma unroll
  for (int c = 0; c < tile; c += threads_y) {
    if (y + c < cols_left && x < rows_left) to[(y + c) * B_stride1 + x] = part(x, y + c);
  }
}
