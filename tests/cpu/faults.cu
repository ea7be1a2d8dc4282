// What ends a kernel, by number.
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
    __syncwarp(lane == 0 ? 0xffffffffu : 0xfffffffeu);
    if (lane == 0) __syncwarp(1u);
    break;
  case 5: {
    int deep[200];
    for (int i = 0; i < 200; ++i) deep[i] = sink[i % 2];
    if (sink[0] == 0) fault(which, sink);
    for (int i = 0; i < 200; ++i) sink[1] += deep[i];
    break;
  }
  }
}
