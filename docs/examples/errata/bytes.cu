// halves needs n floats. cudaMalloc counts bytes, and n bytes hold a quarter of the floats.
__global__ void two_steps(float *y, const float *x, float *halves, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  halves[i] = x[i] / 2;
  y[i] = halves[i] + 1;
}
