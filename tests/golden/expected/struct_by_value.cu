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
#ifdef __EDG__
#define __builtin_offsetof(type, field) __INTADDR__(&((type *)0)->field)
#endif
#line 4 "tests/configs/struct.lua"
static_assert(__builtin_offsetof(Params, k) == 0, "by the config, field k of Params is at byte 0");
#line 4 "tests/configs/struct.lua"
static_assert(__builtin_offsetof(Params, scale) == 8, "by the config, field scale of Params is at byte 8");
#line 4 "tests/configs/struct.lua"
static_assert(__builtin_offsetof(Params, dt) == 16, "by the config, field dt of Params is at byte 16");
#line 4 "tests/configs/struct.lua"
static_assert(__builtin_offsetof(Params, step) == 20, "by the config, field step of Params is at byte 20");
#line 4 "tests/configs/struct.lua"
static_assert(__builtin_offsetof(Params, n) == 24, "by the config, field n of Params is at byte 24");
#line 4 "tests/configs/struct.lua"
static_assert(__builtin_offsetof(Params, last) == 28, "by the config, field last of Params is at byte 28");
