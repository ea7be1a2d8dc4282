//@ include "lib/reduce.cuh"

// Loads a pack of `vec` elements. "streaming" loads mark the pack to be evicted first.
__device__ __forceinline__ pack<x_t, vec> fetch(const x_t *from) {
//@ local words = { [4] = "unsigned", [8] = "uint2", [16] = "uint4" }
//@ if loads == "streaming" then
  union {
    ${words[bytes_at_once]} word;
    pack<x_t, vec> elements;
  } both = {__ldcs(reinterpret_cast<const ${words[bytes_at_once]} *>(from))};
  return both.elements;
//@ else
  return load_pack<vec>(from);
//@ end
}

// Combines the thread's share of a segment of `count` elements, as block number `part` of `of` blocks, which take turns on
// tiles of `items` packs a thread. The elements before the first one that a wide load may begin at, and those behind the
// last whole tile, are taken one by one.
__device__ __forceinline__ result walk(const x_t *from, long long count, int part, int of) {
  constexpr int tile = threads * vec * items;
  const int past = static_cast<int>(reinterpret_cast<size_t>(from) / sizeof(x_t) % vec);
  const long long head = past == 0 ? 0 : vec - past < count ? vec - past : count;
  const long long tiles = (count - head) / tile;
  pack_sums<vec> sums;
  sums.begin(nothing(static_cast<result>(from[0])));
  for (long long t = part; t < tiles; t += of) {
    const x_t *at = from + head + t * tile + threadIdx.x * vec;
    pack<x_t, vec> held[items];
#pragma unroll
    for (int i = 0; i < items; ++i) held[i] = fetch(at + i * threads * vec);
#pragma unroll
    for (int i = 0; i < items; ++i) sums.take(held[i]);
  }
  const long long rest = count - tiles * tile;
  for (long long i = static_cast<long long>(part) * threads + threadIdx.x; i < rest; i += static_cast<long long>(of) * threads)
    sums.at[0] = merge(sums.at[0], static_cast<result>(from[i < head ? i : i + tiles * tile]));
  return sums.all();
}

// Combines the thread's share of the results that the blocks of a segment have left, in an order that no launch
// changes. The loads bypass the L1, because other blocks wrote the values.
__device__ __forceinline__ result collect(const x_t *from, const result *left, int of) {
  result sum = nothing(static_cast<result>(from[0]));
  for (int i = threadIdx.x; i < of; i += threads) sum = merge(sum, __ldcg(left + i));
  return sum;
}

//@ if one_pass then
__global__ void __launch_bounds__(threads) reduce(${params}) {
  __shared__ bool last;
  const int of = gridDim.x;
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const x_t *from = x + segment * next;
    result *left = partials + segment * slots;
    result sum = merge_block<threads>(walk(from, length, blockIdx.x, of));
    if (threadIdx.x == 0) {
      last = of == 1;
      if (last) {
        y[segment] = sum;
      } else {
        left[blockIdx.x] = sum;
        __threadfence(); // the number is written before the ticket
        last = atomicAdd(tickets + segment, 1u) == of - 1;
      }
    }
    __syncthreads();
    if (of > 1 && last) {
      __threadfence(); // the ticket is read before the numbers
      sum = merge_block<threads>(collect(from, left, of));
      if (threadIdx.x == 0) {
        y[segment] = sum;
        tickets[segment] = 0; // for the next launch
      }
    }
    __syncthreads();
  }
}
//@ else
__global__ void __launch_bounds__(threads) partial(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const result sum = merge_block<threads>(walk(x + segment * next, length, blockIdx.x, gridDim.x));
    if (threadIdx.x == 0) partials[segment * slots + blockIdx.x] = sum;
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads) finish(${params}) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const result sum = merge_block<threads>(collect(x + segment * next, partials + segment * slots, parts));
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
//@ end
