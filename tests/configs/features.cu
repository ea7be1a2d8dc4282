// The sum of scale * weights[i % 4] * x[i], first by block and then over the blocks.

__constant__ dtype weights[4];

__global__ void partial_sums(${params}) {
  extern __shared__ dtype sums[];
  dtype sum = 0;
  for (long long i = blockIdx.x * threads + threadIdx.x; i < n; i += blocks * threads) sum += weights[i % 4] * x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
//@ local reach = threads // 2
//@ while reach > 0 do
  if (threadIdx.x < ${reach}) sums[threadIdx.x] += sums[threadIdx.x + ${reach}];
  __syncthreads();
//@   reach = reach // 2
//@ end
  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

template <int Width> __global__ void final_sum(${params}) {
  __shared__ dtype sums[Width];
  sums[threadIdx.x] = threadIdx.x < blocks ? partials[threadIdx.x] : dtype(0);
  __syncthreads();
  if (threadIdx.x > 0) return;
  dtype sum = 0;
  for (int i = 0; i < Width; ++i) sum += sums[i];
  total[0] = scale * sum;
}
