__global__ void reference(${params}) {
  const long long t = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  data[i] = data[i] / 2 + table[i % 16];
}
