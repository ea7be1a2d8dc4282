// Segment s has the elements from start[s] to start[s + 1] - 1, and `lanes` neighbouring threads.
__global__ void segmented_sum(${params}) {
  const int thread = blockIdx.x * block_size + threadIdx.x, segment = thread / lanes;
  float mine = 0;
  if (segment < segments)
    for (int i = start[segment] + thread % lanes; i < start[segment + 1]; i += lanes) mine += x[i];
  for (int apart = lanes / 2; apart > 0; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
  if (segment < segments && thread % lanes == 0) sum[segment] = mine;
}
