//@ include "lib/reduce.cuh"

// Each thread walks down `vec` columns and takes one row of every `parts`-th group of `high` rows. Then the block's
// rows of threads combine their results in shared memory. If `parts` > 1, the last block to finish a group of columns
// combines the results of the group's blocks.

// Adds a row to the sums of the thread's columns. whole: packs fit, and all of the columns exist.
__device__ __forceinline__ void take(pack_sums<vec> &sums, const x_t *from, long long columns_left, bool whole) {
  if (whole) {
    sums.take(load_pack<vec>(from));
  } else {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) sums.at[e] = merge(sums.at[e], static_cast<result>(from[e]));
  }
}

// Combines the results of the block's rows of threads: every thread gets the results of its columns.
__device__ __forceinline__ void merge_rows(pack_sums<vec> &sums) {
  __shared__ pack_sums<vec> tree[high][wide];
  tree[threadIdx.y][threadIdx.x] = sums;
  __syncthreads();
  for (int reach = high / 2; reach > 0; reach /= 2) {
    if (threadIdx.y < reach) tree[threadIdx.y][threadIdx.x].take(tree[threadIdx.y + reach][threadIdx.x]);
    __syncthreads();
  }
  sums = tree[0][threadIdx.x];
}

__global__ void __launch_bounds__(wide * high) reduce(${params}) {
  __shared__ bool last;
  const long long column = (static_cast<long long>(blockIdx.x) * wide + threadIdx.x) * vec;
  const long long columns_left = cols - column;
  const bool whole = columns_left >= vec && packs_fit<vec>(x, static_cast<index_t>(cols % vec));
  pack_sums<vec> sums, starts;
#pragma unroll
  for (int e = 0; e < vec; ++e)
    starts.at[e] = sums.at[e] = nothing(e < columns_left ? static_cast<result>(x[column + e]) : result(0));
  const long long stride = static_cast<long long>(parts) * high;
  long long row = static_cast<long long>(blockIdx.y) * high + threadIdx.y;
  if (whole) {
    for (; row + (items - 1) * stride < rows; row += items * stride) {
      pack<x_t, vec> held[items];
#pragma unroll
      for (int i = 0; i < items; ++i) held[i] = load_pack<vec>(x + (row + i * stride) * cols + column);
#pragma unroll
      for (int i = 0; i < items; ++i) sums.take(held[i]);
    }
  }
  for (; row < rows; row += stride) take(sums, x + row * cols + column, columns_left, whole);
  merge_rows(sums);
  if (threadIdx.y == 0) {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) (parts == 1 ? y[column + e] : partials[blockIdx.y * cols + column + e]) = sums.at[e];
  }
  if (parts == 1) return;
  __threadfence(); // the numbers are written before the ticket
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) last = atomicAdd(tickets + blockIdx.x, 1u) == parts - 1;
  __syncthreads();
  if (!last) return;
  __threadfence(); // the ticket is read before the numbers
  sums = starts;
  for (int part = threadIdx.y; part < parts; part += high) {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) sums.at[e] = merge(sums.at[e], __ldcg(partials + part * cols + column + e));
  }
  merge_rows(sums);
  if (threadIdx.y == 0) {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) y[column + e] = sums.at[e];
    if (threadIdx.x == 0) tickets[blockIdx.x] = 0; // for the next launch
  }
}
