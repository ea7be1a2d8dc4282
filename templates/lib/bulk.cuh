#pragma once
// Bulk copies between global and shared memory (cp.async.bulk, compute capability 9.0): one thread asks, the copy
// engine moves a whole piece, and nobody's registers are touched. Addresses and sizes are multiples of 16 bytes. PTX
// ISA, "Data Movement and Conversion Instructions: cp.async.bulk" and "Parallel Synchronization: mbarrier".

typedef unsigned long long bulk_barrier;

//@ include "lib/barrier.cuh"

#ifdef __CUGEN_CPU__

__device__ __forceinline__ void bulk_init(bulk_barrier *barrier) {
  cugen_own_hooks->async->mbarrier_init(shared_address(barrier), 1);
}

__device__ __forceinline__ void bulk_fence_init() {
  cugen_own_hooks->async->fence(CPU_FENCE_PROXY);
}

__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, bulk_barrier *barrier) {
  cugen_own_hooks->async->mbarrier_arrive(shared_address(barrier), bytes);
  cugen_own_hooks->async->bulk_load(shared_address(to), from, bytes, shared_address(barrier));
}

struct bulk_stores {
  __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
    cugen_own_hooks->async->bulk_store(to, shared_address(from), bytes);
    cugen_own_hooks->async->bulk_commit();
  }
  template <int Newest> __device__ __forceinline__ void wait_read() {
    cugen_own_hooks->async->bulk_wait(Newest);
  }
  __device__ __forceinline__ void finish() {
    cugen_own_hooks->async->bulk_wait(0);
  }
};

#else

// One load completes a phase: only the thread that asks for it arrives.
__device__ __forceinline__ void bulk_init(bulk_barrier *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

// Makes initialised barriers known to the copy engine.
__device__ __forceinline__ void bulk_fence_init() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, bulk_barrier *barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

// The bulk stores of a thread.
struct bulk_stores {
  __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  // Waits until all but the newest stores have read their shared memory, which may then be overwritten.
  template <int Newest> __device__ __forceinline__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newest) : "memory");
  }
  // Waits until all stores are complete: shared memory ends with the block.
  __device__ __forceinline__ void finish() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
};

#endif

// Waits for the load of the phase with this parity: 0, 1, 0 and so on.
__device__ __forceinline__ void bulk_wait(bulk_barrier *barrier, unsigned parity) {
  barrier_wait(shared_address(barrier), parity);
}
