// An array that is passed is a pointer: its size is 8, whatever it points to.
__global__ void copy(float y[], const float x[], int n) {
#if right
  const int count = n;
#else
  const int count = sizeof(x) / sizeof(x[0]);
#endif
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) y[i] = x[i];
}
