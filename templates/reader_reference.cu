// Computes one of the sums by its definition, in double precision.
__global__ void reader_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  double sum = 0;
  for (long long pass = 0; pass < passes; ++pass) {
    const long long at = (element + pass * shift) % chunks;
    for (long long i = at * chunk; i < n && i < (at + 1) * chunk; ++i) sum += x[i];
  }
  sums[t] = sum;
}
