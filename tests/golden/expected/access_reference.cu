// access: reference
// n=33554432 dtype=f32 load_offset=0 load_stride=1 store_offset=0 store_stride=1 scattered=true
using index_t = int;
#define store_offset 0
#define scattered 1
#define multiplier 2654435761
using x_t = float;
#define x_stride0 ((index_t)(load_stride))
using y_t = double;

#line 1 "templates/access_reference.cu"
// What every variant's y is compared with: one thread for one element. The element is samples[t], or t itself when
// samples is null.

__global__ void access_reference(const x_t *__restrict__ x, y_t *__restrict__ y, index_t n, index_t load_offset, index_t load_stride, index_t store_stride, const long long *samples, long long sample_count) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = (samples ? samples[t] : t) - store_offset;
  if (element < 0) {
    y[t] = 0;
    return;
  }
  const unsigned long long taken = scattered ? element * (unsigned long long)multiplier % n : element;
  y[t] = static_cast<y_t>(x[(taken + load_offset) * x_stride0]);
}
