// 0: nothing; 1: a trap; 2: half of a warp waits for the other half, which waits for the block; 3: barriers without end.
__constant__ weights_t weights[4];

__global__ void hazards(${params}) {
  __shared__ float turned[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  turned[threads - 1 - threadIdx.x] = i < n ? x[i] : 0.0f;
  if (hazard == 1 && i == 70) __trap();
  if (hazard == 2 && threadIdx.x % 32 >= 16) __shfl_sync(0xffffffffu, i, 0);
  do __syncthreads();
  while (hazard == 3);
  if (i < n) y[i] = weights[i % 4] * turned[threads - 1 - threadIdx.x];
}
