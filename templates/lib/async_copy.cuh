#pragma once
// Copies from global to shared memory that go on while the thread computes (cp.async, compute capability 8.0 and
// later). A thread's copies between two commits are a group. Other threads see the copies after a barrier that follows the
// thread's wait.

__device__ __forceinline__ unsigned shared_address(const void *at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Starts a copy of Bytes (4, 8 or 16) if wanted. Both addresses are multiples of Bytes. Copies of 16 bytes bypass the L1.
template <int Bytes> __device__ __forceinline__ void copy_if(bool wanted, void *to, const void *from) {
  if (Bytes == 16) {
    asm volatile("{.reg .pred wanted; setp.ne.b32 wanted, %0, 0; @wanted cp.async.cg.shared.global [%1], [%2], 16;}" ::"r"(
                     static_cast<int>(wanted)),
                 "r"(shared_address(to)), "l"(from));
  } else {
    asm volatile("{.reg .pred wanted; setp.ne.b32 wanted, %0, 0; @wanted cp.async.ca.shared.global [%1], [%2], %3;}" ::"r"(
                     static_cast<int>(wanted)),
                 "r"(shared_address(to)), "l"(from), "n"(Bytes));
  }
}

// Copies if inside; otherwise stores zeros and does not read `from`.
template <int Bytes> __device__ __forceinline__ void copy_or_zero(bool inside, void *to, const void *from) {
  const int count = inside ? Bytes : 0;
  if (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(count));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(Bytes),
                 "r"(count));
  }
}

__device__ __forceinline__ void copy_commit() {
  asm volatile("cp.async.commit_group;");
}

// Waits until all of the thread's groups except the newest `Latest` groups have arrived.
template <int Latest> __device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Latest) : "memory");
}
