// A thread's element is the number of threads in all blocks before its own, plus its number in the block.
__global__ void twice(float *y, const float *x, int n) {
#if right
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
  const int i = blockIdx.x + blockDim.x + threadIdx.x;
#endif
  if (i < n) y[i] = 2 * x[i];
}
