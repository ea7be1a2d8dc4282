// y = x. A thread issues all its loads before the first store, because bytes in flight hide the latency of memory.

__global__ void __launch_bounds__(threads) peak_copy(${params}) {
  const size_t first = static_cast<size_t>(blockIdx.x) * threads * loads + threadIdx.x;
  const float4 *from = reinterpret_cast<const float4 *>(x) + first;
  float4 *to = reinterpret_cast<float4 *>(y) + first;
  float4 pack[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) pack[i] = from[i * threads];
#pragma unroll
  for (int i = 0; i < loads; ++i) to[i * threads] = pack[i];
}
