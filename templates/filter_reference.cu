// Computes one element of the result, in double precision.

__constant__ weights_t weights[size * size];

// Returns where coordinate i of a dimension is read from; -1: nowhere.
__device__ long long place(long long i, long long count) {
//@ if boundary == "clamp" then
  return i < 0 ? 0 : i >= count ? count - 1 : i;
//@ elseif boundary == "zero" then
  return i < 0 || i >= count ? -1 : i;
//@ else
  const long long period = ${boundary == "mirror" and 2 or 1} * count;
  const long long within = (i % period + period) % period;
  return within < count ? within : period - 1 - within;
//@ end
}

__global__ void filter_reference(${params}) {
//@ include "lib/sampled_element.cuh"
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
