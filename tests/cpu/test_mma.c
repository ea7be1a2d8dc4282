/* matmul's implementation mma, whose tensor-core instructions the cpu device computes one by
   one: every type in every layout of A and B, sizes that tiles divide and do not divide, rows at
   which wide copies may and may not start. */

#include <stdbool.h>
#include <string.h>

#include "kernels.h"
#include "tests/testing.h"

static void run(cugen *lib, const char *const *settings, size_t most, const char *variant) {
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "configs/matmul.lua", settings, most);
  run_variant(kernel, variant);
}

/* Few enough threads that rows copied in pieces of 2 bytes are allowed. */
static const char *const variants[] = {
    "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 group=8 min_blocks=1",
    "mma BM=128 BN=64 WM=64 WN=32 k_bytes=64 stages=3 group=1 min_blocks=1",
    "mma BM=64 BN=128 WM=32 WN=64 k_bytes=64 stages=5 group=8 min_blocks=1",
    "mma BM=64 BN=64 WM=32 WN=32 k_bytes=128 stages=4 group=1 min_blocks=1",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Ragged sizes aligned to 2, 4, 8 and 16 bytes; whole tiles; a k shorter than a tile; more tiles
   than stages; fewer lines than a copy has elements, with a long k. */
static const struct {
  const char *m, *n, *k;
} sizes[] = {{"M=131", "N=260", "K=37"}, {"M=128", "N=192", "K=128"}, {"M=70", "N=66", "K=302"},
             {"M=68", "N=132", "K=100"}, {"M=72", "N=136", "K=8"},    {"M=200", "N=200", "K=264"},
             {"M=1", "N=3", "K=1100"}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const char *const types[][2] = {{"dtype=bf16", "dtype_c=default"},
                                       {"dtype=f16", "dtype_c=f32"},
                                       {"dtype=tf32", "dtype_c=default"},
                                       {"dtype=f64", "dtype_c=default"}};
enum { TYPES = sizeof types / sizeof *types };

/* Bits of `number` choose the layouts of A and B. C's layout alternates, because no operand's copy
   depends on it. */
static void run_type(cugen *lib, size_t type, unsigned number, const char *batch) {
  unsigned turn = number + 3 * (unsigned)type;
  size_t size = turn % SIZES;
  const char *settings[] = {types[type][0],
                            types[type][1],
                            number & 1 ? "layout_a=col" : "layout_a=row",
                            number & 2 ? "layout_b=col" : "layout_b=row",
                            (number + number / 2 + type) & 1 ? "layout_c=col" : "layout_c=row",
                            turn & 1 ? "pitched=true" : "pitched=false",
                            turn / 2 & 1 ? "specialize=true" : "specialize=false",
                            sizes[size].m,
                            sizes[size].n,
                            sizes[size].k,
                            batch};
  run(lib, settings, 11, variants[(number + type) % VARIANTS]);
}

/* 8-bit types: operands along k only; C as f32 or the type's own. */
TEST(test_bytes) {
  static const char *const bytes[] = {"dtype=e4m3", "dtype=e5m2", "dtype=i8"};
  for (unsigned number = 0; number < 9; number += 4) {
    size_t size = (number + number / 3) % SIZES;
    const char *settings[] = {bytes[number % 3],
                              number < 3 ? "dtype_c=f32" : "dtype_c=default",
                              "layout_b=col",
                              number == 4 ? "layout_c=col" : "layout_c=row",
                              number == 4 ? "pitched=true" : "pitched=false",
                              sizes[size].m,
                              sizes[size].n,
                              sizes[size].k};
    run(*state, settings, 8, variants[0]);
  }
}

/* Each type meets both layouts of each operand. */
TEST(test_types) {
  for (unsigned i = 0; i < 2 * TYPES; i++)
    run_type(*state, i / 2, (i & 1 ? 3 : 0) ^ (i / 2 & 1), "batch=1");
}

TEST(test_batch) {
  for (unsigned number = 0; number < 4; number += 3)
    run_type(*state, 3 - number, number, "batch=2");
}

/* Tiles that are 256 bytes deep in shared memory, and more lines than the block copies at once. */
TEST(test_deep) {
  for (unsigned i = 0; i < 4; i++) {
    const char *settings[] = {types[i][0],
                              i & 1 ? "layout_a=col" : "layout_a=row",
                              i & 2 ? "layout_b=col" : "layout_b=row",
                              "M=200",
                              "N=136",
                              i & 1 ? "K=520" : "K=40"};
    run(*state, settings, 6, "mma BM=64 BN=64 WM=32 WN=32 k_bytes=256 stages=3 group=8");
  }
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
