//@ include "lib/reduce.cuh"

// A tree in global memory: each thread first combines its elements in a register and leaves them in scratch, then half of
// the threads combine pairs, a quarter, ... until one number of the block is left. The barrier in the loop is what makes
// one half's work visible to the next.
__global__ void partial(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const x_t *from = x + segment * next;
    result *tree = partials + segment * slots + static_cast<long long>(blockIdx.x) * threads;
    result sum = nothing(static_cast<result>(from[0]));
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < length; i += gridDim.x * threads)
      sum = merge(sum, static_cast<result>(from[i * step]));
    tree[threadIdx.x] = sum;
    __syncthreads();
    for (int reach = threads / 2; reach > 0; reach /= 2) {
      if (threadIdx.x < reach) tree[threadIdx.x] = merge(tree[threadIdx.x], tree[threadIdx.x + reach]);
      __syncthreads();
    }
  }
}

// The blocks' numbers, which stand `threads` apart.
__global__ void finish(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const result *from = partials + segment * slots;
    result sum = nothing(static_cast<result>(x[segment * next]));
    for (int i = threadIdx.x; i < parts; i += threads) sum = merge(sum, from[static_cast<long long>(i) * threads]);
    sum = merge_block<threads>(sum);
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
