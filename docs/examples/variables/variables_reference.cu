__constant__ float weights[16];

__global__ void variables_reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  double sum = 0;
  for (int k = 0; k < 16 && i + k < n; k++) sum += (double)weights[k] * x[i + k];
  y[t] = sum / 2;
}
