// filter: reference
// rows=8192 cols=8192 size=5 dtype=f32 boundary=clamp pitched=false
using index_t = int;
#define size 5
using image_t = float;
#define image_stride0 ((index_t)(cols))
#define image_stride1 1
using weights_t = float;
using result_t = double;

#line 1 "templates/filter_reference.cu"
// One element of the result, in double precision. Outside of the image a coordinate is brought back by its remainder.

__constant__ weights_t weights[size * size];

// The place of coordinate i of a dimension, -1: none.
__device__ long long place(long long i, long long count) {

  return i < 0 ? 0 : i >= count ? count - 1 : i;
#line 16 "templates/filter_reference.cu"
}

__global__ void filter_reference(const image_t *__restrict__ image, result_t *__restrict__ result, index_t rows, index_t cols, const long long *samples, long long sample_count) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long row = element / cols;
  const long long col = element % cols;

  result_t sum = 0;
  for (int i = 0; i < size; ++i) {
    const long long r = place(row + i - size / 2, rows);
    for (int j = 0; j < size; ++j) {
      const long long c = place(col + j - size / 2, cols);
      if (r < 0 || c < 0) continue;
      const result_t value = static_cast<result_t>(image[r * image_stride0 + c * image_stride1]);
      sum += static_cast<result_t>(weights[i * size + j]) * value;
    }
  }
  result[t] = sum;
}
