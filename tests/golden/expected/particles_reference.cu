// particles: reference
// n=16777216 dtype=f32 fields=16
using index_t = int;
#define lanes 1
using state_t = float;
#define state_stride0 16
#define state_stride1 1
using moved_t = double;

#line 1 "templates/particles_reference.cu"
// One number of one particle, in double precision.
__global__ void particles_reference(const state_t *__restrict__ state, moved_t *__restrict__ moved, index_t n, float dt, const long long *samples, long long sample_count) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long field = element / lanes % 6;
  const auto number = [&](long long f) {
    return static_cast<double>(state[element / lanes / 6 * state_stride0 + f * state_stride1 + element % lanes]);
  };
  const double x = number(field % 3);
  const double v = number(3 + field % 3);
  const double pull = x > 0.5 ? 0.5 - x : x < -0.5 ? -0.5 - x : 0;
  const double weight = field % 3 == 2 ? 0.5 : 0;
  const double faster = v + dt * (number(6) * (8 * pull - 0.25 * v) - weight);
  moved[t] = field >= 3 ? faster : x + dt * faster;
}
