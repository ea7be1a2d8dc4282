__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t < sample_count) y[t] = x[samples ? samples[t] : t];
}
