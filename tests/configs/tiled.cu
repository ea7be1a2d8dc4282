__global__ void tiled(${params}) {
  const int r = blockIdx.x;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(r / 4 * ((cols + 1) / 2) + c / 2) * 9 + c % 2 * 4 + r % 4] = x[r * x_stride0 + c];
}
