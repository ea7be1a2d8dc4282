__global__ void sizes_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t < sample_count) y[t] = x[samples ? samples[t] : t];
}
