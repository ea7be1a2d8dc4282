#pragma once
// For launches that overlap (compute capability 9.0 and later): one may begin before the one in front of it has
// ended. On other GPUs they do nothing.

// Allows the stream's next launch to start on free multiprocessors; it runs up to its own wait_for_launch.
__device__ __forceinline__ void launch_next() {
#if __CUDA_ARCH__ >= 900 || defined __CUGEN_CPU__
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Waits until the launch before has ended, whose results are then visible. Returns at once if it ended before this one began.
__device__ __forceinline__ void wait_for_launch() {
#if __CUDA_ARCH__ >= 900 || defined __CUGEN_CPU__
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
