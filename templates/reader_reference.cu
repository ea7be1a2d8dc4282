// What every variant's sums are compared with: the definition itself, in double precision, one thread for one sum.

__global__ void reader_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long first = samples ? samples[t] : t;

  double sum = 0;
  for (long long pass = 0; pass < passes; ++pass) {
    const long long at = (first + pass * shift) % chunks;
    for (long long i = at * chunk; i < n && i < (at + 1) * chunk; ++i) sum += x[i];
  }
  sums[t] = sum;
}
