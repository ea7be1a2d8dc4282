// particles: wide group=1 block=128 per_thread=1 vec=4
// n=16777216 dtype=f32 fields=16
using index_t = int;
using dtype = float;
#define block 128
#define per_thread 1
#define vec 4
#define count ((index_t)(((((long long)n) + 1LL - 1) / 1LL) * 1LL))
using state_t = float;
#define state_stride0 16
using moved_t = float;
#define moved_stride0 6

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

// Returns whether packs may start at base and at base plus any multiple of stride. Packs of one element always may.
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



  return p * state_stride0;



}
#line 31 "templates/particles.cu"
__device__ __forceinline__ index_t place_in_moved(index_t p, index_t n) {



  return p * moved_stride0;



}


template <int width> __device__ __forceinline__ void step(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt, index_t p) {
  const state_t *from = state + place_in_state(p, n);
  moved_t *to = moved + place_in_moved(p, n);

  constexpr int packs = (7 + width - 1) / width;
  constexpr int out_width = width > 1 ? 2 : 1; // six numbers have no larger whole packs
  particle one;
#pragma unroll
  for (int f = 0; f < packs; ++f) {
    const pack<dtype, width> some = load_pack<width>(from + f * width);
#pragma unroll
    for (int e = 0; e < width; ++e)
      if (f * width + e < 7) one.at[f * width + e] = some.at[e];
  }
  one.move(dt);
#pragma unroll
  for (int f = 0; f < 6; f += out_width) {
    pack<dtype, out_width> some;
#pragma unroll
    for (int e = 0; e < out_width; ++e) some.at[e] = one.at[f + e];
    store_pack<out_width>(to + f, some);
  }
#line 82 "templates/particles.cu"
}

__global__ void __launch_bounds__(block) particles(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt) {



  // Memory that wide loads may not start at is read one number at a time.
  const bool aligned = packs_fit<vec>(state, state_stride0) && packs_fit<vec>(moved, vec);

#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const index_t p = ((static_cast<index_t>(blockIdx.x) * per_thread + k) * block + threadIdx.x) * 1;
    if (p >= count) return;

    if (aligned) {
      step<vec>(state, moved, n, dt, p);
    } else {
#pragma unroll
      for (int e = 0; e < 1; ++e) step<1>(state, moved, n, dt, p + e);
    }



  }
}
