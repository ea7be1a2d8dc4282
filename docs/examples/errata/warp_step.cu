// The last warp without barriers, as was usual before Volta: since Volta, the threads of a warp need not be in step.
__device__ void last_warp(volatile float *tree, int t) {
#if right
  for (int reach = 32; reach > 0; reach /= 2) {
    const float other = tree[t + reach];
    __syncwarp();
    tree[t] += other;
    __syncwarp();
  }
#else
  for (int reach = 32; reach > 0; reach /= 2) tree[t] += tree[t + reach];
#endif
}

__global__ void sums_of_blocks(float *sums, const float *x, int n) {
  __shared__ float tree[128];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tree[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (t < 64) tree[t] += tree[t + 64];
  __syncthreads();
  if (t < 32) last_warp(tree, t);
  if (t == 0) sums[blockIdx.x] = tree[0];
}
