// Computes one of the sums in double, from x as it was before the launch.
__global__ void sums_reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long first = (samples ? samples[t] : t) * threads;
  double sum = 0;
  for (long long i = first; i < first + threads && i < n; i++) sum += x[i];
  sums[t] = sum;
}
