// Moves particles by one step of dt. Beyond the walls of a box a spring pulls them back; drag and gravity act everywhere.

//@ include "lib/pack.cuh"
//@
//@ -- step: the number of particles that a thread moves together; 1 in an array of structures, where packs lie along the record.
//@ local along_record = group == 1
//@ local step = along_record and 1 or vec

constexpr dtype wall = static_cast<dtype>(0.5);
constexpr dtype stiffness = static_cast<dtype>(8);
constexpr dtype drag = static_cast<dtype>(0.25);
constexpr dtype gravity = static_cast<dtype>(0.5);

// The position x y z, the velocity vx vy vz, one over the mass, and an unused number that completes the last pack.
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

template <int width> __device__ __forceinline__ void step(${params}, index_t p) {
//@ if along_record then
  constexpr int out_width = width > 1 ? 2 : 1; // six numbers have no larger whole packs
  particle one;
#pragma unroll
  for (int f = 0; f < 7; f += width) load_elements<width>(one.at + f, &state(p, f));
  one.move(dt);
#pragma unroll
  for (int f = 0; f < 6; f += out_width) store_elements<out_width>(&moved(p, f), one.at + f);
//@ else
  particle some[width];
#pragma unroll
  for (int f = 0; f < 7; ++f) {
    const pack<dtype, width> one = load_pack<width>(&state(p, f));
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
    store_pack<width>(&moved(p, f), one);
  }
//@ end
}

__global__ void __launch_bounds__(block) particles(${params}) {
//@ if vec > 1 then
  // Arrays whose addresses do not fit wide accesses are read and written one number at a time.
  const bool aligned = packs_fit<vec>(state, 0) && packs_fit<vec>(moved, 0);
//@ end
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const index_t p = ((static_cast<index_t>(blockIdx.x) * per_thread + k) * block + threadIdx.x) * ${step};
    if (p >= n) return;
//@ if vec > 1 then
    if (aligned && p + ${step} <= n) {
      step<vec>(state, moved, n, dt, p);
    } else {
      for (int e = 0; e < ${step} && p + e < n; ++e) step<1>(state, moved, n, dt, p + e);
    }
//@ else
    step<1>(state, moved, n, dt, p);
//@ end
  }
}
