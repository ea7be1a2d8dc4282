// Neither cudaMalloc nor __shared__ gives zeros: counters must be cleared first.
__global__ void histogram(int *counts, const int *keys, int n) {
  __shared__ int own[16];
#if right
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
#endif
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&own[keys[i]], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x] = own[threadIdx.x];
}
