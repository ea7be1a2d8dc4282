/* What a tuning run of matmul does not meet: operands whose base is not aligned for wide copies, NaN and infinity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/system.h"
#include "base/text.h"
#include "cugen.h"

enum { M = 72, N = 68, K = 37, MOST = M * N + 8 };

struct operands {
  _Alignas(512) float a[MOST], b[MOST], c[MOST];
};

static int set_up(void **state) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error error = {0};
  cugen *lib;
  options.device = "cpu";
  options.cache = "none";
  if (cugen_open(&options, &lib, &error)) fail_msg("%s", error.message);
  *state = lib;
  return 0;
}

static int tear_down(void **state) {
  cugen_close(*state);
  return 0;
}

/* The first variant of `pipelined` alone: the other implementations are renamed out of reach by a requirement. */
static void only_pipelined(cugen *lib) {
  static const char *const others[] = {"naive", "tiled", "blocked"};
  struct text config = {0};
  cugen_error error;
  if (file_read("configs/matmul.lua", &config, &error)) fail_msg("%s", error.message);
  for (size_t i = 0; i < 3; i++) {
    struct text from = {0}, out = {0};
    text_addf(&from, "template \"matmul_%s.cu\"", others[i]);
    const char *start = text_get(&config), *at = strstr(start, text_get(&from));
    assert_non_null(at);
    text_add_n(&out, start, (size_t)(at - start));
    text_addf(&out, "requires \"M == 0\", %s", at);
    text_free(&from);
    text_free(&config);
    config = out;
  }
  if (cugen_add_file(lib, "pipelined.lua", text_get(&config), config.length, &error)) fail_msg("%s", error.message);
  text_free(&config);
}

static cugen_plan *open_plan(cugen *lib) {
  static const char *const settings[] = {"M=72", "N=68", "K=37", "layout_a=col"};
  cugen_error error;
  cugen_kernel *kernel;
  cugen_plan *plan;
  only_pipelined(lib);
  if (cugen_kernel_open(lib, "pipelined.lua", settings, 4, &kernel, &error)) fail_msg("%s", error.message);
  if (cugen_plan_open(kernel, NULL, &plan, &error)) fail_msg("%s", error.message);
  cugen_kernel_close(kernel);
  return plan;
}

static void fill(struct operands *o) {
  for (int i = 0; i < MOST; i++) {
    o->a[i] = (float)(i * 37 % 11 - 5);
    o->b[i] = (float)(i * 53 % 13 - 6);
  }
  memset(o->c, 0xff, sizeof o->c);
}

static void launch(cugen_plan *plan, float *a, float *b, float *c) {
  cugen_call *call;
  cugen_error error;
  void *arguments[] = {a, b, c, NULL, NULL, NULL};
  if (cugen_call_bind(plan, arguments, 6, &call, &error)) fail_msg("%s", error.message);
  if (cugen_call_launch(call, NULL, &error)) fail_msg("%s", error.message);
  cugen_call_close(call);
}

/* Whole numbers, so that it is exact. A is stored by columns. */
static float wanted(const float *a, const float *b, int m, int n) {
  float sum = 0;
  for (int k = 0; k < K; k++) sum += a[k * M + m] * b[k * N + n];
  return sum;
}

/* Each base by itself at an address that no wide access may start at. */
static void test_unaligned(void **state) {
  static struct operands o;
  cugen_plan *plan = open_plan(*state);
  for (int shifted = 0; shifted < 8; shifted++) {
    fill(&o);
    float *a = o.a + (shifted & 1), *b = o.b + (shifted & 2), *c = o.c + (shifted & 4 ? 3 : 0);
    launch(plan, a, b, c);
    for (int i = 0; i < M * N; i++)
      if (c[i] != wanted(a, b, i / N, i % N))
        fail_msg("shifted %d: C[%d, %d] is %g, should be %g", shifted, i / N, i % N, (double)c[i],
                 (double)wanted(a, b, i / N, i % N));
    assert_true(isnan(c[M * N]));
    if (c > o.c) assert_true(isnan(c[-1]));
  }
  cugen_plan_close(plan);
}

/* A NaN in A is in its row of C, an infinity in B in its column, and neither anywhere else. */
static void test_nan_and_infinity(void **state) {
  static struct operands o;
  cugen_plan *plan = open_plan(*state);
  fill(&o);
  for (int k = 0; k < K; k++)
    for (int m = 0; m < M; m++) o.a[k * M + m] = o.a[k * M + m] + 6; /* never 0: 0 * infinity is NaN */
  o.a[7 * M + 66] = NAN;
  o.b[36 * N + 67] = INFINITY;
  launch(plan, o.a, o.b, o.c);
  for (int i = 0; i < M * N; i++) {
    bool right = i / N == 66 ? isnan(o.c[i]) : i % N == 67 ? isinf(o.c[i]) : o.c[i] == wanted(o.a, o.b, i / N, i % N);
    if (!right) fail_msg("C[%d, %d] is %g", i / N, i % N, (double)o.c[i]);
  }
  cugen_plan_close(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_unaligned), cmocka_unit_test(test_nan_and_infinity)};
  return cmocka_run_group_tests_name("matmul", tests, set_up, tear_down);
}
