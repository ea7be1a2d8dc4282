#pragma once
// Blocks that share a tile, each with its part of k, leave their sums in the workspace. The block that comes last adds up the sums of all
// blocks, always in the same order.

// Returns whether this block is the last of `count` blocks to come here. If so, what the other blocks stored before is visible, and the
// ticket is 0 again, for the next launch.
__device__ __forceinline__ bool is_last(unsigned count, tickets_t *ticket) {
  __shared__ bool last;
  __threadfence(); // the sums are written before the ticket
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(ticket, 1u) == count - 1;
    if (last) *ticket = 0;
  }
  __syncthreads();
  __threadfence(); // the ticket is read before the sums
  return last;
}
