// reader: stream memory_kind=mapped threads=256 vec=4 loads=4
// n=67108864 passes=1 chunk=4096 dtype=f32
using index_t = int;
#define chunk 4096
using dtype = float;
#define threads 256
#define vec 4
#define loads 4
#define chunks ((index_t)((((long long)n) + 4096LL - 1) / 4096LL))
#define shift ((index_t)((((((long long)n) + 4096LL - 1) / 4096LL) / ((long long)passes)) >= 1LL ? (((((long long)n) + 4096LL - 1) / 4096LL) / ((long long)passes)) : 1LL))
using x_t = float;
using sums_t = float;

#line 1 "templates/reader.cu"
// Each block sums one chunk of x a pass, `passes` of them, and stores one number: x is read `passes` times and next to
// nothing is written, so that the time is that of reading x where it lies.

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
#line 5 "templates/reader.cu"

// The thread's part of the sum of count elements.
template <int Width> __device__ __forceinline__ dtype sum_part(const dtype *__restrict__ from, index_t count) {
  const index_t step = static_cast<index_t>(threads) * Width;
  index_t i = static_cast<index_t>(threadIdx.x) * Width;
  dtype sum = 0;
  for (; i + (loads - 1) * step + Width <= count; i += loads * step) {
    pack<dtype, Width> packs[loads];
    for (int l = 0; l < loads; ++l) packs[l] = load_pack<Width>(&from[i + l * step]);
    for (int l = 0; l < loads; ++l)
      for (int k = 0; k < Width; ++k) sum += packs[l].at[k];
  }
  for (; i < count; i += step)
    for (int k = 0; k < Width; ++k)
      if (i + k < count) sum += from[i + k];
  return sum;
}

__global__ void __launch_bounds__(threads) reader(const x_t *__restrict__ x, sums_t *__restrict__ sums, index_t n, index_t passes) {
  __shared__ dtype warp_sums[threads / 32];
  dtype sum = 0;
  for (index_t pass = 0; pass < passes; ++pass) {
    const index_t at = (static_cast<index_t>(blockIdx.x) + pass % chunks * shift) % chunks;
    const dtype *from = x + at * chunk;
    const index_t count = n - at * chunk < chunk ? n - at * chunk : chunk;
    sum += packs_fit<vec>(x, static_cast<index_t>(vec)) ? sum_part<vec>(from, count) : sum_part<1>(from, count);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < threads / 32; ++warp) sum += warp_sums[warp];
  sums[blockIdx.x] = sum;
}
