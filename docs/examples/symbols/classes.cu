__device__ unsigned counts[8];
__constant__ unsigned char class_of[256];

__global__ void classes(const unsigned char *text, int n) {
  int first = blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
  for (int k = 0; k < PER_THREAD; k++) {
    int i = first + k * BLOCK;
    if (i < n) atomicAdd(&counts[class_of[text[i]]], 1u);
  }
}
