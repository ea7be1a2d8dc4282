//@ include "lib/pack.cuh"

// The operator `combine`, in the type of the results.
__device__ __forceinline__ result merge(result a, result b) { return ${combine("a", "b")}; }

// The neutral element, which a reduction begins with. first: the segment's first element.
__device__ __forceinline__ result nothing(result first) { return ${identity("first")}; }

// What a thread has combined: a number for each of the Width places in the packs that the thread has taken.
template <int Width> struct pack_sums {
  result at[Width];

  __device__ __forceinline__ void begin(result start) {
#pragma unroll
    for (int e = 0; e < Width; ++e) at[e] = start;
  }
  template <typename Held> __device__ __forceinline__ void take(const Held &held) {
#pragma unroll
    for (int e = 0; e < Width; ++e) at[e] = merge(at[e], static_cast<result>(held.at[e]));
  }
  __device__ __forceinline__ result all() {
#pragma unroll
    for (int reach = Width / 2; reach > 0; reach /= 2) {
#pragma unroll
      for (int e = 0; e < reach; ++e) at[e] = merge(at[e], at[e + reach]);
    }
    return at[0];
  }
};

// Returns, in the first of every `count` lanes (a power of two), their result. The whole warp calls this function.
template <int count> __device__ __forceinline__ result merge_lanes(result value) {
#pragma unroll
  for (int reach = count / 2; reach > 0; reach /= 2)
    value = merge(value, __shfl_down_sync(0xffffffffu, value, reach, count));
  return value;
}

// Returns, in thread 0, the result of the block, whose number of threads is a power of two and at least 32. All threads call this
// function; between two calls there must be a barrier.
template <int block> __device__ __forceinline__ result merge_block(result value) {
  __shared__ result warps[block / 32];
  value = merge_lanes<32>(value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) value = merge_lanes<block / 32>(warps[threadIdx.x % (block / 32)]);
  return value;
}
