// Computes one element of y. The first store_offset elements of y are zero.
__global__ void access_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  const long long place = element - store_offset;
  if (place < 0) {
    y[t] = 0;
    return;
  }
//@ if broadcast then
  const unsigned long long taken = place - place % active_lanes;
//@ else
  const unsigned long long taken = scattered ? place * (unsigned long long)multiplier % n : place;
//@ end
  y[t] = static_cast<y_t>(x[(taken + load_offset) * x_stride0]);
}
