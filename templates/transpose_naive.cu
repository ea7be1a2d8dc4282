// B = transposed A, one element a thread, straight from memory to memory. Where threadIdx.x runs along A's columns,
// loads are coalesced, and neighbouring threads store a whole row apart; where threadIdx.y does, the reverse.
//@ if reads ~= "restrict" then
// Without __restrict__ a store to B may change A, so that loads of A are plain loads. __ldg promises that nobody writes A while the
// kernel runs: the loads may then go by the read-only path.
//@ end

//@ include "lib/tile_order.cuh"

//@ local across, down = columns_along, columns_along == "x" and "y" or "x"
//@ local parameters = reads == "restrict" and params or "const A_t *A, B_t *B, index_t rows, index_t cols, index_t batch"
__global__ void __launch_bounds__(block_x * block_y) transpose_naive(${parameters}) {
  const tile_place place = place_tile<block_${down}, block_${across}, false>(rows, cols);
  const index_t row = place.row + threadIdx.${down};
  const index_t col = place.col + threadIdx.${across};
  if (row >= rows || col >= cols) return;
  B[place.batch * B_stride0 + col * B_stride1 + row] = ${reads == "ldg" and "__ldg" or "*"}(&A[place.batch * A_stride0 + row * A_stride1 + col]);
}
