__device__ int launches;

__global__ void bits(${params}) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  if (ORDER == 2 && row == 0) launches++;
  float sum = ORDER == 2 ? 1e-6f * (launches % 5) : 0.0f;
  for (int i = 0; i < cols; i++) sum += x[row * cols + (ORDER == 1 ? cols - 1 - i : i)];
  y[row] = sum;
}
