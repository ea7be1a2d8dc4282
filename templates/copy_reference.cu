// What every variant's y is compared with: one thread for one element, by its three coordinates. The element is
// samples[t], or t itself when samples is null.

__global__ void copy_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
  const long long i = element / width / height;
  const long long j = element / width % height;
  const long long k = element % width;
  y[t] = static_cast<y_t>(x[i * x_stride0 + j * x_stride1 + k * x_stride2]);
}
