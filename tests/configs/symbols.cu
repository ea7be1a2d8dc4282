//@ if lie_in == "symbol" then
__device__ x_t x[n];
__device__ y_t y[n];
__device__ z_t z[n];
//@ end
__global__ void symbols(${params}) {
  const int i = threadIdx.x;
  z[i] += static_cast<int>(10 * x[i]);
  if (i < n - last) y[i] = 2 * x[i];
}
