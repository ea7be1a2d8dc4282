#pragma once
// Bulk copies between global and shared memory (cp.async.bulk, compute capability 9.0): one thread asks, the copy
// engine moves a whole piece, and nobody's registers are touched. Addresses and sizes are multiples of 16 bytes. PTX
// ISA, "Data Movement and Conversion Instructions: cp.async.bulk".

//@ include "lib/barrier.cuh"

// Arrives at the barrier, whose phase then lasts until the bytes have come.
__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, unsigned barrier) {
  barrier_expect(barrier, bytes);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
               : "memory");
}

__device__ __forceinline__ void bulk_store(void *to, const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the thread's newest stores have read their shared memory, which may then be overwritten.
template <int Newest> __device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newest) : "memory");
}

// Waits until all of the thread's stores are complete: shared memory ends with the block.
__device__ __forceinline__ void bulk_finish() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
