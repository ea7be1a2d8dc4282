__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long s = samples ? samples[t] : t;
  double mine = 0;
  for (int i = start[s]; i < start[s + 1]; i++) mine += x[i];
  sum[t] = mine;
}
