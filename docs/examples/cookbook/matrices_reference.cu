__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t, row = e / N, col = e % N;
  double sum = 0;
  for (index_t k = 0; k < K; k++) sum += (double)A(row, k) * B(k, col);
  C[t] = sum;
}
