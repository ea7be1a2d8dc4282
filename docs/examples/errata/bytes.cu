// halves has n floats here; cudaMalloc counts bytes, so that n of them are a quarter of that.
__global__ void two_steps(float *y, const float *x, float *halves, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  halves[i] = x[i] / 2;
  y[i] = halves[i] + 1;
}
