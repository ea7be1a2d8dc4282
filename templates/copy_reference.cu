// Computes one element of y, by the element's three coordinates.
__global__ void copy_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  const long long i = element / width / height;
  const long long j = element / width % height;
  const long long k = element % width;
  y[t] = static_cast<y_t>(x[i * x_stride0 + j * x_stride1 + k * x_stride2]);
}
