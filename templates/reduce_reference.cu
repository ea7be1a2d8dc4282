// One thread combines a segment of up to `plain` elements from the first to the last, so that an operator that is not
// associative shows. The whole block combines a longer segment: each thread takes a stretch, piece by piece so that
// rounding errors stay small.
__global__ void reduce_reference(${params}) {
  constexpr long long plain = 8192, piece = 1024;
  __shared__ y_t sums[256];
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x;
//@ local counts = { all = "rows * cols", row = "cols", col = "rows" }
  const long long count = ${counts[axis]}, stride = ${axis == "col" and "cols" or 1};
//@ local function result_of(target)
//@   local element = "(samples ? samples[" .. target .. "] : " .. target .. ")"
  const x_t *from = x${axis == "all" and "" or " + " .. element .. (axis == "row" and " * cols" or "")};
  const y_t start = ${identity("y_t(from[0])")};
//@ end
  if (count <= plain) {
    const long long t = first + threadIdx.x;
    if (t >= sample_count) return;
//@ result_of("t")
    y_t sum = start;
    for (long long i = 0; i < count; ++i) sum = ${combine("sum", "y_t(from[i * stride])")};
    y[t] = sum;
    return;
  }
  const long long last = first + blockDim.x < sample_count ? first + blockDim.x : sample_count;
  for (long long t = first; t < last; ++t) {
//@ result_of("t")
    const long long stretch = (count + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * stretch;
    const long long end = begin + stretch < count ? begin + stretch : count;
    y_t sum = start;
    for (long long at = begin; at < end; at += piece) {
      y_t part = start;
#pragma unroll 8
      for (long long i = at; i < (at + piece < end ? at + piece : end); ++i)
        part = ${combine("part", "y_t(from[i * stride])")};
      sum = ${combine("sum", "part")};
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < static_cast<int>(blockDim.x); ++i) sum = ${combine("sum", "sums[i]")};
      y[t] = sum;
    }
    __syncthreads();
  }
}
