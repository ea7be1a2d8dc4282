//@ include "lib/reduce.cuh"

//@ -- `exchange` says how the threads of a block combine their results: in "global" memory, in "shared" memory, or by a "shuffle" of registers.
//@ if exchange ~= "shuffle" then
// Half of the threads combine pairs of numbers, then a quarter, and so on. The barrier makes one round's numbers
// visible to the next one. Returns the result to every thread.
__device__ __forceinline__ result merge_tree(result *numbers, result value) {
  numbers[threadIdx.x] = value;
  __syncthreads();
  for (int reach = threads / 2; reach > 0; reach /= 2) {
    if (threadIdx.x < reach) numbers[threadIdx.x] = merge(numbers[threadIdx.x], numbers[threadIdx.x + reach]);
    __syncthreads();
  }
  return numbers[0];
}

//@ end
//@ local merged = exchange == "shared" and "merge_tree(tree.at(0), sum)" or "merge_block<threads>(sum)"
// Combines a block's share of each segment. Each thread first combines its elements in a register.
__global__ void partial(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const x_t *from = x + segment * next;
    result sum = nothing(static_cast<result>(from[0]));
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < length; i += gridDim.x * threads)
      sum = merge(sum, static_cast<result>(from[i * step]));
//@ if exchange == "global" then
    merge_tree(partials + segment * slots + static_cast<long long>(blockIdx.x) * threads, sum);
//@ else
    sum = ${merged};
    if (threadIdx.x == 0) partials[segment * slots + blockIdx.x] = sum;
    __syncthreads();
//@ end
  }
}

// Combines the numbers that the blocks have left, which stand `threads` apart where the tree is in global memory.
__global__ void finish(${params}) {
//@ local apart = exchange == "global" and "static_cast<long long>(i) * threads" or "i"
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    result sum = nothing(static_cast<result>(x[segment * next]));
    for (int i = threadIdx.x; i < parts; i += threads) sum = merge(sum, partials[segment * slots + ${apart}]);
    sum = ${merged};
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
