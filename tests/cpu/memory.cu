// Constant and device variables, dynamic shared memory, atomics.

__constant__ float filter[25];
__device__ unsigned tickets;
__device__ unsigned char large[1000];

__global__ void convolve(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 25; ++k) {
    if (i + k < n) sum += filter[k] * in[i + k];
  }
  if (i < n) out[i] = sum;
}

__global__ void reverse(int *out, const int *in, int n) {
  volatile extern __shared__ int values[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = values[n - 1 - i];
}

__global__ void histogram(unsigned *bins, const unsigned char *in, int n, double *total) {
  static __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i]], 1u);
    atomicAdd(total, (double)in[i]);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
  if (threadIdx.x == 0) atomicInc(&tickets, 1000);
}
