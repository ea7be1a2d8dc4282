/* matmul's implementation mma, whose tensor-core instructions the cpu device computes one by
   one: every type in every layout of A and B, sizes that tiles divide and do not divide, rows at
   which wide copies may and may not start. */
#include "kernels.h"
#include "tests/testing.h"

TEST(test_runs) {
  run_section(*state, "mma");
}

/* ---- Operands whose base no wide copy may start at ------------------------------------------ */

enum { M = 72, N = 136, K = 80, MOST = N * K + 16 };

/* Returns a small whole number as bf16, which is exact in every sum. */
static uint16_t bf16_of(int value) {
  float wide = (float)value;
  uint32_t bits;
  memcpy(&bits, &wide, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static float value_of(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

struct operands {
  _Alignas(512) uint16_t a[MOST], b[MOST];
  _Alignas(512) float c[M * N + 16];
};

static float wanted(const uint16_t *a, const uint16_t *b, int m, int n) {
  float sum = 0;
  for (int k = 0; k < K; k++) sum += value_of(a[m * K + k]) * value_of(b[k * N + n]);
  return sum;
}

static void check_shifted(cugen_plan *plan, int shifted) {
  static struct operands o;
  uint16_t *a = o.a + (shifted & 1), *b = o.b + (shifted & 2);
  float *c = o.c + (shifted & 4 ? 3 : 0);
  for (int i = 0; i < MOST; i++)
    o.a[i] = bf16_of(i * 37 % 11 - 5), o.b[i] = bf16_of(i * 53 % 13 - 6);
  memset(o.c, 0xff, sizeof o.c);
  void *arguments[] = {a, b, c, NULL, NULL, NULL};
  launch_once(plan, arguments, 6);
  for (int i = 0; i < M * N; i++)
    if (c[i] != wanted(a, b, i / N, i % N))
      fail_msg("shifted %d: C[%d, %d] is %g, should be %g", shifted, i / N, i % N, (double)c[i],
               (double)wanted(a, b, i / N, i % N));
  uint32_t after;
  memcpy(&after, c + M * N, sizeof after);
  assert_int_equal(after, 0xffffffff);
}

/* Each operand in turn begins at an address at which no wide access may start. */
TEST(test_unaligned) {
  static const char *const settings[] = {"M=72", "N=136", "K=80", "dtype=bf16", "dtype_c=f32"};
  static const struct choice choice = {"configs/matmul.lua", "mma", NULL};
  CLOSED(cugen_plan) *plan = open_choice(*state, &choice, settings, 5);
  for (int shifted = 0; shifted < 8; shifted++) check_shifted(plan, shifted);
}

ALL_TESTS_WITH(open_library, close_library);
