__global__ void parboil_sgemm_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t, n = e / M, m = e % M;
  double sum = 0;
  for (long long i = 0; i < K; i++) sum += double(A[i * M + m]) * B[i * N + n];
  C[e] = sum;
}
