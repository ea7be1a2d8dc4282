// What every variant's C is compared with: the definition itself, in double precision, one thread for one element.
// The element is samples[t], or t itself when samples is null, counted row by row.

__global__ void matmul_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long row = element / N;
  const long long col = element % N;

  double sum = 0;
  for (long long k = 0; k < K; ++k) {
    const double a = A[row * A_stride0 + k * A_stride1];
    const double b = B[k * B_stride0 + col * B_stride1];
    sum += a * b;
  }
  C[t] = sum;
}
