__global__ void index(int *y, int rows, int cols) {
#if flat
  const int i = blockIdx.x * blockDim.x + threadIdx.x;   // one number ...
  if (i >= rows * cols) return;
  const int row = i / cols, col = i % cols;              // ... and the coordinates that it stands for
#else
  const int col = blockIdx.x * blockDim.x + threadIdx.x; // coordinates: x runs along a row
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;                // 12 x 4 threads, 10 x 3 elements
  const int i = row * cols + col;                        // ... and the number that they stand for
#endif
  y[i] = i;
  if (col >= cols - 3 && row < 2)
    printf("block (%d,%d) of (%d,%d), thread (%d,%d) of (%d,%d): row %d, col %d, element %d\n", blockIdx.x, blockIdx.y, gridDim.x,
           gridDim.y, threadIdx.x, threadIdx.y, blockDim.x, blockDim.y, row, col, i);
}
