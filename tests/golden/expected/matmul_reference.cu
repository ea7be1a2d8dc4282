// matmul: reference
// M=4096 N=4096 K=4096 dtype=f32 layout_a=col layout_b=row layout_c=row pitched=true specialize=false fill=uniform
using index_t = int;
using A_t = float;
#define A_stride0 1
#define A_stride1 ((index_t)((((long long)M) + 128LL - 1) / 128LL * 128LL))
using B_t = float;
#define B_stride0 ((index_t)((((long long)N) + 128LL - 1) / 128LL * 128LL))
#define B_stride1 1
using C_t = double;

#line 1 "templates/matmul_reference.cu"
// What every variant's C is compared with: the definition itself, in double precision, one thread for one element.
// The element is samples[t], or t itself when samples is null, counted row by row.

__global__ void matmul_reference(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, index_t M, index_t N, index_t K, const long long *samples, long long sample_count) {
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
