// cudaMallocPitch gives the pitch in bytes; an index into a float array counts elements.
__global__ void pack(float *y, const float *x, int pitch, int cols) {
#if right
  const float *row = (const float *)((const char *)x + blockIdx.x * pitch);
#else
  const float *row = x + blockIdx.x * pitch;
#endif
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[blockIdx.x * cols + col] = row[col];
}
