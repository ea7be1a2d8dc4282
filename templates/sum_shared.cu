// The tree in shared memory: a block's numbers come in once, then half of its threads add pairs, a quarter, ... The barrier makes
// one round's sums visible to the next one.
__global__ void sum(const x_t *x, x_t *left, index_t n) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  tree(threadIdx.x) = i < n ? x[i] : x_t(0);
  __syncthreads();
  for (int reach = threads / 2; reach > 0; reach /= 2) {
    if (threadIdx.x < reach) tree(threadIdx.x) += tree(threadIdx.x + reach);
    __syncthreads();
  }
  if (threadIdx.x == 0) left[blockIdx.x] = tree(0);
}
