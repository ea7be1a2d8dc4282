__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t;
  const float *row = x + e / cols * x_stride0;
  double most = row[0], sum = 0;
  for (index_t col = 1; col < cols; col++) most = fmax(most, (double)row[col]);
  for (index_t col = 0; col < cols; col++) sum += exp(row[col] - most);
  y[t] = exp(row[e % cols] - most) / sum;
}
