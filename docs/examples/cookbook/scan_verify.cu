// Allows an error of a millionth of 1 plus the absolute values summed; x_before is x before the launch.
__global__ void verify(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const long long row = t / cols * x_stride0, last = row + t % cols;
  double sum = 0, size = 1;
  for (long long i = row; i <= last; i++) sum += x_before[i], size += fabs(x_before[i]);
  error[t] = (x[last] - sum) / (1e-6 * size);
}
