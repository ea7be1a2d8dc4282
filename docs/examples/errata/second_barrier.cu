// A tiled product: without the second barrier, a fast warp fills the next tiles while a slow warp still reads the present ones.
#define TILE 16
__global__ void product(float *C, const float *A, const float *B, int width) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int m = 0; m < width / TILE; m++) {
    a[ty][tx] = A[row * width + m * TILE + tx];
    b[ty][tx] = B[(m * TILE + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
#if right
    __syncthreads();
#endif
  }
  C[row * width + col] = sum;
}
