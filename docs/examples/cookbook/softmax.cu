// Each warp computes a row. Maximum and sum are found in one pass: where the maximum rises, the sum
// so far is scaled down.
__global__ void softmax(${params}) {
  const index_t row = blockIdx.x * warps + threadIdx.y;
  if (row >= rows) return;
  const float *from = x + row * x_stride0;
  float most = -3e38f, sum = 0;
#pragma unroll ${unroll}
  for (index_t col = threadIdx.x; col < cols; col += 32) {
    const float higher = fmaxf(most, from[col]);
    sum = sum * expf(most - higher) + expf(from[col] - higher);
    most = higher;
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    const float other_most = __shfl_xor_sync(~0u, most, apart);
    const float other_sum = __shfl_xor_sync(~0u, sum, apart);
    const float higher = fmaxf(most, other_most);
    sum = sum * expf(most - higher) + other_sum * expf(other_most - higher);
    most = higher;
  }
#pragma unroll ${unroll}
  for (index_t col = threadIdx.x; col < cols; col += 32)
    y[row * y_stride0 + col] = expf(from[col] - most) / sum;
}
