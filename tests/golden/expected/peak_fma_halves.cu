// peak_fma: chains threads=256 chains=8 unroll=16
// dtype=f16 rounds=32768
#include <cuda_fp16.h>

#define threads 256
#define chains 8
#define unroll 16
using x_t = __half;
using y_t = __half;

#line 1 "templates/peak_fma.cu"
// y = the value of a chain of `rounds` fused multiply-adds that begins with x. Nothing touches memory in between.


// Two neighbouring elements share a register and an instruction.





__global__ void __launch_bounds__(threads) peak_fma(const x_t *__restrict__ x, y_t *__restrict__ y, float factor, float addend, int rounds) {
  using lane = __half2;
  const int first = blockIdx.x * threads * chains + threadIdx.x;
  const lane *from = reinterpret_cast<const lane *>(x) + first;
  lane *to = reinterpret_cast<lane *>(y) + first;
  const lane by = __float2half2_rn(factor);
  const lane more = __float2half2_rn(addend);
  lane value[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) value[i] = from[i * threads];
#pragma unroll 16
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = __hfma2(by, value[i], more);
  }
#pragma unroll
  for (int i = 0; i < chains; ++i) to[i * threads] = value[i];
}
