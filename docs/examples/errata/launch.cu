// twice<<<blocks, 2048>>>(y, x, n): no block has 2048 threads. The launch fails, but only cudaGetLastError says so.
__global__ void twice(float *y, const float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
