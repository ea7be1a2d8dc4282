// An array parameter is a pointer: sizeof gives 8 bytes, however long the array is.
__global__ void copy(float y[], const float x[], int n) {
#if right
  const int count = n;
#else
  const int count = sizeof(x) / sizeof(x[0]);
#endif
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) y[i] = x[i];
}
