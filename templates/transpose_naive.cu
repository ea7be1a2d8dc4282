// B = transposed A, one element a thread, straight from memory to memory. One of the two accesses goes against the
// rows: neighbouring threads of a warp, whose threadIdx.x differs first, then touch addresses that are a whole row
// apart, and each of them moves 32 bytes for its one element.
//
//@ if columns_along == "x" then
// x runs along A's columns: loads are coalesced, stores are not.
//@ else
// y runs along A's columns and x along B's: stores are coalesced, loads are not.
//@ end

//@ if reads == "plain" then
//
// Without __restrict__ a store to B may change A, so that loads of A are plain ones.
//@ elseif reads == "ldg" then
//
// __ldg says that nobody writes what it reads while the kernel runs: the load may go by the read-only path.
//@ end

//@ include "lib/tile_order.cuh"

//@ if reads == "restrict" then
__global__ void __launch_bounds__(block_x * block_y) transpose_naive(${params}) {
//@ else
__global__ void __launch_bounds__(block_x * block_y)
    transpose_naive(const A_t *A, B_t *B, index_t rows, index_t cols, index_t batch) {
//@ end
//@ if columns_along == "x" then
  const tile_place place = place_tile<block_y, block_x, false>(rows, cols);
  const index_t row = place.row + threadIdx.y;
  const index_t col = place.col + threadIdx.x;
//@ else
  const tile_place place = place_tile<block_x, block_y, false>(rows, cols);
  const index_t row = place.row + threadIdx.x;
  const index_t col = place.col + threadIdx.y;
//@ end
  if (row >= rows || col >= cols) return;
//@ local read = reads == "ldg" and "__ldg(&A[place.batch * A_stride0 + row * A_stride1 + col])"
//@   or "A[place.batch * A_stride0 + row * A_stride1 + col]"
  B[place.batch * B_stride0 + col * B_stride1 + row] = ${read};
}
