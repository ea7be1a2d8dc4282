// copy: vector access=16 loads=4 threads=128 blocks_per_sm=2 load_through=l1
// width=1001 height=9000 depth=500 dtype=u8 pitched=true pitch_x=0 pitch_y=0
using index_t = long long;
#define access 16
#define loads 4
#define threads 128
#define vec 16
#define packs ((index_t)(((((long long)width) + 16LL - 1) / 16LL) * (((long long)height) * ((long long)depth))))
#define chunks ((index_t)(((((((long long)width) + 16LL - 1) / 16LL) * (((long long)height) * ((long long)depth))) + 512LL - 1) / 512LL))
using x_t = unsigned char;
#define x_pitch ((index_t)((((long long)width) + 512LL - 1) / 512LL * 512LL))
using y_t = unsigned char;
#define y_pitch ((index_t)((((long long)width) + 512LL - 1) / 512LL * 512LL))

#line 1 "templates/copy_vector.cu"
// y = x, a pack of `access` bytes in each load and store, and `loads` independent loads before the first store: the
// bytes that a thread has in flight grow from one element to access * loads, and the instructions for a byte fall
// likewise.
//

// As many blocks as the device holds go through the chunks in turn (a persistent grid).



// A chunk is a stretch of threads * loads packs. Neighbouring threads move neighbouring packs.

// Rows have a pitch: a row is packs_per_row packs, the last of which may be shorter.


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
#line 29 "templates/copy_vector.cu"
  const index_t packs_per_row = (width + (vec - 1)) / vec;
    const bool aligned = accesses_fit<access>(x, x_pitch * static_cast<long long>(sizeof(x_t))) &&
                       accesses_fit<access>(y, y_pitch * static_cast<long long>(sizeof(y_t)));



  for (index_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {




    const index_t first = chunk * (threads * loads) + threadIdx.x;
#line 72 "templates/copy_vector.cu"
    bits held[loads];
    index_t from[loads];
    index_t to[loads];
    index_t left[loads]; // elements from here to the end of the row, 0 behind the last row
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const index_t pack = first + i * threads;
      const index_t row = pack / packs_per_row;
      const index_t col = pack % packs_per_row * vec;
      from[i] = row * x_pitch + col;
      to[i] = row * y_pitch + col;
      left[i] = pack < packs ? width - col : 0;
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

  }
}
