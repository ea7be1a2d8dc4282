// What every variant's y is compared with: one thread for one element. The element is samples[t], or t itself when
// samples is null.

__global__ void access_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = (samples ? samples[t] : t) - store_offset;
  if (element < 0) {
    y[t] = 0;
    return;
  }
//@ if broadcast then
  const unsigned long long taken = element - element % active_lanes;
//@ else
  const unsigned long long taken = scattered ? element * (unsigned long long)multiplier % n : element;
//@ end
  y[t] = static_cast<y_t>(x[(taken + load_offset) * x_stride0]);
}
