__global__ void plenty(${params}) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = x[i] + STEP - STEP;
}
