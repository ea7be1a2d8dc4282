__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  out[t] = 0.25 * a[i] + 0.75 * b[i];
}
