// features: tree blocks=8 threads=128
// n=100000 dtype=f32 memory=device
using dtype = float;
#define blocks 8
#define threads 128
using x_t = float;
using partials_t = float;
using total_t = float;

#line 1 "tests/configs/features.cu"
// The sum of scale * weights[i % 4] * x[i], first by block and then over the blocks.

__constant__ dtype weights[4];

__global__ void partial_sums(const x_t *__restrict__ x, partials_t *__restrict__ partials, total_t *__restrict__ total, long long n, float scale) {
  extern __shared__ dtype sums[];
  dtype sum = 0;
  for (long long i = blockIdx.x * threads + threadIdx.x; i < n; i += blocks * threads) sum += weights[i % 4] * x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();


  if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];
  __syncthreads();
#line 13 "tests/configs/features.cu"
  if (threadIdx.x < 32) sums[threadIdx.x] += sums[threadIdx.x + 32];
  __syncthreads();
#line 13 "tests/configs/features.cu"
  if (threadIdx.x < 16) sums[threadIdx.x] += sums[threadIdx.x + 16];
  __syncthreads();
#line 13 "tests/configs/features.cu"
  if (threadIdx.x < 8) sums[threadIdx.x] += sums[threadIdx.x + 8];
  __syncthreads();
#line 13 "tests/configs/features.cu"
  if (threadIdx.x < 4) sums[threadIdx.x] += sums[threadIdx.x + 4];
  __syncthreads();
#line 13 "tests/configs/features.cu"
  if (threadIdx.x < 2) sums[threadIdx.x] += sums[threadIdx.x + 2];
  __syncthreads();
#line 13 "tests/configs/features.cu"
  if (threadIdx.x < 1) sums[threadIdx.x] += sums[threadIdx.x + 1];
  __syncthreads();


  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

template <int Width> __global__ void final_sum(const x_t *__restrict__ x, partials_t *__restrict__ partials, total_t *__restrict__ total, long long n, float scale) {
  __shared__ dtype sums[Width];
  sums[threadIdx.x] = threadIdx.x < blocks ? partials[threadIdx.x] : dtype(0);
  __syncthreads();
  if (threadIdx.x > 0) return;
  dtype sum = 0;
  for (int i = 0; i < Width; ++i) sum += sums[i];
  total[0] = scale * sum;
}
