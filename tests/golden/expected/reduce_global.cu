// reduce: global threads=128 blocks=512
// rows=64 cols=4096 axis=row op=sum dtype=f32 fill=uniform
using index_t = int;
#define threads 128
#define segments ((index_t)(rows))
#define length ((index_t)(cols))
#define step 1
#define next ((index_t)(cols))
using result = float;
#define slots ((index_t)((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)))
#define parts ((index_t)(1LL >= ((512LL <= (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL) ? 512LL : (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL)) <= ((((long long)cols) + 128LL - 1) / 128LL) ? (512LL <= (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL) ? 512LL : (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL)) : ((((long long)cols) + 128LL - 1) / 128LL)) ? 1LL : ((512LL <= (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL) ? 512LL : (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL)) <= ((((long long)cols) + 128LL - 1) / 128LL) ? (512LL <= (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL) ? 512LL : (((((long long)rows) <= 64LL) ? ((((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)cols) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)cols) + 64LL - 1) / 64LL) : 65536LL)) / 128LL)) : ((((long long)cols) + 128LL - 1) / 128LL))))
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

// Load a pack into an array, or store one from there. The array's elements may stand in separate registers.
template <int Width, typename T> __device__ __forceinline__ void load_elements(T *to, const T *from) {
  const pack<T, Width> elements = load_pack<Width>(from);
#pragma unroll
  for (int e = 0; e < Width; ++e) to[e] = elements.at[e];
}

template <int Width, typename T> __device__ __forceinline__ void store_elements(T *to, const T *from) {
  pack<T, Width> elements;
#pragma unroll
  for (int e = 0; e < Width; ++e) elements.at[e] = from[e];
  store_pack(to, elements);
}

// Returns whether packs may start at base and at base plus any multiple of stride. Packs of one element always may.
template <int Width, typename T> __device__ __forceinline__ bool packs_fit(const T *base, index_t stride) {
  return Width == 1 || (stride % Width == 0 && reinterpret_cast<size_t>(base) % (Width * sizeof(T)) == 0);
}
#line 2 "templates/lib/reduce.cuh"

// The operator `combine`, in the type of the results.
__device__ __forceinline__ result merge(result a, result b) { return ([&](auto __v_a, decltype(__v_a) __v_b) -> decltype(__v_a) { return __v_a + __v_b; }((a), (b))); }

// The neutral element, which a reduction begins with. first: the segment's first element.
__device__ __forceinline__ result nothing(result first) { return ([&](auto __v_first) -> decltype(__v_first) { using __t = decltype(__v_first); return __t(0LL); }((first))); }

// What a thread has combined: a number for each element of the packs that it has taken.
template <int Width> struct pack_sums {
  result at[Width];

  __device__ __forceinline__ void begin(result start) {
#pragma unroll
    for (int e = 0; e < Width; ++e) at[e] = start;
  }
  template <typename Held> __device__ __forceinline__ void take(const Held &held) {
#pragma unroll
    for (int e = 0; e < Width; ++e) at[e] = merge(at[e], static_cast<result>(held.at[e]));
  }
  __device__ __forceinline__ result all() {
#pragma unroll
    for (int reach = Width / 2; reach > 0; reach /= 2) {
#pragma unroll
      for (int e = 0; e < reach; ++e) at[e] = merge(at[e], at[e + reach]);
    }
    return at[0];
  }
};

// Lane 0 has the result of the lowest `count` lanes, a power of two; the whole warp takes part.
template <int count> __device__ __forceinline__ result merge_lanes(result value) {
#pragma unroll
  for (int reach = count / 2; reach > 0; reach /= 2)
    value = merge(value, __shfl_down_sync(0xffffffffu, value, reach, count));
  return value;
}

// Thread 0 has the result of the block, whose threads are a power of two of at least a warp. All of them call it; between
// two calls there must be a barrier.
template <int block> __device__ __forceinline__ result merge_block(result value) {
  __shared__ result warps[block / 32];
  value = merge_lanes<32>(value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) value = merge_lanes<block / 32>(warps[threadIdx.x % (block / 32)]);
  return value;
}
#line 2 "templates/reduce_tree.cu"



// Half of the threads combine pairs, a quarter, ...; the barrier in the loop is what makes one half's work visible to
// the next. All threads have the result.
__device__ __forceinline__ result merge_tree(result *numbers, result value) {
  numbers[threadIdx.x] = value;
  __syncthreads();
  for (int reach = threads / 2; reach > 0; reach /= 2) {
    if (threadIdx.x < reach) numbers[threadIdx.x] = merge(numbers[threadIdx.x], numbers[threadIdx.x + reach]);
    __syncthreads();
  }
  return numbers[0];
}



// Each thread first combines its elements in a register.
__global__ void partial(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    const x_t *from = x + segment * next;
    result sum = nothing(static_cast<result>(from[0]));
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < length; i += gridDim.x * threads)
      sum = merge(sum, static_cast<result>(from[i * step]));

    merge_tree(partials + segment * slots + static_cast<long long>(blockIdx.x) * threads, sum);
#line 33 "templates/reduce_tree.cu"
  }
}

// The numbers of the blocks, which stand `threads` apart where the tree is in global memory.
__global__ void finish(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {

  for (long long segment = blockIdx.y; segment < segments; segment += gridDim.y) {
    result sum = nothing(static_cast<result>(x[segment * next]));
    for (int i = threadIdx.x; i < parts; i += threads) sum = merge(sum, partials[segment * slots + static_cast<long long>(i) * threads]);
    sum = merge_block<threads>(sum);
    if (threadIdx.x == 0) y[segment] = sum;
    __syncthreads();
  }
}
