// Computes one element in double, without tiles.
__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  const double left = data[i > 0 ? i - 1 : 0], right = data[i + 1 < n ? i + 1 : i];
  out[t] = (double)centre * data[i] + (1.0 - (double)centre) / 2.0 * (left + right);
}
