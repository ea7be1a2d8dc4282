__constant__ float stencil[5];
__global__ void fdtd3d_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t, row = dim + 8, plane = row * row;
  const long long z = e / plane, y = e / row % row, x = e % row;
  double sum = 0;
  if (x >= 4 && x < dim + 4 && y >= 4 && y < dim + 4 && z >= 4 && z < depth + 4) {
    sum = double(stencil[0]) * input[e];
    for (int i = 1; i <= 4; i++)
      sum += double(stencil[i]) * (double(input[e - i]) + input[e + i] + input[e - i * row] + input[e + i * row] +
                                   input[e - i * plane] + input[e + i * plane]);
  }
  output[e] = sum;
}
