// C = A * B through shared memory: a block computes a tile of C in phases. In each phase its threads bring one tile
// of A and one of B to shared memory together, one element each, and then every element is used `tile` times from
// there: global loads fall from 2 * M * N * K to 2 * M * N * K / tile.

//@ include "lib/batch.cuh"

//@ -- x runs along the contiguous index of each matrix: neighbouring threads have neighbouring addresses.
//@ local a_row, a_k = A_layout == "row" and "y" or "x", A_layout == "row" and "x" or "y"
//@ local b_k, b_col = B_layout == "row" and "y" or "x", B_layout == "row" and "x" or "y"
//@ local c_row, c_col = C_layout == "row" and "y" or "x", C_layout == "row" and "x" or "y"
__global__ void __launch_bounds__(tile * tile) matmul_tiled(${params}) {
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t block_row = static_cast<index_t>(blockIdx.y) * tile;
  const index_t block_col = static_cast<index_t>(blockIdx.x) * tile;

  const A_t *const a = ${of_batch("A", A_layout, "M", "K")};
  const B_t *const b = ${of_batch("B", B_layout, "K", "N")};
  C_t *const c = ${of_batch("C", C_layout, "M", "N")};

  accumulator sum = 0;
  for (index_t k0 = 0; k0 < K; k0 += tile) {
    // Outside the matrix a zero adds nothing.
    const bool inside_a = ${a_row} < M - block_row && ${a_k} < K - k0;
    tile_a(${a_row}, ${a_k}) = inside_a ? a[(block_row + ${a_row}) * A_stride0 + (k0 + ${a_k}) * A_stride1] : A_t(0);
    const bool inside_b = ${b_k} < K - k0 && ${b_col} < N - block_col;
    tile_b(${b_k}, ${b_col}) = inside_b ? b[(k0 + ${b_k}) * B_stride0 + (block_col + ${b_col}) * B_stride1] : B_t(0);
    __syncthreads(); // read after write: the tiles are complete before anyone uses them

#pragma unroll
    for (int k = 0; k < tile; ++k) {
      sum += static_cast<accumulator>(tile_a(${c_row}, k)) * static_cast<accumulator>(tile_b(k, ${c_col}));
    }
    __syncthreads(); // write after read: everyone is done with the tiles before the next phase overwrites them
  }

  const int row = ${c_row}, col = ${c_col};
  if (row < M - block_row && col < N - block_col) {
    c[(block_row + row) * C_stride0 + (block_col + col) * C_stride1] =
        static_cast<C_t>(${stored("sum", "block_row + row", "block_col + col")});
  }
}
