// reader: reference
// n=67108864 passes=3 chunk=4096 dtype=f64
using index_t = int;
#define chunk 4096
#define chunks ((index_t)((((long long)n) + 4096LL - 1) / 4096LL))
#define shift ((index_t)((((((long long)n) + 4096LL - 1) / 4096LL) / ((long long)passes)) >= 1LL ? (((((long long)n) + 4096LL - 1) / 4096LL) / ((long long)passes)) : 1LL))
using x_t = double;
using sums_t = double;

#line 1 "templates/reader_reference.cu"
// What every variant's sums are compared with: the definition itself, in double precision, one thread for one sum.

__global__ void reader_reference(const x_t *__restrict__ x, sums_t *__restrict__ sums, index_t n, index_t passes, const long long *samples, long long sample_count) {
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
