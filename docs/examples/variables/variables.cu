__constant__ float weights[16];                  // constant memory, written by the host
__device__ const float scale = 0.5f;             // global memory, there as long as the module

__global__ void variables(float *y, const float *x, int n) { // parameters: in constant memory, for this launch
  extern __shared__ float line[];                // shared, its size given at launch
  __shared__ float tail[16];                     // shared, its size known to the compiler
  float history[16];                             // indexed at run time: local memory
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; // registers
  line[t] = i < n ? x[i] : 0;
  if (t < 16) tail[t] = i + blockDim.x < n ? x[i + blockDim.x] : 0;
  __syncthreads();
  for (int k = 0; k < 16; k++) history[(t + k) % 16] = t + k < blockDim.x ? line[t + k] : tail[t + k - blockDim.x];
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += weights[k] * history[(t + k) % 16];
  if (i < n) y[i] = scale * sum;
}
