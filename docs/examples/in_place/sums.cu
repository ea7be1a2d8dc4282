// The reduction in global memory as many notes print it: each block adds up blockDim.x elements of x in place, and leaves
// its sum in sums. Without the condition i + reach < n, the last block adds what lies behind x.
__global__ void sums_in_place(float *sums, float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int reach = blockDim.x / 2; reach > 0; reach /= 2) {
#if guarded
    if (threadIdx.x < reach && i + reach < n)
#else
    if (threadIdx.x < reach)
#endif
      x[i] += x[i + reach];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = x[i];
}
