__global__ void edges_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t, r = element / cols, c = element % cols;
  const double above = r > 0 ? x(r - 1, c) : 0, below = r + 1 < rows ? x(r + 1, c) : 0;
  const double left = c > 0 ? x(r, c - 1) : 0, right = c + 1 < cols ? x(r, c + 1) : 0;
  y[t] = x(r, c) - 0.25 * (above + below + left + right);
}
