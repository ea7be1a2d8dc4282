__device__ void spend(int steps) {
  volatile int spent = 0;
  for (int i = 0; i < steps; i++) spent = spent + 1;
}

__global__ void sizes(${params}) {
  if (threadIdx.x == 0) spend(first);
  for (int i = threadIdx.x * piece; i < count; i += 32 * piece) {
    spend(each);
    for (int k = i; k < i + piece; k++) y[k] = x[k];
  }
}
