// One chain a thread, in double precision.

__global__ void peak_fma_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  double value = ${width == 2 and "static_cast<float>" or ""}(x[samples ? samples[t] : t]);
  for (int round = 0; round < rounds; ++round) value = factor * value + addend;
  y[t] = value;
}
