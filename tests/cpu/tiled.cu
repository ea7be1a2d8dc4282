// C = A * B through shared memory, for blocks of 16 x 16.
#define TILE 16
__global__ void __launch_bounds__(TILE *TILE) matmul(const float *__restrict__ A, const float *__restrict__ B,
                                                     float *__restrict__ C, int M, int N, int K) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    tile_a[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0;
    tile_b[y][x] = col < N && k0 + y < K ? B[(k0 + y) * N + col] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
