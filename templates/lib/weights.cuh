#pragma once
// The filter's weights, row by row, in the memory that weights_in names. `weight` is the array that kernels read. stage_weights,
// called by the whole block, copies the weights to shared memory if they belong there. store_sum computes and stores the result
// at (row, col); `element` is the expression of the image's element under row i and column j of the filter.
//@ weight = weights_in == "shared" and "staged_weights" or "weights"
//@ if weights_in == "constant" then
__constant__ weights_t weights[size * size];
//@ elseif weights_in == "symbol" then
__device__ weights_t weights[size * size];
//@ end
//@ function stage_weights(threads)
//@   if weights_in == "shared" then
  __shared__ weights_t staged_weights[size * size];
  for (int i = threadIdx.y * block_x + threadIdx.x; i < size * size; i += ${threads}) staged_weights[i] = weights[i];
  __syncthreads();
//@   end
//@ end
//@ function store_sum(element)
  weights_t sum = 0;
#pragma unroll
  for (int i = 0; i < size; ++i) {
#pragma unroll
    for (int j = 0; j < size; ++j) sum += ${weight}[i * size + j] * ${element};
  }
  result[row * result_stride0 + col] = static_cast<result_t>(sum);
//@ end
