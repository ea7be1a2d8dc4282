__constant__ float c_Kernel[17];
__global__ void convolution_columns_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t, y = e / width, x = e % width;
  double sum = 0;
  for (int j = -8; j <= 8; j++)
    if (y + j >= 0 && y + j < height) sum += double(c_Kernel[8 - j]) * d_Src[(y + j) * width + x];
  d_Dst[t] = sum;
}
