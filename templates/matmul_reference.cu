// Computes one element of C by its definition, in double precision. Matrices of a batch stand below each other if they are
// stored by rows, and side by side if they are stored by columns.
__global__ void matmul_reference(${params}) {
//@ include "lib/sampled_element.cuh"
//@ local columns = layout_c == "row" and "N" or "(N * static_cast<long long>(batch))"
  const long long m = element / ${columns};
  const long long n = element % ${columns};
  const long long row = m % M;
  const long long col = n % N;
  const long long product = m / M + n / N;
  const A_t *const a = A + product * ${A_layout == "row" and "M * A_stride0" or "K * A_stride1"};
  const B_t *const b = B + product * ${B_layout == "row" and "K * B_stride0" or "N * B_stride1"};

  double sum = 0;
  for (long long k = 0; k < K; ++k) {
    sum += static_cast<double>(a[row * A_stride0 + k * A_stride1]) *
           static_cast<double>(b[k * B_stride0 + col * B_stride1]);
  }
  C[t] = ${epilogue("sum", "m", "n")};
}
