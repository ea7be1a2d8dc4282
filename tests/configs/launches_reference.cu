__global__ void planted_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t < sample_count) y[t] = 2.0 * x[samples ? samples[t] : t] + 1.0;
}
