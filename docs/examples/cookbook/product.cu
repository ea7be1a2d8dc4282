__global__ void product(${params}) {
  __shared__ float a[tile][tile], b[tile][tile];
  const index_t row0 = blockIdx.y * tile, col = blockIdx.x * tile + threadIdx.x;
  const int x = threadIdx.x;
  float sum[rows] = {};
  for (index_t k0 = 0; k0 < K; k0 += tile) {
    for (int y = threadIdx.y; y < tile; y += tile / rows) {
      a[y][x] = row0 + y < M && k0 + x < K ? A[(row0 + y) * A_stride0 + k0 + x] : 0;
      b[y][x] = k0 + y < K && col < N ? B[(k0 + y) * B_stride0 + col] : 0;
    }
    __syncthreads();
    for (int k = 0; k < tile; k++)
      for (int r = 0; r < rows; r++) sum[r] += a[threadIdx.y + r * (tile / rows)][k] * b[k][x];
    __syncthreads();
  }
//@ for r = 0, rows - 1 do
  if (const index_t row = row0 + threadIdx.y + ${r} * (tile / rows); row < M && col < N)
    C(row, col) = ${epilogue("sum[" .. r .. "]", "col")};
//@ end
}
