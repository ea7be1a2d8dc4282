__global__ void clear(float *result) {
  *result = 0;
}

__global__ void reduce(const float *in, float *result, int count) {
  __shared__ float part[threads];
  float sum = 0;
  const int first = blockIdx.x * factor + threadIdx.x;
  for (int i = 0; i < each; i++)
    if (first + i * threads < count) sum += in[first + i * threads];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = threads / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
#if atomics
  atomicAdd(result, part[0]);
#else
  result[blockIdx.x] = part[0];
#endif
}
