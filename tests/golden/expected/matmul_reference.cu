// matmul: reference
// M=4096 N=4096 K=4096 dtype=f32 dtype_c=default layout_a=col layout_b=row layout_c=row pitched=true specialize=false fill=uniform batch=1 scaled=false biased=false activation=none
using index_t = int;
using A_t = float;
#define A_stride0 1
#define A_stride1 ((index_t)((((long long)M) + 128LL - 1) / 128LL * 128LL))
using B_t = float;
#define B_stride0 ((index_t)((((long long)N) + 128LL - 1) / 128LL * 128LL))
#define B_stride1 1
using C_t = double;
using workspace_t = float;
using tickets_t = unsigned int;

#line 1 "templates/matmul_reference.cu"
// Computes one element of C by its definition, in double precision. Matrices of a batch stand below each other if they are
// stored by rows, and side by side if they are stored by columns.
__global__ void matmul_reference(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, index_t M, index_t N, index_t K, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets, const long long *samples, long long sample_count) {
#line 2 "templates/lib/sampled_element.cuh"
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
#line 6 "templates/matmul_reference.cu"
  const long long m = element / N;
  const long long n = element % N;
  const long long row = m % M;
  const long long col = n % N;
  const long long product = m / M + n / N;
  const A_t *const a = A + product * K * A_stride1;
  const B_t *const b = B + product * K * B_stride0;

  double sum = 0;
  for (long long k = 0; k < K; ++k) {
    sum += static_cast<double>(a[row * A_stride0 + k * A_stride1]) *
           static_cast<double>(b[k * B_stride0 + col * B_stride1]);
  }
  C[t] = ([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum), (m), (n)));
}
