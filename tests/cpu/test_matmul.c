/* Input that a tuning run of matmul does not meet, for each implementation: operands that are
   not aligned for wide copies, NaN, infinity. */
#include <math.h>

#include "kernels.h"
#include "tests/opening.h"

enum { M = 136, N = 132, K = 37, MOST = M * N + 8 };

struct operands {
  _Alignas(512) float a[MOST], b[MOST], c[MOST], d[MOST], bias[MOST];
};

static const struct choice plans[] = {
    {"configs/matmul.lua", "naive", NULL},     {"configs/matmul.lua", "tiled", NULL},
    {"configs/matmul.lua", "blocked", NULL},   {"configs/matmul.lua", "pipelined", NULL},
    {"configs/matmul.lua", "tiled", NULL},     {"configs/matmul.lua", "blocked", NULL},
    {"configs/matmul.lua", "pipelined", NULL},
};

enum { PLANS = sizeof plans / sizeof *plans, PLAIN = 4 };

static bool has_epilogue(size_t plan) {
  return plan >= PLAIN;
}

/* Opens a plan whose first variants have tiles inside the matrix, and the others tiles at its
   edges. */
static cugen_plan *open_plan(cugen *lib, size_t i) {
  static const char *const settings[] = {
      "M=136", "N=132", "K=37", "layout_a=col", "scaled=true", "biased=true", "activation=relu"};
  return open_choice(lib, &plans[i], settings, has_epilogue(i) ? 7 : 4);
}

static void fill(struct operands *o) {
  for (int i = 0; i < MOST; i++) {
    o->a[i] = (float)(i * 37 % 11 - 5);
    o->b[i] = (float)(i * 53 % 13 - 6);
    o->d[i] = (float)(i * 29 % 7 * 4);
    o->bias[i] = (float)(i % 5);
  }
  memset(o->c, 0xff, sizeof o->c);
}

/* shift: floats from an aligned address to D and to the bias. */
static void launch(size_t i, cugen_plan *plan, struct operands *o, float *a, float *b, float *c,
                   int shift) {
  void *plain[] = {a, b, c, NULL, NULL, NULL};
  void *epilogue[] = {a, b, c, NULL, NULL, NULL, o->d + shift, o->bias + shift, NULL, NULL};
  launch_once(plan, has_epilogue(i) ? epilogue : plain, has_epilogue(i) ? 10 : 6);
}

/* Returns what the epilogue makes of an element of the sum, by the config's formulas. Operands
   are whole numbers and quarters, so that it is exact. */
static float after(size_t plan, const struct operands *o, float sum, int m, int n, int shift) {
  if (!has_epilogue(plan)) return sum;
  float value = 0.5f * sum + 0.25f * o->d[shift + m * N + n] + o->bias[shift + n];
  return value < 0 ? 0 : value;
}

/* Returns an element of the product; A is stored by columns. */
static float product(const float *a, const float *b, int m, int n) {
  float sum = 0;
  for (int k = 0; k < K; k++) sum += a[k * M + m] * b[k * N + n];
  return sum;
}

/* Each operand in turn begins at an address at which no wide access may start. */
TEST(test_unaligned) {
  static struct operands o;
  for (size_t p = 0; p < PLANS; p++) {
    CLOSED(cugen_plan) *plan = open_plan(*state, p);
    for (int shifted = 0; shifted < 8; shifted++) {
      fill(&o);
      float *a = o.a + (shifted & 1), *b = o.b + (shifted & 2), *c = o.c + (shifted & 4 ? 3 : 0);
      launch(p, plan, &o, a, b, c, shifted % 4);
      for (int i = 0; i < M * N; i++) {
        float want = after(p, &o, product(a, b, i / N, i % N), i / N, i % N, shifted % 4);
        if (c[i] != want)
          fail_msg("%s, shifted %d: C[%d, %d] is %g, should be %g", plans[p].implementation,
                   shifted, i / N, i % N, (double)c[i], (double)want);
      }
      assert_true(isnan(c[M * N]));
      if (c > o.c) assert_true(isnan(c[-1]));
    }
  }
}

