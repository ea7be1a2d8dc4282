// Every thread notes who it is, in a grid and blocks of three dimensions.
struct who {
  uint3 thread, block;
  unsigned lane, mask;
};

__global__ void where(who *all) {
  const unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const dim3 size = blockDim;
  who *self = &all[block * (size.x * size.y * size.z) + in_block];
  __syncthreads();
  self->thread = threadIdx;
  self->block = blockIdx;
  self->lane = __shfl_sync(0xffffffffu, in_block, 0);
  self->mask = __activemask();
}
