__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  double sum = x[samples ? samples[t] : t];
  for (int step = 0; step < STEPS; step++) sum = 0.5 * sum + 1.0;
  y[t] = sum;
}
