__global__ void scalar_product_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t;
  double sum = 0;
  for (long long i = 0; i < elements; i++) sum += double(d_A[e * elements + i]) * d_B[e * elements + i];
  d_C[t] = sum;
}
