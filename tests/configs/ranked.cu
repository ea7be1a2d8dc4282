__global__ void ranked(${params}) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  float sum = x[i];
  for (int step = 0; step < STEPS; step++) sum = 0.5f * sum + 1.0f;
  y[i] = sum;
}