/* A NaN in A reaches its row of C, an infinity in B its column, and both reach nothing else. */
TEST(test_nan_and_infinity) {
  static struct operands o;
  for (size_t p = 0; p < PLANS; p++) {
    CLOSED(cugen_plan) *plan = open_plan(*state, p);
    fill(&o);
    for (int k = 0; k < K; k++) /* never 0: 0 * infinity is NaN */
      for (int m = 0; m < M; m++) o.a[k * M + m] = o.a[k * M + m] + 6;
    o.a[7 * M + 66] = NAN;
    o.b[36 * N + 67] = INFINITY;
    launch(p, plan, &o, o.a, o.b, o.c, 0);
    for (int i = 0; i < M * N; i++) {
      bool right = i / N == 66 ? isnan(o.c[i])
                   : i % N == 67
                       ? isinf(o.c[i])
                       : o.c[i] == after(p, &o, product(o.a, o.b, i / N, i % N), i / N, i % N, 0);
      if (!right)
        fail_msg("%s: C[%d, %d] is %g", plans[p].implementation, i / N, i % N, (double)o.c[i]);
    }
  }
}

/* An argument that the problem lacks keeps its place and takes only NULL. Scratch exists for the
   variants that use it. */
TEST(test_absent) {
  static struct operands o;
  CLOSED(cugen_plan) *plain = open_plan(*state, 3), *fused = open_plan(*state, PLANS - 1);
  cugen_argument_info info;
  void *arguments[12] = {o.a, o.b, o.c};
  static const char *const names[] = {"D", "bias", "alpha", "beta", "workspace", "tickets"};
  for (size_t i = 0; i < 6; i++) {
    WORKS(cugen_plan_argument(plain, 6 + i, &info, &err));
    assert_string_equal(info.name, names[i]);
    assert_int_equal(info.absent, i < 4);
    assert_int_equal(info.bytes, 0);
    WORKS(cugen_plan_argument(fused, 6 + i, &info, &err));
    assert_false(info.absent);
  }
  cugen_call *call = call_of(plain, arguments, 12);
  cugen_call_close(call);
  FAILS(cugen_call_bind(fused, arguments, 6, &call, &err), CUGEN_ERROR_USAGE, "was given 6");
  arguments[7] = o.bias;
  FAILS(cugen_call_bind(plain, arguments, 12, &call, &err), CUGEN_ERROR_USAGE,
        "'bias' is none of this problem's: pass NULL");
}

TEST(test_scratch) {
  static const char *const settings[] = {"M=136", "N=132", "K=37"};
  static const struct choice parts = {"configs/matmul.lua", "pipelined", "split = 4"};
  CLOSED(cugen_plan) *plan = open_choice(*state, &parts, settings, 3);
  cugen_argument_info info;
  for (size_t i = 10; i < 12; i++) {
    WORKS(cugen_plan_argument(plan, i, &info, &err));
    assert_int_equal(info.kind, CUGEN_ARGUMENT_SCRATCH);
    assert_true(info.bytes > 0);
  }
}

/* NaN and infinity in other operands of an epilogue reach the elements that use them; relu keeps
   NaN. */
TEST(test_nan_in_an_epilogue) {
  static struct operands o;
  for (size_t p = 0; p < PLANS; p++) {
    if (!has_epilogue(p)) continue;
    CLOSED(cugen_plan) *plan = open_plan(*state, p);
    fill(&o);
    o.d[3 * N + 5] = NAN;
    o.bias[67] = NAN;
    o.bias[66] = -INFINITY;
    launch(p, plan, &o, o.a, o.b, o.c, 0);
    for (int i = 0; i < M * N; i++) {
      bool nan = i == 3 * N + 5 || i % N == 67;
      if (isnan(o.c[i]) != nan || (i % N == 66 && o.c[i] != 0))
        fail_msg("%s: C[%d, %d] is %g", plans[p].implementation, i / N, i % N, (double)o.c[i]);
    }
  }
}

ALL_TESTS_WITH(open_library, close_library);
