//@ include "lib/reduce.cuh"

// Half of the threads combine pairs, a quarter, ...; the barrier in the loop is what makes one half's work visible to
// the next. Thread 0 has the result.
__device__ __forceinline__ result merge_tree(result value) {
  tree(threadIdx.x) = value;
  __syncthreads();
  for (int reach = threads / 2; reach > 0; reach /= 2) {
    if (threadIdx.x < reach) tree(threadIdx.x) = merge(tree(threadIdx.x), tree(threadIdx.x + reach));
    __syncthreads();
  }
  return tree(0);
}

__global__ void partial(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const x_t *from = x + segment * next;
    result sum = nothing(static_cast<result>(from[0]));
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < length; i += gridDim.x * threads)
      sum = merge(sum, static_cast<result>(from[i * step]));
    sum = merge_tree(sum);
    if (threadIdx.x == 0) partials[segment * slots + blockIdx.x] = sum;
    __syncthreads();
  }
}

__global__ void finish(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    result sum = nothing(static_cast<result>(x[segment * next]));
    for (int i = threadIdx.x; i < parts; i += threads) sum = merge(sum, partials[segment * slots + i]);
    sum = merge_tree(sum);
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
