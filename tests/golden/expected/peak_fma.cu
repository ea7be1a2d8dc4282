// peak_fma: chains threads=256 chains=8 unroll=16
// dtype=f32 rounds=32768
using dtype = float;
#define threads 256
#define chains 8
#define unroll 16
using x_t = float;
using y_t = float;

#line 1 "templates/peak_fma.cu"
// y = the value of a chain of `rounds` fused multiply-adds that begins with x. Nothing touches memory in between.
#line 13 "templates/peak_fma.cu"

using lane = dtype;

__device__ __forceinline__ lane step(lane factor, lane value, lane addend) {
  return factor * value + addend;
}


__global__ void __launch_bounds__(threads) peak_fma(const x_t *__restrict__ x, y_t *__restrict__ y, float factor, float addend, int rounds) {
  const int first = blockIdx.x * threads * chains + threadIdx.x;
  const lane *from = reinterpret_cast<const lane *>(x) + first;
  lane *to = reinterpret_cast<lane *>(y) + first;




  const lane by = factor;
  const lane more = addend;

  lane value[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) value[i] = from[i * threads];
#pragma unroll 16
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = step(by, value[i], more);
  }
#pragma unroll
  for (int i = 0; i < chains; ++i) to[i * threads] = value[i];
}
