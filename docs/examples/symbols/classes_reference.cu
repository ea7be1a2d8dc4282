__constant__ unsigned char class_of[256];

__global__ void classes_reference(${params}) {
  long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  long long element = samples ? samples[t] : t;
  for (int i = 0; i < n; i++) counts[element] += class_of[text[i]] == element;
}
