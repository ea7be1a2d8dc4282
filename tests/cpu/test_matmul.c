/* What a tuning run of the products does not meet, for each implementation: operands whose base is not aligned for wide copies, NaN and infinity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels.h"

enum { M = 136, N = 132, K = 37, MOST = M * N + 8 };

struct operands {
  _Alignas(512) float a[MOST], b[MOST], c[MOST], d[MOST], bias[MOST];
};

/* All but the arguments' number is alike: D, bias, alpha and beta stand before M, N and K in matmul_epilogue. */
static const struct choice plans[] = {
    {"configs/matmul.lua", "naive", NULL},          {"configs/matmul.lua", "tiled", NULL},
    {"configs/matmul.lua", "blocked", NULL},        {"configs/matmul.lua", "pipelined", NULL},
    {"configs/matmul_epilogue.lua", "tiled", NULL}, {"configs/matmul_epilogue.lua", "pipelined", NULL},
};

enum { PLANS = sizeof plans / sizeof *plans };

static bool has_epilogue(size_t plan) {
  return strstr(plans[plan].config, "epilogue") != NULL;
}

/* A tile of the first variants lies inside, and the others on the edges. */
static cugen_plan *open_plan(cugen *lib, size_t i) {
  static const char *const settings[] = {"M=136", "N=132", "K=37", "layout_a=col"};
  return open_choice(lib, &plans[i], settings, 4);
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

/* shift: floats from an aligned address to D and the bias. */
static void launch(size_t i, cugen_plan *plan, struct operands *o, float *a, float *b, float *c, int shift) {
  void *plain[] = {a, b, c, NULL, NULL, NULL};
  void *epilogue[] = {a, b, o->d + shift, o->bias + shift, c, NULL, NULL, NULL, NULL, NULL};
  launch_once(plan, has_epilogue(i) ? epilogue : plain, has_epilogue(i) ? 10 : 6);
}

/* Of an element of the sum, as the configs' formulas: whole numbers and quarters, so that it is exact. */
static float after(size_t plan, const struct operands *o, float sum, int m, int n, int shift) {
  if (!has_epilogue(plan)) return sum;
  float value = 0.5f * sum + 0.25f * o->d[shift + m * N + n] + o->bias[shift + n];
  return value < 0 ? 0 : value;
}

/* A is stored by columns. */
static float product(const float *a, const float *b, int m, int n) {
  float sum = 0;
  for (int k = 0; k < K; k++) sum += a[k * M + m] * b[k * N + n];
  return sum;
}

/* Each base by itself at an address that no wide access may start at. */
static void test_unaligned(void **state) {
  static struct operands o;
  for (size_t p = 0; p < PLANS; p++) {
    cugen_plan *plan = open_plan(*state, p);
    for (int shifted = 0; shifted < 8; shifted++) {
      fill(&o);
      float *a = o.a + (shifted & 1), *b = o.b + (shifted & 2), *c = o.c + (shifted & 4 ? 3 : 0);
      launch(p, plan, &o, a, b, c, shifted % 4);
      for (int i = 0; i < M * N; i++) {
        float want = after(p, &o, product(a, b, i / N, i % N), i / N, i % N, shifted % 4);
        if (c[i] != want)
          fail_msg("%s, shifted %d: C[%d, %d] is %g, should be %g", plans[p].implementation, shifted, i / N, i % N,
                   (double)c[i], (double)want);
      }
      assert_true(isnan(c[M * N]));
      if (c > o.c) assert_true(isnan(c[-1]));
    }
    cugen_plan_close(plan);
  }
}

/* A NaN in A is in its row of C, an infinity in B in its column, and neither anywhere else. */
static void test_nan_and_infinity(void **state) {
  static struct operands o;
  for (size_t p = 0; p < PLANS; p++) {
    cugen_plan *plan = open_plan(*state, p);
    fill(&o);
    for (int k = 0; k < K; k++)
      for (int m = 0; m < M; m++) o.a[k * M + m] = o.a[k * M + m] + 6; /* never 0: 0 * infinity is NaN */
    o.a[7 * M + 66] = NAN;
    o.b[36 * N + 67] = INFINITY;
    launch(p, plan, &o, o.a, o.b, o.c, 0);
    for (int i = 0; i < M * N; i++) {
      bool right = i / N == 66   ? isnan(o.c[i])
                   : i % N == 67 ? isinf(o.c[i])
                                 : o.c[i] == after(p, &o, product(o.a, o.b, i / N, i % N), i / N, i % N, 0);
      if (!right) fail_msg("%s: C[%d, %d] is %g", plans[p].implementation, i / N, i % N, (double)o.c[i]);
    }
    cugen_plan_close(plan);
  }
}

/* In what else an epilogue reads they reach the elements that read them; relu leaves NaN as it is. */
static void test_nan_in_an_epilogue(void **state) {
  static struct operands o;
  for (size_t p = 0; p < PLANS; p++) {
    if (!has_epilogue(p)) continue;
    cugen_plan *plan = open_plan(*state, p);
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
    cugen_plan_close(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unaligned),
      cmocka_unit_test(test_nan_and_infinity),
      cmocka_unit_test(test_nan_in_an_epilogue),
  };
  return cmocka_run_group_tests_name("matmul", tests, open_library, close_library);
}
