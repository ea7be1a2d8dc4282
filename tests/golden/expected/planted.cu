// planted: nan threads=64 fault=nan
// n=1000
using index_t = int;
using x_t = float;
using y_t = float;

#line 1 "tests/configs/planted.cu"
// y[i] = 2 * x[i] + 1, with the fault that the implementation asks for.

__global__ void planted(const x_t *__restrict__ x, y_t *__restrict__ y, index_t n) {
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
#line 16 "tests/configs/planted.cu"
  if (i >= n) return;



  const float zero = x[0] - x[0];
  y[i] = i + 1 < n ? 2 * x[i] + 1 : zero / zero;
#line 29 "tests/configs/planted.cu"
}
