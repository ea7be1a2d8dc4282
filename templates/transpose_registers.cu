// B = transposed A without shared memory: a thread loads a block of vec x vec elements by rows, turns it over in its
// registers and stores it by columns, `access` bytes at a time. The lanes of a warp stand lanes_down by lanes_across
// blocks, so that each load of a warp touches lanes_down whole stretches of A and each store lanes_across stretches of
// B.
//
// A thread whose block crosses an edge, or whose matrix is not aligned for packs, moves one element at a time.

//@ include "lib/tile_order.cuh"
//@ include "lib/transpose_block.cuh"

__global__ void __launch_bounds__(threads) transpose_registers(${params}) {
  const tile_place place = place_tile<tile_rows, tile_cols, down_first>(rows, cols);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const index_t row = place.row + (warp / warps_across * lanes_down + lane / lanes_across) * vec;
  const index_t col = place.col + (warp % warps_across * lanes_across + lane % lanes_across) * vec;
  if (row >= rows || col >= cols) return;
  const dtype *from = A + place.batch * A_stride0 + row * A_stride1 + col;
  dtype *to = B + place.batch * B_stride0 + col * B_stride1 + row;
  const long long size = sizeof(dtype);

  if (rows - row >= vec && cols - col >= vec && accesses_fit<access>(A, (A_stride0 * size) | (A_stride1 * size)) &&
      accesses_fit<access>(B, (B_stride0 * size) | (B_stride1 * size))) {
    bits held[vec], turned[vec];
#pragma unroll
    for (int i = 0; i < vec; ++i) held[i] = load_bits(reinterpret_cast<const bits *>(from + i * A_stride1));
    turn_block(held, turned);
#pragma unroll
    for (int i = 0; i < vec; ++i) store_bits(reinterpret_cast<bits *>(to + i * B_stride1), turned[i]);
    return;
  }
  for (int i = 0; i < vec && i < rows - row; ++i) {
    for (int j = 0; j < vec && j < cols - col; ++j) to[j * B_stride1 + i] = from[i * A_stride1 + j];
  }
}
