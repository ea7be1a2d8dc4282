__global__ void symbols_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  y[t] = 2 * x[i];
  z[i] += static_cast<int>(10 * x[i]);
}
