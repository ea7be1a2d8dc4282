// One thread sums at most `plain` elements. If there are more, each thread of the block sums a stretch. A thread goes
// piece by piece, so that rounding errors stay small, and the first thread adds up the threads' sums.
__global__ void sum_reference(${params}) {
  constexpr long long plain = 8192, piece = 1024;
  __shared__ result_t sums[1024];
  if (blockIdx.x > 0) return;
  const long long stretch = n <= plain ? n : (n + blockDim.x - 1) / blockDim.x;
  const long long begin = threadIdx.x * stretch, end = begin + stretch < n ? begin + stretch : n;
  result_t sum = 0;
  for (long long at = begin; at < end; at += piece) {
    result_t part = 0;
#pragma unroll 8
    for (long long i = at; i < (at + piece < end ? at + piece : end); ++i) part += x[i];
    sum += part;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0 || sample_count < 1) return;
  for (int i = 1; i < static_cast<int>(blockDim.x); ++i) sum += sums[i];
  result[0] = sum;
}
