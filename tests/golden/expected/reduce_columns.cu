// reduce: columns wide=32 high=8 bytes_at_once=16 items=8 per_sm=8
// rows=5000 cols=5000 axis=col op=sum dtype=f32 fill=uniform
using index_t = int;
#define wide 32
#define high 8
#define items 8
using result = float;
#define vec 4
#define parts ((index_t)(1LL >= ((((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) <= ((((long long)rows) + 64LL - 1) / 64LL) ? ((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) : ((((long long)rows) + 64LL - 1) / 64LL)) <= 65535LL ? (((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) <= ((((long long)rows) + 64LL - 1) / 64LL) ? ((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) : ((((long long)rows) + 64LL - 1) / 64LL)) : 65535LL) ? 1LL : ((((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) <= ((((long long)rows) + 64LL - 1) / 64LL) ? ((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) : ((((long long)rows) + 64LL - 1) / 64LL)) <= 65535LL ? (((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) <= ((((long long)rows) + 64LL - 1) / 64LL) ? ((1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) <= ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL)) ? (1056LL / (((((long long)cols) + 128LL - 1) / 128LL) <= 1056LL ? ((((long long)cols) + 128LL - 1) / 128LL) : 1056LL)) : ((((long long)cols) <= 64LL) ? ((((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) >= 1024LL ? (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL) : 1024LL) : (((((long long)rows) + 64LL - 1) / 64LL) <= 65536LL ? ((((long long)rows) + 64LL - 1) / 64LL) : 65536LL))) : ((((long long)rows) + 64LL - 1) / 64LL)) : 65535LL)))
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
#line 2 "templates/reduce_columns.cu"

// Each thread walks down `vec` columns, every `high`-th row of every `parts`-th group of rows; then the block's rows of
// threads combine in shared memory, and the last block of a group of columns what the others have left.
struct columns_held {
  result at[vec];
};

// Row `row` of the thread's columns. whole: packs fit, and all of the columns are there.
__device__ __forceinline__ void take(columns_held &sums, const x_t *from, long long columns_left, bool whole) {
  if (whole) {
    const pack<x_t, vec> held = load_pack<vec>(from);
#pragma unroll
    for (int e = 0; e < vec; ++e) sums.at[e] = merge(sums.at[e], static_cast<result>(held.at[e]));
  } else {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) sums.at[e] = merge(sums.at[e], static_cast<result>(from[e]));
  }
}

// Threads (x, 0) have the result of their columns.
__device__ __forceinline__ void merge_rows(columns_held &sums) {
  __shared__ columns_held tree[high][wide];
  tree[threadIdx.y][threadIdx.x] = sums;
  __syncthreads();
  for (int reach = high / 2; reach > 0; reach /= 2) {
    if (threadIdx.y < reach) {
#pragma unroll
      for (int e = 0; e < vec; ++e)
        tree[threadIdx.y][threadIdx.x].at[e] =
            merge(tree[threadIdx.y][threadIdx.x].at[e], tree[threadIdx.y + reach][threadIdx.x].at[e]);
    }
    __syncthreads();
  }
  sums = tree[0][threadIdx.x];
}

__global__ void __launch_bounds__(wide * high) reduce(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  __shared__ bool last;
  const long long column = (static_cast<long long>(blockIdx.x) * wide + threadIdx.x) * vec;
  const long long columns_left = cols - column;
  const bool whole = columns_left >= vec && packs_fit<vec>(x, static_cast<index_t>(cols % vec));
  columns_held sums, starts;
#pragma unroll
  for (int e = 0; e < vec; ++e)
    starts.at[e] = sums.at[e] = nothing(e < columns_left ? static_cast<result>(x[column + e]) : result(0));
  const long long stride = static_cast<long long>(parts) * high;
  long long row = static_cast<long long>(blockIdx.y) * high + threadIdx.y;
  if (whole) {
    for (; row + (items - 1) * stride < rows; row += items * stride) {
      pack<x_t, vec> held[items];
#pragma unroll
      for (int i = 0; i < items; ++i) held[i] = load_pack<vec>(x + (row + i * stride) * cols + column);
#pragma unroll
      for (int i = 0; i < items; ++i) {
#pragma unroll
        for (int e = 0; e < vec; ++e) sums.at[e] = merge(sums.at[e], static_cast<result>(held[i].at[e]));
      }
    }
  }
  for (; row < rows; row += stride) take(sums, x + row * cols + column, columns_left, whole);
  merge_rows(sums);
  if (threadIdx.y == 0) {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) (parts == 1 ? y[column + e] : partials[blockIdx.y * cols + column + e]) = sums.at[e];
  }
  if (parts == 1) return;
  __threadfence(); // the numbers before the ticket
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) last = atomicAdd(tickets + blockIdx.x, 1u) == parts - 1;
  __syncthreads();
  if (!last) return;
  __threadfence(); // the ticket before the numbers
  sums = starts;
  for (int part = threadIdx.y; part < parts; part += high) {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) sums.at[e] = merge(sums.at[e], __ldcg(partials + part * cols + column + e));
  }
  merge_rows(sums);
  if (threadIdx.y == 0) {
#pragma unroll
    for (int e = 0; e < vec; ++e)
      if (e < columns_left) y[column + e] = sums.at[e];
    if (threadIdx.x == 0) tickets[blockIdx.x] = 0; // for the next launch
  }
}
