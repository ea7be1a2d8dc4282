// Each thread computes one chain, in double precision.
__global__ void peak_fma_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  double value = ${width == 2 and "static_cast<float>" or ""}(x[element]);
  for (int round = 0; round < rounds; ++round) value = factor * value + addend;
  y[t] = value;
}
