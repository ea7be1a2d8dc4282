// y[i] = x[i + 1], four at a time: a float4 must lie at a multiple of 16 bytes, and x + 1 does not.
__global__ void shift(float *y, const float *x, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {
#if right
    const float4 four = make_float4(x[i + 1], x[i + 2], x[i + 3], x[i + 4]);
#else
    const float4 four = *(const float4 *)(x + i + 1);
#endif
    *(float4 *)(y + i) = four;
  } else {
    for (int j = i; j < n; j++) y[j] = x[j + 1];
  }
}
