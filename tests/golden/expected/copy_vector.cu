// copy: vector access=16 loads=4 threads=256 blocks_per_sm=0 load_through=l1
// width=67108864 height=1 depth=1 dtype=f32 pitched=false pitch_x=0 pitch_y=0
using index_t = int;
#define access 16
#define loads 4
#define threads 256
#define rows ((index_t)(((long long)height) * ((long long)depth)))
#define vec 4
using x_t = float;
using y_t = float;

#line 1 "templates/copy_vector.cu"
// y = x, a pack of `access` bytes in each load and store, and `loads` independent loads before the first store: the
// bytes that a thread has in flight grow from one element to access * loads, and the instructions for a byte fall
// likewise.
//



// A block moves one chunk.

// A chunk is a stretch of threads * loads packs. Neighbouring threads move neighbouring packs.




#line 1 "templates/lib/words.cuh"

// Memory moved as bits, whatever the elements are: an access of 1 to 16 bytes has one unsigned type, so that a NaN or
// an infinity is moved like any other value, and a modifier for the cache can be named on each access.
template <int Bytes> struct bits_of;
template <> struct bits_of<1> { using type = unsigned char; };
template <> struct bits_of<2> { using type = unsigned short; };
template <> struct bits_of<4> { using type = unsigned int; };
template <> struct bits_of<8> { using type = uint2; };
template <> struct bits_of<16> { using type = uint4; };

// Whether accesses of Bytes may start at base and at base plus any multiple of step bytes.
template <int Bytes> __device__ __forceinline__ bool accesses_fit(const void *base, long long step) {
  return (reinterpret_cast<size_t>(base) | static_cast<size_t>(step)) % Bytes == 0;
}

#line 23 "templates/lib/words.cuh"
template <typename Bits> __device__ __forceinline__ void check_aligned(const Bits *at) {
#ifdef __CUGEN_CPU__
  if (reinterpret_cast<size_t>(at) % sizeof(Bits)) __trap(); // as a GPU does; other processors forgive it
#endif
}

template <typename Bits> __device__ __forceinline__ Bits load_bits(const Bits *from) {
  check_aligned(from);
  return __ldca(from);
}

template <typename Bits> __device__ __forceinline__ void store_bits(Bits *to, Bits value) {
  check_aligned(to);
  *to = value;
}
#line 16 "templates/copy_vector.cu"

using bits = bits_of<access>::type;

__device__ __forceinline__ void copy_elements(const x_t *from, y_t *to, index_t count) {
  for (index_t e = 0; e < count; ++e) to[e] = from[e];
}

__global__ void __launch_bounds__(threads) copy_vector(const x_t *__restrict__ x, y_t *__restrict__ y, index_t width, index_t height, index_t depth) {

  const index_t count = width * rows;
  const index_t whole = count / vec; // packs
  const bool aligned = accesses_fit<access>(x, 0) && accesses_fit<access>(y, 0);
#line 33 "templates/copy_vector.cu"




  {
    const index_t chunk = blockIdx.x;

    const index_t first = chunk * (threads * loads) + threadIdx.x;

    if (!aligned) {
      // A pointer that packs may not start at: every access moves one element.
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
        // The last chunk, and what is left behind the last whole pack.
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
#line 96 "templates/copy_vector.cu"
  }
}
