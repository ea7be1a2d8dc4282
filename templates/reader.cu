// In each of `passes` passes a block sums one chunk of x. The block stores one number in the end, so that nearly all of
// the time is that of reading x.

//@ include "lib/pack.cuh"

// Returns the thread's part of the sum of count elements.
template <int Width> __device__ __forceinline__ dtype sum_part(const dtype *__restrict__ from, index_t count) {
  const index_t step = static_cast<index_t>(threads) * Width;
  index_t i = static_cast<index_t>(threadIdx.x) * Width;
  dtype sum = 0;
  for (; i + (loads - 1) * step + Width <= count; i += loads * step) {
    pack<dtype, Width> packs[loads];
    for (int l = 0; l < loads; ++l) packs[l] = load_pack<Width>(&from[i + l * step]);
    for (int l = 0; l < loads; ++l)
      for (int k = 0; k < Width; ++k) sum += packs[l].at[k];
  }
  for (; i < count; i += step)
    for (int k = 0; k < Width; ++k)
      if (i + k < count) sum += from[i + k];
  return sum;
}

__global__ void __launch_bounds__(threads) reader(${params}) {
  __shared__ dtype warp_sums[threads / 32];
  dtype sum = 0;
  for (index_t pass = 0; pass < passes; ++pass) {
    const index_t at = (static_cast<index_t>(blockIdx.x) + pass % chunks * shift) % chunks;
    const dtype *from = x + at * chunk;
    const index_t count = n - at * chunk < chunk ? n - at * chunk : chunk;
    sum += packs_fit<vec>(x, static_cast<index_t>(vec)) ? sum_part<vec>(from, count) : sum_part<1>(from, count);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < threads / 32; ++warp) sum += warp_sums[warp];
  sums[blockIdx.x] = sum;
}
