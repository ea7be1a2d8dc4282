// y[i] = 2 * x[i] + 1, with the fault that the implementation asks for.

__global__ void planted(${params}) {
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
//@ if fault == "past_the_end" then
  if (i == 0) y[n] = 1.0f;
//@ elseif fault == "far_outside" then
  if (i == 0) y[1ll << 40] = 1.0f;
//@ elseif fault == "trap" then
  if (i == 0) __trap();
//@ elseif fault == "endless" then
  // x is below 1. It is read again each time: a loop that a compiler sees through may be taken out.
  while (*static_cast<const volatile float *>(x) < 2.0f) {
  }
//@ end
  if (i >= n) return;
//@ if fault == "wrong_last" then
  y[i] = i + 1 < n ? 2 * x[i] + 1 : 2 * x[i] + 2;
//@ elseif fault == "nan" then
  const float zero = x[0] - x[0];
  y[i] = i + 1 < n ? 2 * x[i] + 1 : zero / zero;
//@ elseif fault == "unwritten" then
  if (i + 1 < n) y[i] = 2 * x[i] + 1;
//@ elseif fault == "does_not_compile" then
  y[i] = 2 * x[i] + no_such_name;
//@ elseif fault == "writes_input" then
  y[i] = 2 * x[i] + 1;
  const_cast<float *>(x)[i] = 0;
//@ else
  y[i] = 2 * x[i] + 1;
//@ end
}
