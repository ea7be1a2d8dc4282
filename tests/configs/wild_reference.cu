__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  out[t] = (double)alpha * x[i] + y[i];
}
