// Computes one element of B, counted batch by batch and row by row.
__global__ void transpose_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  const long long batch_index = element / rows / cols;
  const long long i = element / rows % cols;
  const long long j = element % rows;
  B[t] = static_cast<B_t>(A[batch_index * A_stride0 + j * A_stride1 + i * A_stride2]);
}
