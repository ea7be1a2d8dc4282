// sum: global threads=128
// n=100000000 dtype=f32
using index_t = int;
#define threads 128
using x_t = float;

#line 1 "templates/sum_global.cu"
// The tree in global memory: half of a block's threads add pairs of numbers in place, then a quarter, ... until the
// first number is the block's sum. The barrier makes one round's sums visible to the next one.
__global__ void sum(x_t *x, x_t *left, index_t n) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  for (int reach = threads / 2; reach > 0; reach /= 2) {
    if (threadIdx.x < reach && i + reach < n) x[i] += x[i + reach];
    __syncthreads();
  }
  if (threadIdx.x == 0) left[blockIdx.x] = x[i];
}
