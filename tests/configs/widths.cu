// y = x, vec elements a thread. Planted: from two elements on the last of each is wrong.
extern "C" __global__ void wide(float *y, const float *x, int n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * vec;
  for (int i = first; i < first + vec && i < n; i++) y[i] = vec > 1 && i == first + vec - 1 ? 0.5f : x[i];
}
