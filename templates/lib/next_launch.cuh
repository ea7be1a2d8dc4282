#pragma once
// For launches that overlap (compute capability 9.0 and later): a launch may begin before the previous one of the
// stream has ended. On older GPUs these functions do nothing.

// Allows the stream's next launch to start on free multiprocessors, and to run up to its own wait_for_launch.
__device__ __forceinline__ void launch_next() {
#if __CUDA_ARCH__ >= 900 || defined __CUGEN_CPU__
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Waits until the previous launch has ended and its results are visible. Returns at once if that launch ended before this one began.
__device__ __forceinline__ void wait_for_launch() {
#if __CUDA_ARCH__ >= 900 || defined __CUGEN_CPU__
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
