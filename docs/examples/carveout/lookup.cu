// A warp loads 64 lines of 128 bytes, 633 lines apart modulo the table; blocks of a multiprocessor load many of the same lines.
__global__ void lookup(float *y, const float *table, int n, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i >= n) return;
#pragma unroll 8
  for (int k = 0; k < 64; k++) sum += table[(i + k * 633 * 32) & (words - 1)];
  y[i] = sum;
}
