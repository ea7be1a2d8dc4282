// Each step of the tree reads what the step before wrote: the barrier belongs in the loop.
__global__ void sums_of_blocks(float *sums, const float *x, int n) {
  __shared__ float tree[128];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tree[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int reach = 64; reach > 0; reach /= 2) {
    if (t < reach) tree[t] += tree[t + reach];
#if right
    __syncthreads();
#endif
  }
  __syncthreads();
  if (t == 0) sums[blockIdx.x] = tree[0];
}
