// reduce: vector threads=256 bytes_at_once=16 items=2 per_sm=8 loads=streaming
// rows=1 cols=16777216 axis=all op=sum dtype=bf16 fill=uniform
#include <cuda_bf16.h>

using index_t = int;
#define threads 256
#define items 2
#define segments 1
#define length ((index_t)(((long long)rows) * ((long long)cols)))
#define next 0
using result = float;
#define slots ((index_t)(((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL))
#define vec 8
#define parts ((index_t)(1LL >= ((1056LL <= (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) ? 1056LL : (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL)) <= (((((long long)rows) * ((long long)cols)) + 4096LL - 1) / 4096LL) ? (1056LL <= (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) ? 1056LL : (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL)) : (((((long long)rows) * ((long long)cols)) + 4096LL - 1) / 4096LL)) ? 1LL : ((1056LL <= (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) ? 1056LL : (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL)) <= (((((long long)rows) * ((long long)cols)) + 4096LL - 1) / 4096LL) ? (1056LL <= (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) ? 1056LL : (((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? ((((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) <= 65536LL ? (((((long long)rows) * ((long long)cols)) + 64LL - 1) / 64LL) : 65536LL) : 1024LL)) : (((((long long)rows) * ((long long)cols)) + 4096LL - 1) / 4096LL))))
using x_t = __nv_bfloat16;
using y_t = float;
using partials_t = float;
using tickets_t = unsigned int;

#line 1 "templates/lib/pack.cuh"
// `Width` neighbouring elements that move in one access. Memory instructions move at most 16 bytes a thread, and an
// access of Width elements needs an address that is a multiple of their size.
template <typename T, int Width> struct alignas(Width * sizeof(T)) pack {
  T at[Width];
};

template <int Width, typename T> __device__ __forceinline__ void check_pack(const T *at) {
#ifdef __CUGEN_CPU__
  if (reinterpret_cast<size_t>(at) % (Width * sizeof(T))) __trap(); // as a GPU does; other processors forgive it
#endif
}

template <int Width, typename T> __device__ __forceinline__ pack<T, Width> load_pack(const T *from) {
  check_pack<Width>(from);
  return *reinterpret_cast<const pack<T, Width> *>(from);
}

template <int Width, typename T> __device__ __forceinline__ void store_pack(T *to, const pack<T, Width> &values) {
  check_pack<Width>(to);
  *reinterpret_cast<pack<T, Width> *>(to) = values;
}

// Whether packs may start at base and at base plus any multiple of stride. With one element they always may.
template <int Width, typename T> __device__ __forceinline__ bool packs_fit(const T *base, index_t stride) {
  return Width == 1 || (stride % Width == 0 && reinterpret_cast<size_t>(base) % (Width * sizeof(T)) == 0);
}
#line 2 "templates/lib/reduce.cuh"

// The operator, in the type of the results.
__device__ __forceinline__ result merge(result a, result b) { return ([&](auto __v_a, decltype(__v_a) __v_b) -> decltype(__v_a) { return __v_a + __v_b; }((a), (b))); }

// What a sum begins with: a value that changes nothing. first: the segment's first element.
__device__ __forceinline__ result nothing(result first) { return ([&](auto __v_first) -> decltype(__v_first) { using __t = decltype(__v_first); return __t(0LL); }((first))); }

// Lane 0 has the result of the lowest `count` lanes, a power of two; the whole warp takes part.
template <int count> __device__ __forceinline__ result merge_lanes(result value) {
#pragma unroll
  for (int reach = count / 2; reach > 0; reach /= 2)
    value = merge(value, __shfl_down_sync(0xffffffffu, value, reach, count));
  return value;
}

// Thread 0 has the result of the block, whose threads are a power of two of at least a warp. All of them call it; when
// they do again, a barrier stands between.
template <int block> __device__ __forceinline__ result merge_block(result value) {
  __shared__ result warps[block / 32];
  value = merge_lanes<32>(value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) value = merge_lanes<block / 32>(warps[threadIdx.x % (block / 32)]);
  return value;
}
#line 2 "templates/reduce_vector.cu"

// A pack of `vec` elements; streaming: marked to be evicted first, since nothing is read twice.
__device__ __forceinline__ pack<x_t, vec> fetch(const x_t *from) {


  union {
    uint4 word;
    pack<x_t, vec> elements;
  } both = {__ldcs(reinterpret_cast<const uint4 *>(from))};
  return both.elements;



}

// The thread's share of a segment of `count` elements, as block `part` of `of`. Tiles of `items` packs a thread go round the blocks. What lies before the first
// element that a wide load may begin at, and what is left behind the last whole tile, is taken one by one.
__device__ __forceinline__ result walk(const x_t *from, long long count, int part, int of) {
  constexpr int tile = threads * vec * items;
  const int past = static_cast<int>(reinterpret_cast<size_t>(from) / sizeof(x_t) % vec);
  const long long head = past == 0 ? 0 : vec - past < count ? vec - past : count;
  const long long tiles = (count - head) / tile;
  const result start = nothing(static_cast<result>(from[0]));
  result sums[vec];
#pragma unroll
  for (int e = 0; e < vec; ++e) sums[e] = start;
  for (long long t = part; t < tiles; t += of) {
    const x_t *at = from + head + t * tile + threadIdx.x * vec;
    pack<x_t, vec> held[items];
#pragma unroll
    for (int i = 0; i < items; ++i) held[i] = fetch(at + i * threads * vec);
#pragma unroll
    for (int i = 0; i < items; ++i) {
#pragma unroll
      for (int e = 0; e < vec; ++e) sums[e] = merge(sums[e], static_cast<result>(held[i].at[e]));
    }
  }
  const long long rest = count - tiles * tile;
  for (long long i = static_cast<long long>(part) * threads + threadIdx.x; i < rest; i += static_cast<long long>(of) * threads)
    sums[0] = merge(sums[0], static_cast<result>(from[i < head ? i : i + tiles * tile]));
#pragma unroll
  for (int reach = vec / 2; reach > 0; reach /= 2) {
#pragma unroll
    for (int e = 0; e < reach; ++e) sums[e] = merge(sums[e], sums[e + reach]);
  }
  return sums[0];
}

// What the blocks of a segment have left, in the order of their numbers. Other blocks wrote it: past the L1.
__device__ __forceinline__ result collect(const x_t *from, const result *left, int of) {
  result sum = nothing(static_cast<result>(from[0]));
  for (int i = threadIdx.x; i < of; i += threads) sum = merge(sum, __ldcg(left + i));
  return sum;
}

#line 88 "templates/reduce_vector.cu"
__global__ void __launch_bounds__(threads) partial(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const result sum = merge_block<threads>(walk(x + segment * next, length, blockIdx.x, gridDim.x));
    if (threadIdx.x == 0) partials[segment * slots + blockIdx.x] = sum;
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads) finish(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const result sum = merge_block<threads>(collect(x + segment * next, partials + segment * slots, parts));
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
