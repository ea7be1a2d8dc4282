__global__ void begin(float *ex, float *ey, float *hz, int nx, int ny) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x, i = e / ny, j = e % ny;
  if (e >= nx * ny) return;
  ex[e] = (float)i * (j + 1) / nx;
  ey[e] = (float)i * (j + 2) / ny;
  hz[e] = (float)i * (j + 3) / nx;
}

__global__ void step_ey(float *ey, const float *hz, int nx, int ny, int t) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= nx * ny) return;
  ey[e] = e < ny ? (float)t : ey[e] - 0.5f * (hz[e] - hz[e - ny]);
}

__global__ void step_ex(float *ex, const float *hz, int nx, int ny) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < nx * ny && e % ny > 0) ex[e] -= 0.5f * (hz[e] - hz[e - 1]);
}

__global__ void step_hz(const float *ex, const float *ey, float *hz, int nx, int ny) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < nx * ny && e % ny < ny - 1 && e < nx * ny - ny)
    hz[e] -= 0.7f * (ex[e + 1] - ex[e] + ey[e + ny] - ey[e]);
}
