// Computes one number of one particle, in double precision.
__global__ void particles_reference(${params}) {
//@ include "lib/sampled_element.cuh"
  const long long p = element / 6, field = element % 6;
  const double x = state(p, field % 3);
  const double v = state(p, 3 + field % 3);
  const double pull = x > 0.5 ? 0.5 - x : x < -0.5 ? -0.5 - x : 0;
  const double weight = field % 3 == 2 ? 0.5 : 0;
  const double faster = v + dt * (state(p, 6) * (8 * pull - 0.25 * v) - weight);
  moved[t] = field >= 3 ? faster : x + dt * faster;
}
