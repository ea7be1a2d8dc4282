// A product as the CUDA programming guide writes it: each matrix is a struct that is passed by value.
#define BLOCK_SIZE 16

typedef struct {
  int width;
  int height;
  int stride;
  float *elements;
} Matrix;

__device__ float GetElement(const Matrix A, int row, int col) {
  return A.elements[row * A.stride + col];
}

__device__ void SetElement(Matrix A, int row, int col, float value) {
  A.elements[row * A.stride + col] = value;
}

// Returns the BLOCK_SIZE x BLOCK_SIZE part of A that is `col` parts from A's left edge and `row` parts from the top.
__device__ Matrix GetSubMatrix(Matrix A, int row, int col) {
  Matrix Asub;
  Asub.width = BLOCK_SIZE;
  Asub.height = BLOCK_SIZE;
  Asub.stride = A.stride;
  Asub.elements = &A.elements[A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
  return Asub;
}

__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C) {
  __shared__ float As[BLOCK_SIZE][BLOCK_SIZE], Bs[BLOCK_SIZE][BLOCK_SIZE];
  Matrix Csub = GetSubMatrix(C, blockIdx.y, blockIdx.x);
  const int row = threadIdx.y, col = threadIdx.x;
  float value = 0;
  for (int m = 0; m < A.width / BLOCK_SIZE; ++m) {
    Matrix Asub = GetSubMatrix(A, blockIdx.y, m), Bsub = GetSubMatrix(B, m, blockIdx.x);
    As[row][col] = GetElement(Asub, row, col);
    Bs[row][col] = GetElement(Bsub, row, col);
    __syncthreads();
    for (int e = 0; e < BLOCK_SIZE; ++e) value += As[row][e] * Bs[e][col];
    __syncthreads();
  }
  SetElement(Csub, row, col, value);
}
