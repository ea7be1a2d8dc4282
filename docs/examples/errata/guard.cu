// n is seldom a multiple of the block's size: the last block has threads without an element.
__global__ void twice(float *y, const float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if right
  if (i >= n) return;
#endif
  y[i] = 2 * x[i];
}
