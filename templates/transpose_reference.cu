// What every variant's B is compared with: one thread for one element of B, counted batch by batch and row by row.
// The element is samples[t], or t itself when samples is null.

__global__ void transpose_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long batch_index = element / rows / cols;
  const long long i = element / rows % cols;
  const long long j = element % rows;
  B[t] = static_cast<B_t>(A[batch_index * A_stride0 + j * A_stride1 + i * A_stride2]);
}
