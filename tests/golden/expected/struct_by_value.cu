// struct: plain threads=32
// n=1000
using x_t = float;
using y_t = float;

#line 1 "tests/configs/struct.cu"
struct Params {
  signed char k;
  double scale;
  float dt;
  unsigned short step;
  int n;
  unsigned char last;
};
// The bytes of 0.1 as a float: kernel and reference see the rounded value.
__global__ void f(Params p, const x_t *__restrict__ x, y_t *__restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool right = p.k == -3 && p.scale == 0.5 * p.n && p.step == 7 && p.last == 255 && p.dt == 0.1f;
  if (i < p.n) y[i] = right ? x[i] * p.dt : -1000;
}
