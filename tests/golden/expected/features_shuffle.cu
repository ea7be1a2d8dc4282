// features: shuffle blocks=32 threads=64
// n=100000 dtype=i32 memory=device
using dtype = int;
#define blocks 32
#define threads 64
using x_t = int;
using partials_t = int;
using total_t = int;

#line 1 "tests/configs/features_shuffle.cu"
// The sum of scale * weights[i % 4] * x[i], with warp shuffles instead of a tree in shared memory.

__constant__ dtype weights[4];

__device__ dtype warp_sum(dtype sum) {

  sum += __shfl_down_sync(0xffffffffu, sum, 16);
#line 7 "tests/configs/features_shuffle.cu"
  sum += __shfl_down_sync(0xffffffffu, sum, 8);
#line 7 "tests/configs/features_shuffle.cu"
  sum += __shfl_down_sync(0xffffffffu, sum, 4);
#line 7 "tests/configs/features_shuffle.cu"
  sum += __shfl_down_sync(0xffffffffu, sum, 2);
#line 7 "tests/configs/features_shuffle.cu"
  sum += __shfl_down_sync(0xffffffffu, sum, 1);

  return sum;
}

__global__ void partial_sums(const x_t *__restrict__ x, partials_t *__restrict__ partials, total_t *__restrict__ total, long long n, int scale) {
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

__global__ void final_sum(const x_t *__restrict__ x, partials_t *__restrict__ partials, total_t *__restrict__ total, long long n, int scale) {
  const dtype sum = warp_sum(threadIdx.x < blocks ? partials[threadIdx.x] : dtype(0));
  if (threadIdx.x == 0) total[0] = scale * sum;
}
