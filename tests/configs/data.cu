// What the data is to be is said here once more: a wrong element is a wrong result.
__global__ void data(${params}) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float expected[] = {1, 2.5f, -1};
  const bool right = fabsf(s[i] - (x[2 * i] + 3 * sinf(3.14159265f * i / n))) < 1e-5f && w[i % 3] == expected[i % 3] &&
                     p[i] == 2 * i && p[p_stride1 + i] == 2 * i + 1 && k[i] == 3 * i + n;
  y[i] = right ? x[2 * i + 1] + s[i] : -1000;
}
