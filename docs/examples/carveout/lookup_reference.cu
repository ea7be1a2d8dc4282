__global__ void lookup_reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  double sum = 0;
  for (int k = 0; k < 64; k++) sum += table[(i + k * 633 * 32) & (words - 1)];
  y[i] = sum;
}
