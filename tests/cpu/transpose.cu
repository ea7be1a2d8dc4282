// out = in^T through a padded tile of shared memory, for blocks of 32 x 8.
__global__ void transpose(float *out, const float *in, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < cols && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * cols + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < rows && y + i < cols) out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}
