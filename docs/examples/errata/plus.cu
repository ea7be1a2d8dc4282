// Blocks lie one behind the other: a thread's element is the threads of all blocks before it, plus its own number.
__global__ void twice(float *y, const float *x, int n) {
#if right
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
  const int i = blockIdx.x + blockDim.x + threadIdx.x;
#endif
  if (i < n) y[i] = 2 * x[i];
}
