__global__ void transpose(${params}) {
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32;
#pragma unroll
  for (int r = y; r < 32; r += threads_y)
    if (row + r < rows && col + x < cols) part(r, x) = A(row + r, col + x);
  __syncthreads();
#pragma unroll
  for (int c = y; c < 32; c += threads_y)
    if (col + c < cols && row + x < rows) B(col + c, row + x) = part(x, c);
}
