__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long row = samples ? samples[t] : t;
  double sum = 0;
  for (int i = 0; i < cols; i++) sum += x[row * cols + i];
  y[t] = sum;
}
