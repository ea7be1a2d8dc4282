// y = the value of a chain of `rounds` fused multiply-adds that begins with x. Nothing touches memory in between.
//@ local lane, from_float, next = "dtype", "", "by * value[i] + more"
//@ if width == 2 then
// Two neighbouring elements share a register and an instruction.
//@   lane, from_float = "__half2", "__float2half2_rn"
//@   if dtype == "bf16" then lane, from_float = "__nv_bfloat162", "__float2bfloat162_rn" end
//@   next = "__hfma2(by, value[i], more)"
//@ end

__global__ void __launch_bounds__(threads) peak_fma(${params}) {
  using lane = ${lane};
  const int first = blockIdx.x * threads * chains + threadIdx.x;
  const lane *from = reinterpret_cast<const lane *>(x) + first;
  lane *to = reinterpret_cast<lane *>(y) + first;
  const lane by = ${from_float}(factor);
  const lane more = ${from_float}(addend);
  lane value[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) value[i] = from[i * threads];
#pragma unroll ${unroll}
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = ${next};
  }
#pragma unroll
  for (int i = 0; i < chains; ++i) to[i * threads] = value[i];
}
