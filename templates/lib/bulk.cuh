#pragma once
// Bulk copies between global and shared memory (cp.async.bulk, compute capability 9.0): one thread asks, the copy
// engine moves a whole piece, and nobody's registers are touched. Addresses and sizes are multiples of 16 bytes. PTX
// ISA, "Data Movement and Conversion Instructions: cp.async.bulk" and "Parallel Synchronization: mbarrier".
//
// On the cpu device the same calls move data at the last moment that is legal, so that a missing or wrong wait shows.

#ifdef __CUGEN_CPU__

struct bulk_barrier {
  const void *from;
  void *to;
  unsigned bytes;
  unsigned phase;
};

__device__ __forceinline__ void bulk_init(bulk_barrier *barrier) {
  *barrier = {nullptr, nullptr, 0, 0};
}

__device__ __forceinline__ void bulk_fence_init() {}

__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, bulk_barrier *barrier) {
  if (barrier->to) __trap(); // the load before was not waited for
  barrier->from = from;
  barrier->to = to;
  barrier->bytes = bytes;
  cugen_note(from, bytes, CPU_ASYNC);
  cugen_note(to, bytes, CPU_WRITE | CPU_ASYNC);
}

__device__ __forceinline__ void bulk_wait(bulk_barrier *barrier, unsigned parity) {
  if (!barrier->to || (barrier->phase & 1) != parity) __trap(); // a GPU would wait for ever, or not at all
  cugen_note_arrived(barrier->to, barrier->bytes);
  cugen_copy(barrier->to, barrier->from, barrier->bytes);
  barrier->to = nullptr;
  ++barrier->phase;
}

struct bulk_stores {
  struct {
    void *to;
    const void *from;
    unsigned bytes;
  } pending[16];
  unsigned count = 0;

  __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
    if (count == 16) __trap();
    pending[count++] = {to, from, bytes};
    cugen_note(from, bytes, 0);
    cugen_note(to, bytes, CPU_WRITE);
  }
  template <int Newest> __device__ __forceinline__ void wait_read() {
    unsigned done = 0;
    for (; done + Newest < count; ++done) cugen_copy(pending[done].to, pending[done].from, pending[done].bytes);
    for (unsigned i = done; i < count; ++i) pending[i - done] = pending[i];
    count -= done;
  }
  __device__ __forceinline__ void finish() {
    wait_read<0>();
  }
};

#else

typedef unsigned long long bulk_barrier;

//@ include "lib/barrier.cuh"

// One load completes a phase: its asker is the only one who arrives.
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

// Waits for the load of the phase with this parity: 0, 1, 0 and so on.
__device__ __forceinline__ void bulk_wait(bulk_barrier *barrier, unsigned parity) {
  barrier_wait(shared_address(barrier), parity);
}

// The stores of the one thread that asks for them.
struct bulk_stores {
  __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  // Until all but the newest ones have been read from shared memory, whose place is then free.
  template <int Newest> __device__ __forceinline__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newest) : "memory");
  }
  // Until all are complete: shared memory ends with the block.
  __device__ __forceinline__ void finish() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
};

#endif
