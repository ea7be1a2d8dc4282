// y = the value of a chain of `rounds` fused multiply-adds that begins with x. Nothing touches memory in between.
//@ if width == 2 then
// Two neighbouring elements share a register and an instruction.
//@   local type = dtype == "f16" and "half2" or "bfloat162"
//@   pair, from_float = dtype == "f16" and "__half2" or "__nv_bfloat162", "__float2" .. type .. "_rn"

using lane = ${pair};

__device__ __forceinline__ lane step(lane factor, lane value, lane addend) {
  return __hfma2(factor, value, addend);
}
//@ else

using lane = dtype;

__device__ __forceinline__ lane step(lane factor, lane value, lane addend) {
  return factor * value + addend;
}
//@ end

__global__ void __launch_bounds__(threads) peak_fma(${params}) {
  const int first = blockIdx.x * threads * chains + threadIdx.x;
  const lane *from = reinterpret_cast<const lane *>(x) + first;
  lane *to = reinterpret_cast<lane *>(y) + first;
//@ if width == 2 then
  const lane by = ${from_float}(factor);
  const lane more = ${from_float}(addend);
//@ else
  const lane by = factor;
  const lane more = addend;
//@ end
  lane value[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) value[i] = from[i * threads];
#pragma unroll ${unroll}
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = step(by, value[i], more);
  }
#pragma unroll
  for (int i = 0; i < chains; ++i) to[i * threads] = value[i];
}
