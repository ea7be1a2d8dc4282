// Sums of a block's elements: by barriers, by shuffles within warps, and by votes.

template <int Threads> __global__ void by_barriers(long long *sums, const int *in) {
  __shared__ int part[Threads];
  part[threadIdx.x] = in[blockIdx.x * Threads + threadIdx.x];
  __syncthreads();
  for (int reach = Threads / 2; reach > 0; reach /= 2) {
    if (threadIdx.x < reach) part[threadIdx.x] += part[threadIdx.x + reach];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Threads whose number is past n have left: the others' barriers and shuffles do not wait for them.
template <typename Sum, int Width> __global__ void by_shuffles(Sum *sums, const int *in, int n) {
  __shared__ Sum part[32];
  if (threadIdx.x < 32) part[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x >= n) return;
  Sum sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int reach = Width / 2; reach > 0; reach /= 2) {
    const Sum other = __shfl_down_sync(0xffffffffu, sum, reach, Width);
    const int from = threadIdx.x % Width + reach;
    if (from < Width && threadIdx.x + reach < n) sum += other;
  }
  if (threadIdx.x % Width == 0) atomicAdd(&part[threadIdx.x / 32], sum);
  __syncthreads();
  if (threadIdx.x > 0) return;
  Sum all = 0;
  for (int warp = 0; warp < 32; ++warp) all += part[warp];
  sums[blockIdx.x] = all;
}

// How many elements are odd, whether all are, whether one is.
__global__ void by_votes(int *counts, const int *in) {
  const int odd = in[blockIdx.x * blockDim.x + threadIdx.x] & 1;
  const int count = __syncthreads_count(odd);
  const int all = __syncthreads_and(odd);
  const int any = __syncthreads_or(odd);
  const int warp = __popc(__ballot_sync(0xffffffffu, odd));
  if (threadIdx.x % 32 == 0) atomicAdd(&counts[blockIdx.x * 4 + 3], warp);
  if (threadIdx.x > 0) return;
  counts[blockIdx.x * 4] = count;
  counts[blockIdx.x * 4 + 1] = all;
  counts[blockIdx.x * 4 + 2] = any;
}
