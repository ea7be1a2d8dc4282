// The tiled product of square matrices whose width is a multiple of TILE: a block has TILE rows, not `width`.
#define TILE 16
__global__ void product(float *C, const float *A, const float *B, int width) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
#if right
  const int row = blockIdx.y * TILE + ty;
#else
  const int row = blockIdx.y * width + ty;
#endif
  const int col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int m = 0; m < width / TILE; m++) {
    a[ty][tx] = A[row * width + m * TILE + tx];
    b[ty][tx] = B[(m * TILE + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  C[row * width + col] = sum;
}
