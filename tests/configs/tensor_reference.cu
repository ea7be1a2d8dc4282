__global__ void sum_of_a_box(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t, across = (cols + 31) / 32;
  sums_t sum = 0;
  for (long long row = i / across * 32; row < i / across * 32 + 32 && row < rows; ++row)
    for (long long col = i % across * 32; col < i % across * 32 + 32 && col < cols; ++col) sum += x[row * x_stride0 + col];
  sums[t] = sum;
}
