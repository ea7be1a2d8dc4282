// transpose: reference
// rows=8192 cols=8192 batch=1 dtype=f32 pitched=false pitch_a=0 pitch_b=0
using index_t = int;
using A_t = float;
#define A_stride0 ((index_t)(cols) * (rows))
#define A_stride1 ((index_t)(cols))
#define A_stride2 1
using B_t = double;

#line 1 "templates/transpose_reference.cu"
// What every variant's B is compared with: one thread for one element of B, counted batch by batch and row by row.
// The element is samples[t], or t itself when samples is null.

__global__ void transpose_reference(const A_t *__restrict__ A, B_t *__restrict__ B, index_t rows, index_t cols, index_t batch, const long long *samples, long long sample_count) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long batch_index = element / rows / cols;
  const long long i = element / rows % cols;
  const long long j = element % rows;
  B[t] = static_cast<B_t>(A[batch_index * A_stride0 + j * A_stride1 + i * A_stride2]);
}
