// The sum of scale * weights[i % 4] * x[i], with warp shuffles instead of a tree in shared memory.

__constant__ dtype weights[4];

__device__ dtype warp_sum(dtype sum) {
//@ for _, reach in ipairs { 16, 8, 4, 2, 1 } do
  sum += __shfl_down_sync(0xffffffffu, sum, ${reach});
//@ end
  return sum;
}

__global__ void partial_sums(${params}) {
  __shared__ dtype sums[threads / 32];
  dtype sum = 0;
  for (long long i = blockIdx.x * threads + threadIdx.x; i < n; i += blocks * threads) sum += weights[i % 4] * x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (int warp = 0; warp < threads / 32; ++warp) sum += sums[warp];
  partials[blockIdx.x] = sum;
}

__global__ void final_sum(${params}) {
  const dtype sum = warp_sum(threadIdx.x < blocks ? partials[threadIdx.x] : dtype(0));
  if (threadIdx.x == 0) total[0] = scale * sum;
}
