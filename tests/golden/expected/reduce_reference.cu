// reduce: reference
// rows=1 cols=16777216 axis=row op=sum dtype=f32 fill=uniform
using x_t = float;
using y_t = double;
using partials_t = float;
using tickets_t = unsigned int;

#line 1 "templates/reduce_reference.cu"
// Up to `plain` elements are combined from the first to the last, by one thread, so that an operator that is not
// associative shows. More than that would take a thread minutes: then the block works on its results one after the
// other, each thread on a stretch of the segment, piece by piece so that rounding errors stay small.
__global__ void reduce_reference(const x_t *__restrict__ x, y_t *__restrict__ y, partials_t *__restrict__ partials, tickets_t *__restrict__ tickets, long long rows, long long cols, const long long *samples, long long sample_count) {
  constexpr long long plain = 8192, piece = 1024;
  __shared__ y_t sums[256];
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x;
#line 25 "templates/reduce_reference.cu"
  if (cols <= plain) {
    const long long t = first + threadIdx.x;
    if (t >= sample_count) return;
#line 10 "templates/reduce_reference.cu"
  const long long element = samples ? samples[t] : t;
#line 16 "templates/reduce_reference.cu"
  const x_t *from = x + element * cols;
  const long long count = cols, stride = 1;




  const y_t start = ([&](auto __v_first) -> decltype(__v_first) { using __t = decltype(__v_first); return __t(0LL); }((y_t(from[0]))));
#line 29 "templates/reduce_reference.cu"
    y_t sum = start;
    for (long long i = 0; i < count; ++i) sum = ([&](auto __v_a, decltype(__v_a) __v_b) -> decltype(__v_a) { return __v_a + __v_b; }((sum), (y_t(from[i * stride]))));
    y[t] = sum;
    return;
  }
  const long long last = first + blockDim.x < sample_count ? first + blockDim.x : sample_count;
  for (long long t = first; t < last; ++t) {
#line 10 "templates/reduce_reference.cu"
  const long long element = samples ? samples[t] : t;
#line 16 "templates/reduce_reference.cu"
  const x_t *from = x + element * cols;
  const long long count = cols, stride = 1;




  const y_t start = ([&](auto __v_first) -> decltype(__v_first) { using __t = decltype(__v_first); return __t(0LL); }((y_t(from[0]))));
#line 37 "templates/reduce_reference.cu"
    const long long stretch = (count + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * stretch;
    const long long end = begin + stretch < count ? begin + stretch : count;
    y_t sum = start;
    for (long long at = begin; at < end; at += piece) {
      y_t part = start;
#pragma unroll 8
      for (long long i = at; i < (at + piece < end ? at + piece : end); ++i)
        part = ([&](auto __v_a, decltype(__v_a) __v_b) -> decltype(__v_a) { return __v_a + __v_b; }((part), (y_t(from[i * stride]))));
      sum = ([&](auto __v_a, decltype(__v_a) __v_b) -> decltype(__v_a) { return __v_a + __v_b; }((sum), (part)));
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < static_cast<int>(blockDim.x); ++i) sum = ([&](auto __v_a, decltype(__v_a) __v_b) -> decltype(__v_a) { return __v_a + __v_b; }((sum), (sums[i])));
      y[t] = sum;
    }
    __syncthreads();
  }
}
