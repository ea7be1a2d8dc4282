// C = A * B, one thread for one element of C: the simplest implementation.
//
// Every thread reads a whole row of A and a whole column of B from global memory: 2 * K loads for 2 * K operations,
// an arithmetic intensity of 0.25 FLOP/B in f32. Two things help: the threads of a warp share a row or a column, and
// their loads and stores may coalesce. columns_along says which thread index runs along C's columns.

//@ include "lib/batch.cuh"

__global__ void __launch_bounds__(block_x * block_y) matmul_naive(${params}) {
//@ local across, down = columns_along, columns_along == "x" and "y" or "x"
  const index_t row = static_cast<index_t>(blockIdx.${down}) * block_${down} + threadIdx.${down};
  const index_t col = static_cast<index_t>(blockIdx.${across}) * block_${across} + threadIdx.${across};
  if (row >= M || col >= N) return;

  const A_t *const a = ${of_batch("A", A_layout, "M", "K")};
  const B_t *const b = ${of_batch("B", B_layout, "K", "N")};
  C_t *const c = ${of_batch("C", C_layout, "M", "N")};
  accumulator sum = 0;
  for (index_t k = 0; k < K; ++k) {
    sum += static_cast<accumulator>(a[row * A_stride0 + k * A_stride1]) *
           static_cast<accumulator>(b[k * B_stride0 + col * B_stride1]);
  }
  c[row * C_stride0 + col * C_stride1] = static_cast<C_t>(${stored("sum", "row", "col")});
}
