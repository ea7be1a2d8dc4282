// copy: reference
// width=67108864 height=7 depth=1 dtype=f32 pitched=true pitch_x=0 pitch_y=0
using index_t = int;
using x_t = float;
#define x_stride0 ((index_t)((((long long)width) + 128LL - 1) / 128LL * 128LL) * (height))
#define x_stride1 ((index_t)((((long long)width) + 128LL - 1) / 128LL * 128LL))
#define x_stride2 1
using y_t = double;

#line 1 "templates/copy_reference.cu"
// What every variant's y is compared with: one thread for one element, by its three coordinates. The element is
// samples[t], or t itself when samples is null.

__global__ void copy_reference(const x_t *__restrict__ x, y_t *__restrict__ y, index_t width, index_t height, index_t depth, const long long *samples, long long sample_count) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long i = element / width / height;
  const long long j = element / width % height;
  const long long k = element % width;
  y[t] = static_cast<y_t>(x[i * x_stride0 + j * x_stride1 + k * x_stride2]);
}
