#pragma once
// Hopper's tensor memory accelerator (compute capability 9.0): one thread asks, and boxes of a tensor travel between
// global and shared memory. What lies outside of the tensor reads as zero and is not written. Loads complete on an
// mbarrier, by the bytes that have arrived. PTX ISA, "cp.async.bulk.tensor", "Parallel Synchronization: mbarrier" and
// "barrier.cluster".
//
// cluster_size, of the template, is the number of blocks in a cluster. For a batch a tensor map has one more dimension, which
// counts the matrices: coordinates are then x, y and z.

//@ include "lib/barrier.cuh"
//@ include "lib/next_launch.cuh"
//@ local dimensions, int_z, z_operand = "2d", "", ""
//@ if batch > 1 then dimensions, int_z, z_operand = "3d", ", int z", ', "r"(z)' end

__device__ __forceinline__ int cluster_rank() {
  if (cluster_size == 1) return 0;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}

// Barriers of all threads of the cluster's blocks. What the threads wrote before cluster_sync is visible after it. cluster_start is for
// mbarriers that were just initialised, which barrier_fence_init has made visible already: so cluster_start needs no fence of the whole
// GPU.
//@ for _, barrier in ipairs { { "cluster_sync", "release" }, { "cluster_start", "relaxed" } } do
//@ local name, order = table.unpack(barrier)
__device__ __forceinline__ void ${name}() {
  if (cluster_size == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.${order};\n"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
  }
}
//@ end

// Returns the corresponding address in the shared memory of the cluster's block `rank`.
__device__ __forceinline__ unsigned address_in(int rank, unsigned address) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Arrives at the barrier of the cluster's block `rank`. With .release.cluster the compiler would put a fence of the whole GPU
// in front. There is nothing to release: the stage was only read, and the reads have ended.
__device__ __forceinline__ void barrier_arrive(unsigned barrier, int rank) {
  if (cluster_size == 1) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
  } else {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in(rank, barrier)) : "memory");
  }
}

// Barriers for some of the block's warps, by number; number 0 is that of __syncthreads.
__device__ __forceinline__ void named_sync(int number, int threads_of_it) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads_of_it) : "memory");
}

__device__ __forceinline__ void named_arrive(int number, int threads_of_it) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads_of_it) : "memory");
}

__device__ __forceinline__ void tensor_prefetch(const tensor_map &map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Loads the box that begins at (x, y); x is along the contiguous dimension. The barrier counts the box's bytes. With several
// Shares, the box is this block's share of what all blocks of the mask need: the box goes to the same place in each of these
// blocks, and the barrier of each block counts the bytes.
//@ local load = "cp.async.bulk.tensor." .. dimensions .. ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"
template <int Shares>
__device__ __forceinline__ void tensor_load(const void *to, const tensor_map &map, unsigned barrier, int x, int y${int_z},
                                            unsigned short mask) {
  if (Shares == 1) {
    asm volatile("${load} [%0], [%1, {%3, %4${batch > 1 and ", %5" or ""}}], [%2];" ::"r"(shared_address(to)), "l"(&map),
                 "r"(barrier), "r"(x), "r"(y)${z_operand}
                 : "memory");
  } else {
    asm volatile("${load}.multicast::cluster [%0], [%1, {%3, %4${batch > 1 and ", %6" or ""}}], [%2], %5;" ::"r"(
                     shared_address(to)),
                 "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(mask)${z_operand}
                 : "memory");
  }
}

// Makes the thread's stores to shared memory visible to the copy engine, for copies that begin after a barrier.
__device__ __forceinline__ void tensor_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void tensor_store(const tensor_map &map, unsigned from, int x, int y${int_z}) {
  asm volatile("cp.async.bulk.tensor.${dimensions}.global.shared::cta.tile.bulk_group [%0, {%2, %3${batch > 1 and ", %4" or ""}}], [%1];" ::"l"(&map),
               "r"(from), "r"(x), "r"(y)${z_operand}
               : "memory");
  bulk_commit();
}
