// particles: wide group=1 block=128 per_thread=1 vec=4
// n=16777216 dtype=f32 fields=16
using index_t = int;
using dtype = float;
#define block 128
#define per_thread 1
#define vec 4
using state_t = float;
#define state_stride0 16
#define state(i_, j_) state[(index_t)(i_) * state_stride0 + (j_)]
using moved_t = float;
#define moved_stride0 6
#define moved(i_, j_) moved[(index_t)(i_) * moved_stride0 + (j_)]

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
#line 6 "templates/particles.cu"

constexpr dtype wall = static_cast<dtype>(0.5);
constexpr dtype stiffness = static_cast<dtype>(8);
constexpr dtype drag = static_cast<dtype>(0.25);
constexpr dtype gravity = static_cast<dtype>(0.5);

// x y z, vx vy vz, one over the mass, and a number that makes whole packs.
struct particle {
  dtype at[8];

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

template <int width> __device__ __forceinline__ void step(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt, index_t p) {

  constexpr int out_width = width > 1 ? 2 : 1; // six numbers have no larger whole packs
  particle one;
#pragma unroll
  for (int f = 0; f < 7; f += width) load_elements<width>(one.at + f, &state(p, f));
  one.move(dt);
#pragma unroll
  for (int f = 0; f < 6; f += out_width) store_elements<out_width>(&moved(p, f), one.at + f);
#line 56 "templates/particles.cu"
}

__global__ void __launch_bounds__(block) particles(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt) {

  // Memory that wide loads may not start at is read one number at a time.
  const bool aligned = packs_fit<vec>(state, 0) && packs_fit<vec>(moved, 0);

#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const index_t p = ((static_cast<index_t>(blockIdx.x) * per_thread + k) * block + threadIdx.x) * 1;
    if (p >= n) return;

    if (aligned && p + 1 <= n) {
      step<vec>(state, moved, n, dt, p);
    } else {
      for (int e = 0; e < 1 && p + e < n; ++e) step<1>(state, moved, n, dt, p + e);
    }



  }
}
