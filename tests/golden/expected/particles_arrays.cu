// particles: plain group=0 block=128 per_thread=1
// n=16777216 dtype=f32 fields=16
using index_t = int;
using dtype = float;
#define block 128
#define per_thread 1
#define count ((index_t)(1LL * ((long long)n)))
using state_t = float;
#define state_stride1 ((index_t)(n))
using moved_t = float;
#define moved_stride1 ((index_t)(n))

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
#line 6 "templates/particles.cu"

constexpr dtype wall = static_cast<dtype>(0.5);
constexpr dtype stiffness = static_cast<dtype>(8);
constexpr dtype drag = static_cast<dtype>(0.25);
constexpr dtype gravity = static_cast<dtype>(0.5);

// x y z, vx vy vz, one over the mass.
struct particle {
  dtype at[7];

  __device__ __forceinline__ void move(dtype dt) {
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const dtype x = at[d];
      const dtype v = at[3 + d];
      const dtype pull = min(max(x, -wall), wall) - x;
      const dtype fall = d == 2 ? gravity : static_cast<dtype>(0);
      at[3 + d] = v + dt * (at[6] * (stiffness * pull - drag * v) - fall);
      at[d] = x + dt * at[3 + d];
    }
  }
};

// Where the first number of a particle lies; its others are stride1 apart.

__device__ __forceinline__ index_t place_in_state(index_t p, index_t n) {

  return p;
#line 39 "templates/particles.cu"
}
#line 31 "templates/particles.cu"
__device__ __forceinline__ index_t place_in_moved(index_t p, index_t n) {

  return p;
#line 39 "templates/particles.cu"
}


template <int width> __device__ __forceinline__ void step(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt, index_t p) {
  const state_t *from = state + place_in_state(p, n);
  moved_t *to = moved + place_in_moved(p, n);
#line 65 "templates/particles.cu"
  particle some[width];
#pragma unroll
  for (int f = 0; f < 7; ++f) {
    const pack<dtype, width> one = load_pack<width>(from + f * state_stride1);
#pragma unroll
    for (int e = 0; e < width; ++e) some[e].at[f] = one.at[e];
  }
#pragma unroll
  for (int e = 0; e < width; ++e) some[e].move(dt);
#pragma unroll
  for (int f = 0; f < 6; ++f) {
    pack<dtype, width> one;
#pragma unroll
    for (int e = 0; e < width; ++e) one.at[e] = some[e].at[f];
    store_pack<width>(to + f * moved_stride1, one);
  }

}

__global__ void __launch_bounds__(block) particles(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt) {
#line 91 "templates/particles.cu"
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const index_t p = ((static_cast<index_t>(blockIdx.x) * per_thread + k) * block + threadIdx.x) * 1;
    if (p >= count) return;
#line 103 "templates/particles.cu"
    step<1>(state, moved, n, dt, p);

  }
}
