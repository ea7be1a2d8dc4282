// y = x by tiles, one block a tile: neighbouring threads move neighbouring elements of a row, and each thread moves the
// elements of its column in every threads_y-th row.

//@ include "lib/tile_order.cuh"

__global__ void __launch_bounds__(tile * threads_y) copy_tile(${params}) {
  const tile_place place = place_tile<tile, tile, false>(rows, width);
  const index_t col = place.col + threadIdx.x;
  const index_t rows_left = rows - place.row;
  if (col >= width) return;
  const x_t *from = x + place.row * x_pitch + col;
  y_t *to = y + place.row * y_pitch + col;
#pragma unroll
  for (int r = 0; r < tile; r += threads_y) {
    const int row = r + threadIdx.y;
    if (row < rows_left) to[row * y_pitch] = from[row * x_pitch];
  }
}
