__global__ void volume(int *y, int planes, int rows, int cols) {
#if flat
  const int step = gridDim.x * blockDim.x, all = planes * rows * cols;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) { // fewer threads than elements
    const int col = i % cols, row = i / cols % rows, plane = i / (cols * rows); // digits of i: base cols, then base rows
#else
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = blockIdx.z * blockDim.z + threadIdx.z;
  if (plane < planes && row < rows && col < cols) {
    const int i = (plane * rows + row) * cols + col;
#endif
    y[i] = i;
    if (plane == 1 && row == 2 && col > 2)
      printf("block (%d,%d,%d) of (%d,%d,%d), thread (%d,%d,%d): plane %d, row %d, col %d, element %d\n", blockIdx.x, blockIdx.y,
             blockIdx.z, gridDim.x, gridDim.y, gridDim.z, threadIdx.x, threadIdx.y, threadIdx.z, plane, row, col, i);
  }
}
