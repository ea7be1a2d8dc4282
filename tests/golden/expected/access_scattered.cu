// access: elements threads=256 loads=1 load_through=l2 store_as=plain
// n=33554432 dtype=f64 load_offset=0 load_stride=1 store_offset=3 store_stride=2 scattered=true
using index_t = int;
using dtype = double;
#define store_offset 3
#define threads 256
#define loads 1
#define multiplier 2654435761
using x_t = double;
using y_t = double;

#line 1 "templates/access.cu"
// y[i + store_offset] = x[i + load_offset], where neighbours in x are load_stride and neighbours in y store_stride
// elements apart: what a warp's access costs when its addresses are not one aligned stretch. Memory moves in sectors
// of 32 bytes, so a warp's 32 elements of four bytes are 4 sectors at best, 5 with an offset, and 32 from a stride of
// 8 on.
//

// Elements are taken in an order without neighbours: an odd multiplier permutes the numbers below a power of two.


// The first store_offset elements of y become zero.


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
  return __ldcg(from);
}

template <typename Bits> __device__ __forceinline__ void store_bits(Bits *to, Bits value) {
  check_aligned(to);
  *to = value;
}
#line 14 "templates/access.cu"

using bits = bits_of<sizeof(dtype)>::type;

__global__ void __launch_bounds__(threads) access(const x_t *__restrict__ x, y_t *__restrict__ y, index_t n, index_t load_offset, index_t load_stride, index_t store_stride) {
  const bits *from = reinterpret_cast<const bits *>(x);
  bits *to = reinterpret_cast<bits *>(y);
  const index_t first = static_cast<index_t>(blockIdx.x) * (threads * loads) + threadIdx.x;
  bits held[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const index_t element = first + i * threads;

    const index_t taken = static_cast<index_t>(static_cast<unsigned long long>(element) * multiplier % n);



    if (element < n) held[i] = load_bits(from + (taken + load_offset) * load_stride);
  }
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const index_t element = first + i * threads;
    if (element < n) store_bits(to + (element + store_offset) * store_stride, held[i]);
  }

  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; i < store_offset; i += step) {
    y[i * store_stride] = dtype(0);
  }

}
