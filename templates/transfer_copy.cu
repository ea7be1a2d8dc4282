// `cugen transfer` moves data by this kernel to and from mapped and managed memory. A thread moves 16 bytes at a time,
// with four independent loads before the first store, because a load from the host's memory takes a round trip over the
// bus.

extern "C" __global__ void __launch_bounds__(256) transfer_copy(unsigned char *__restrict__ to,
                                                                const unsigned char *__restrict__ from,
                                                                long long bytes) {
  const int loads = 4;
  const long long packs = bytes / 16;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const uint4 *source = reinterpret_cast<const uint4 *>(from);
  uint4 *target = reinterpret_cast<uint4 *>(to);
  for (long long first = thread; first < packs; first += threads * loads) {
    uint4 pack[loads];
    for (int i = 0; i < loads; ++i)
      if (first + i * threads < packs) pack[i] = source[first + i * threads];
    for (int i = 0; i < loads; ++i)
      if (first + i * threads < packs) target[first + i * threads] = pack[i];
  }
  if (thread < bytes % 16) to[packs * 16 + thread] = from[packs * 16 + thread];
}
