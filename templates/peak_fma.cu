// y = the value of a chain of `rounds` fused multiply-adds that begins with x. Nothing touches memory in between.

__global__ void __launch_bounds__(threads) peak_fma(${params}) {
  const int first = blockIdx.x * threads * chains + threadIdx.x;
  dtype value[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) value[i] = x[first + i * threads];
#pragma unroll ${unroll}
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = factor * value[i] + addend;
  }
#pragma unroll
  for (int i = 0; i < chains; ++i) y[first + i * threads] = value[i];
}
