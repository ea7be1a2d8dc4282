__global__ void product(${params}) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ${M} * ${N}) C[i] = A[i / ${N}] * B[i % ${N}];
}
