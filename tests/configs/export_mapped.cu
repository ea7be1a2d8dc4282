// Brings nothing: what is looked at is how it is called.
__global__ void rows(${params}) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (M > 0 && N > 0) y[blockIdx.x] = scale;
}
