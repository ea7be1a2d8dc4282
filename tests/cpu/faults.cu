// What ends a kernel, by number.
#include <assert.h>

// Never comes back: sink[0] is 0.
static __device__ int dig(volatile int *sink) {
  volatile int deep[200];
  for (int i = 0; i < 200; ++i) deep[i] = sink[i % 2];
  const int below = sink[0] == 0 ? dig(sink) : 0;
  return below + deep[sink[1]];
}

__global__ void fault(int which, volatile int *sink) {
  const int lane = threadIdx.x;
  switch (which) {
  case 0:
    if (lane == 5) __trap();
    break;
  case 1: // half of the warp waits at a barrier, half for the first half's lanes
    if (lane < 16) {
      __syncthreads();
    } else if (lane < 32) {
      __shfl_sync(0xffffffffu, lane, 0);
    }
    break;
  case 2: assert(lane < 7 && "a lane"); break;
  case 3: __shfl_sync(0x0000fffeu, lane, 1); break;
  case 4: // masks that contradict each other
    if (lane < 32) __syncwarp(lane == 1 ? 3u : 0xffffffffu);
    break;
  case 5: sink[1] = dig(sink); break;
  }
}
