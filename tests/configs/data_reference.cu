__constant__ w_t w[3];
__global__ void reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  y[t] = static_cast<double>(x[2 * i + 1]) + s[i];
}
