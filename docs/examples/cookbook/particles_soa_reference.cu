__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t;
  fields[t] = particles(e / 4, e % 4);
}
