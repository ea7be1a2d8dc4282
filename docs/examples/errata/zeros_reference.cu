__global__ void zeros_reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long key = samples ? samples[t] : t;
  int count = 0;
  for (int i = 0; i < n; i++) count += keys[i] == key;
  counts[key] = count;
}
