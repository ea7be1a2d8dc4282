// x[row][col] becomes the sum of x[row][0] to x[row][col]. A thread adds up its items, each warp
// scans the sums of its threads, and each thread adds the sums of all warps before.
__global__ void scan(${params}) {
  __shared__ float sums[block_size / 32];
  float *row = x + blockIdx.x * static_cast<index_t>(x_stride0), carry = 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (index_t base = 0; base < cols; base += block_size * items) {
    const index_t first = base + threadIdx.x * items;
    float value[items], mine = 0;
    for (int i = 0; i < items; i++) value[i] = mine += first + i < cols ? row[first + i] : 0;
    float upto = mine;
    for (int apart = 1; apart < 32; apart *= 2) {
      const float before = __shfl_up_sync(~0u, upto, apart);
      if (lane >= apart) upto += before;
    }
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    float before = carry + upto - mine;
    for (int w = 0; w < block_size / 32; w++) {
      if (w < warp) before += sums[w];
      carry += sums[w];
    }
    __syncthreads();
    for (int i = 0; i < items; i++)
      if (first + i < cols) row[first + i] = before + value[i];
  }
}
