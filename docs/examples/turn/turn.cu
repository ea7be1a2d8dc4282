__global__ void turn(float *B, const float *A, int rows, int cols) {
  __shared__ float tile[TILE][TILE + PAD];
  const int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
  for (int i = threadIdx.y; i < TILE; i += HEIGHT)
    if (y + i < rows && x + threadIdx.x < cols) tile[i][threadIdx.x] = A[(y + i) * cols + x + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < TILE; i += HEIGHT)
    if (x + i < cols && y + threadIdx.x < rows) B[(x + i) * rows + y + threadIdx.x] = tile[threadIdx.x][i];
}
