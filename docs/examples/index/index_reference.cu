__global__ void index_reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t < sample_count) y[t] = samples ? samples[t] : t;
}
