// reduce: rows lanes=32 threads=256 bytes_at_once=16
// rows=100000 cols=100 axis=row op=sum dtype=f32 fill=uniform
using index_t = int;
#define lanes 32
#define threads 256
using result = float;
#define vec 4
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
#line 2 "templates/reduce_rows.cu"

// `lanes` threads of a warp for each row. Rows that wide loads do not fit go one element at a time.
__global__ void __launch_bounds__(threads) reduce(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols) {
  const long long group = (static_cast<long long>(blockIdx.x) * threads + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  // A warp exchanges as a whole: who has no row works on the last one again.
  const long long row = group < rows ? group : rows - 1;
  const x_t *from = x + row * cols;
  const result start = nothing(static_cast<result>(from[0]));
  const int past = static_cast<int>(reinterpret_cast<size_t>(from) / sizeof(x_t) % vec);
  const long long head = past == 0 ? 0 : vec - past < cols ? vec - past : cols;
  const long long packs = (cols - head) / vec;
  result sums[vec];
#pragma unroll
  for (int e = 0; e < vec; ++e) sums[e] = start;
#pragma unroll 4
  for (long long p = lane; p < packs; p += lanes) {
    const pack<x_t, vec> held = load_pack<vec>(from + head + p * vec);
#pragma unroll
    for (int e = 0; e < vec; ++e) sums[e] = merge(sums[e], static_cast<result>(held.at[e]));
  }
  for (long long i = lane; i < cols - packs * vec; i += lanes)
    sums[0] = merge(sums[0], static_cast<result>(from[i < head ? i : i + packs * vec]));
#pragma unroll
  for (int reach = vec / 2; reach > 0; reach /= 2) {
#pragma unroll
    for (int e = 0; e < reach; ++e) sums[e] = merge(sums[e], sums[e + reach]);
  }
  const result sum = merge_lanes<lanes>(sums[0]);
  if (lane == 0 && group < rows) y[row] = sum;
}
