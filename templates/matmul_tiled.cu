// C = A * B through shared memory: a block computes a tile of C in phases. In each phase its threads bring one tile
// of A and one of B to shared memory together, one element each, and then every element is used `tile` times from
// there: global loads fall from 2 * M * N * K to 2 * M * N * K / tile.

//@ include "lib/batch.cuh"

__global__ void __launch_bounds__(tile * tile) matmul_tiled(${params}) {
  // One more column (pad = 1) moves each row to other banks. It is needed where a tile is read or written by
  // columns, which is so for operands whose rows are not contiguous.
  __shared__ A_t tile_a[tile][tile + pad];
  __shared__ B_t tile_b[tile][tile + pad];

  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t block_row = static_cast<index_t>(blockIdx.y) * tile;
  const index_t block_col = static_cast<index_t>(blockIdx.x) * tile;

  const A_t *const a = ${of_batch("A", A_layout, "M", "K")};
  const B_t *const b = ${of_batch("B", B_layout, "K", "N")};
  C_t *const c = ${of_batch("C", C_layout, "M", "N")};

  accumulator sum = 0;
  for (index_t k0 = 0; k0 < K; k0 += tile) {
    // Neighbouring threads read neighbouring addresses, so x runs along the operand's contiguous index. Outside
    // the matrix a zero adds nothing.
//@ if A_layout == "row" then
    const bool inside_a = y < M - block_row && x < K - k0;
    tile_a[y][x] = inside_a ? a[(block_row + y) * A_stride0 + (k0 + x) * A_stride1] : A_t(0);
//@ else
    const bool inside_a = x < M - block_row && y < K - k0;
    tile_a[x][y] = inside_a ? a[(block_row + x) * A_stride0 + (k0 + y) * A_stride1] : A_t(0);
//@ end
//@ if B_layout == "row" then
    const bool inside_b = y < K - k0 && x < N - block_col;
    tile_b[y][x] = inside_b ? b[(k0 + y) * B_stride0 + (block_col + x) * B_stride1] : B_t(0);
//@ else
    const bool inside_b = x < K - k0 && y < N - block_col;
    tile_b[x][y] = inside_b ? b[(k0 + x) * B_stride0 + (block_col + y) * B_stride1] : B_t(0);
//@ end
    __syncthreads(); // read after write: the tiles are complete before anyone uses them

#pragma unroll
//@ if C_layout == "row" then
    for (int k = 0; k < tile; ++k) {
      sum += static_cast<accumulator>(tile_a[y][k]) * static_cast<accumulator>(tile_b[k][x]);
    }
//@ else
    for (int k = 0; k < tile; ++k) {
      sum += static_cast<accumulator>(tile_a[x][k]) * static_cast<accumulator>(tile_b[k][y]);
    }
//@ end
    __syncthreads(); // write after read: everyone is done with the tiles before the next phase overwrites them
  }

  // x runs along C's contiguous index too.
//@ if C_layout == "row" then
  const int row = y;
  const int col = x;
//@ else
  const int row = x;
  const int col = y;
//@ end
  if (row < M - block_row && col < N - block_col) {
    c[(block_row + row) * C_stride0 + (block_col + col) * C_stride1] =
        static_cast<C_t>(${stored("sum", "block_row + row", "block_col + col")});
  }
}
