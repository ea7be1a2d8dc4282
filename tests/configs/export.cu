__constant__ double factors[4];

__global__ void rows(${params}) {
  for (index_t i = blockIdx.x * threads + threadIdx.x; i < M; i += gridDim.x * threads)
    for (index_t j = blockIdx.y * vec; j < N; j += gridDim.y * vec)
      for (int v = 0; v < vec; ++v) y[i * N + j + v] = x[i * N + j + v] * x_t(scale * factors[v % 4]);
}
