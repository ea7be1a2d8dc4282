#pragma once
// Waiting at a barrier in shared memory that copies complete (compute capability 9.0). PTX ISA, "Parallel
// Synchronization: mbarrier".

__device__ __forceinline__ unsigned shared_address(const void *at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Waits until the phase with this parity (0, 1, 0 and so on) is complete. The phase before the first one counts as complete.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
#ifdef __CUGEN_CPU__
  cugen_own_hooks->async->mbarrier_wait(barrier, parity);
#else
  unsigned done;
  do {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  } while (!done);
#endif
}
