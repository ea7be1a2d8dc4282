// y[i + store_offset] = x[i + load_offset], or another element of x, where neighbours in x are load_stride and neighbours in y
// store_stride elements apart. The kernel shows what a warp's access costs when the addresses are not one aligned stretch. Memory
// moves in sectors of 32 bytes, so a warp's 32 elements of four bytes are 4 sectors at best, 5 with an offset that is
// no multiple of 8, and 32 from a stride of 8 on.
// The lowest active_lanes lanes of each warp work. The first store_offset elements of y become zero.

//@ include "lib/words.cuh"

using bits = bits_of<sizeof(dtype)>::type;

__global__ void __launch_bounds__(threads) access(${params}) {
  const bits *from = reinterpret_cast<const bits *>(x);
  bits *to = reinterpret_cast<bits *>(y);
  constexpr int workers = threads / 32 * active_lanes;
  const int lane = threadIdx.x % 32;
  const index_t mine = lane < active_lanes ? n : 0; // the lane moves only elements below this
  const index_t first = static_cast<index_t>(blockIdx.x) * (workers * loads) + threadIdx.x / 32 * active_lanes + lane;
  bits held[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const index_t element = first + i * workers;
//@ if scattered then
    // Neighbouring lanes read elements far apart: an odd multiplier permutes the numbers below a power of two.
    const index_t taken = static_cast<index_t>(static_cast<unsigned long long>(element) * multiplier % n);
//@ elseif broadcast then
    // All lanes read the first of the warp's elements, which lies in one sector.
    const index_t taken = element - element % active_lanes;
//@ else
    const index_t taken = element;
//@ end
    if (element < mine) held[i] = load_bits(from + (taken + load_offset) * load_stride);
  }
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const index_t element = first + i * workers;
    if (element < mine) store_bits(to + (element + store_offset) * store_stride, held[i]);
  }
//@ if store_offset > 0 then
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; i < store_offset; i += step) {
    y[i * store_stride] = dtype(0);
  }
//@ end
}
