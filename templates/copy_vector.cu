// y = x, a pack of `access` bytes in each load and store, and `loads` independent loads before the first store: the
// bytes that a thread has in flight grow from one element to access * loads, and the instructions for a byte fall
// likewise.
//
// A chunk is a stretch of threads * loads packs. Neighbouring threads move neighbouring packs. A block moves one chunk, or as many
// blocks as the device holds go through the chunks in turn (a persistent grid). A row that has a pitch is packs_per_row packs, the
// last of which may be shorter.

//@ include "lib/words.cuh"

using bits = bits_of<access>::type;

__device__ __forceinline__ void copy_elements(const x_t *from, y_t *to, index_t count) {
  for (index_t e = 0; e < count; ++e) to[e] = from[e];
}

__global__ void __launch_bounds__(threads) copy_vector(${params}) {
//@ if packed then
  const index_t count = width * rows;
  const index_t whole = count / vec; // packs
  const bool aligned = accesses_fit<access>(x, 0) && accesses_fit<access>(y, 0);
//@ else
  const index_t packs_per_row = (width + (vec - 1)) / vec;
  const bool aligned = accesses_fit<access>(x, x_pitch * static_cast<long long>(sizeof(x_t))) &&
                       accesses_fit<access>(y, y_pitch * static_cast<long long>(sizeof(y_t)));
//@ end

//@ if blocks_per_sm > 0 then
  for (index_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
//@ else
  {
    const index_t chunk = blockIdx.x;
//@ end
    const index_t first = chunk * (threads * loads) + threadIdx.x;
//@ if packed then
    if (!aligned) {
      // x or y is not aligned for packs: every access moves one element.
      const index_t end = count - chunk * (threads * loads * vec);
#pragma unroll 4
      for (index_t e = threadIdx.x; e < threads * loads * vec; e += threads) {
        if (e < end) y[chunk * (threads * loads * vec) + e] = x[chunk * (threads * loads * vec) + e];
      }
    } else {
      const bits *from = reinterpret_cast<const bits *>(x) + first;
      bits *to = reinterpret_cast<bits *>(y) + first;
      bits held[loads];
      if (whole - chunk * (threads * loads) >= threads * loads) {
#pragma unroll
        for (int i = 0; i < loads; ++i) held[i] = load_bits(from + i * threads);
#pragma unroll
        for (int i = 0; i < loads; ++i) store_bits(to + i * threads, held[i]);
      } else {
        // The last chunk, and the elements after the last whole pack.
#pragma unroll
        for (int i = 0; i < loads; ++i) {
          if (first + i * threads < whole) held[i] = load_bits(from + i * threads);
        }
#pragma unroll
        for (int i = 0; i < loads; ++i) {
          if (first + i * threads < whole) store_bits(to + i * threads, held[i]);
        }
        if (threadIdx.x < count - whole * vec) y[whole * vec + threadIdx.x] = x[whole * vec + threadIdx.x];
      }
    }
//@ else
    bits held[loads];
    index_t from[loads];
    index_t to[loads];
    index_t left[loads]; // elements from here to the end of the row, 0 behind the last row
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const index_t number = first + i * threads;
      const index_t row = number / packs_per_row;
      const index_t col = number % packs_per_row * vec;
      from[i] = row * x_pitch + col;
      to[i] = row * y_pitch + col;
      left[i] = number < packs ? width - col : 0;
      if (aligned && left[i] >= vec) held[i] = load_bits(reinterpret_cast<const bits *>(x + from[i]));
    }
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      if (aligned && left[i] >= vec) {
        store_bits(reinterpret_cast<bits *>(y + to[i]), held[i]);
      } else {
        // The end of a row, or a base or pitch that packs do not fit: one element after the other.
        copy_elements(x + from[i], y + to[i], left[i] < vec ? left[i] : vec);
      }
    }
//@ end
  }
}
