// reduce: shuffle threads=256 blocks=1024
// rows=3000 cols=1000 axis=col op=sum dtype=f32 fill=uniform
using index_t = int;
#define threads 256
#define segments ((index_t)(cols))
#define length ((index_t)(rows))
#define step ((index_t)(cols))
#define next 1
using result = float;
#define slots ((index_t)((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)))
#define parts ((index_t)(1LL >= ((1024LL <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? 1024LL : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) <= ((((long long)rows) + 256LL - 1) / 256LL) ? (1024LL <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? 1024LL : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) : ((((long long)rows) + 256LL - 1) / 256LL)) ? 1LL : ((1024LL <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? 1024LL : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) <= ((((long long)rows) + 256LL - 1) / 256LL) ? (1024LL <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? 1024LL : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) : ((((long long)rows) + 256LL - 1) / 256LL))))
using x_t = float;
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
#line 2 "templates/reduce_shuffle.cu"

__global__ void partial(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const x_t *from = x + segment * next;
    result sum = nothing(static_cast<result>(from[0]));
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < length; i += gridDim.x * threads)
      sum = merge(sum, static_cast<result>(from[i * step]));
    sum = merge_block<threads>(sum);
    if (threadIdx.x == 0) partials[segment * slots + blockIdx.x] = sum;
    __syncthreads();
  }
}

__global__ void finish(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    result sum = nothing(static_cast<result>(x[segment * next]));
    for (int i = threadIdx.x; i < parts; i += threads) sum = merge(sum, partials[segment * slots + i]);
    sum = merge_block<threads>(sum);
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
