// Computes one element of y = x.
__global__ void peak_copy_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  y[t] = x[element];
}
