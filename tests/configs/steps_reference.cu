__global__ void steps_reference(${params}) {
  if (blockIdx.x + threadIdx.x > 0 || sample_count < 1) return;
  double sum = 0;
  for (long long i = 0; i < n; i++) sum += source[i];
  out[0] = sum;
}
