__global__ void kick(float *v, const float *x, int n, float now) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < n) v[i] += dt * (sinf(now) - x[i]);
}

__global__ void drift(float *x, const float *v, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < n) x[i] += dt * v[i];
}
