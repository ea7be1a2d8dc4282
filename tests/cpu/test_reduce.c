/* reduce on the cpu device computes what its reference computes: every implementation, type and
   operator, along each axis. */

#include <math.h>

#include "api/tuning.h"
#include "kernels.h"
#include "tests/testing.h"

/* Every implementation for each axis that it allows, with several blocks for a segment, and with
   loads wider and narrower than some rows allow. */
static const struct {
  const char *axis, *variant;
} reductions[] = {
    {"axis=all", "global threads=128 blocks=16"},
    {"axis=all", "static threads=256 blocks=128"},
    {"axis=all", "dynamic threads=128 blocks=512"},
    {"axis=all", "shuffle threads=128 blocks=128"},
    {"axis=all", "vector threads=128 bytes_at_once=16 items=2 per_sm=16 loads=plain"},
    {"axis=all", "onepass threads=128 bytes_at_once=8 items=1 per_sm=16 loads=streaming"},
    {"axis=all", "onepass threads=256 bytes_at_once=16 items=8 per_sm=1 loads=plain"},
    {"axis=row", "global threads=128 blocks=16"},
    {"axis=row", "dynamic threads=128 blocks=128"},
    {"axis=row", "vector threads=128 bytes_at_once=16 items=1 per_sm=4 loads=streaming"},
    {"axis=row", "onepass threads=128 bytes_at_once=16 items=1 per_sm=16 loads=plain"},
    {"axis=row", "rows lanes=8 threads=128 bytes_at_once=16"},
    {"axis=row", "rows lanes=32 threads=256 bytes_at_once=8"},
    {"axis=col", "static threads=128 blocks=128"},
    {"axis=col", "shuffle threads=128 blocks=128"},
    {"axis=col", "columns wide=16 high=4 bytes_at_once=8 items=1 per_sm=16"},
    {"axis=col", "columns wide=32 high=8 bytes_at_once=16 items=4 per_sm=4"},
};

static void run_reduce(cugen *lib, const char *const *settings, size_t count, const char *variant) {
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "configs/reduce.lua", settings, count);
  run_variant(kernel, variant);
}

/* Types and operators alternate, so that each implementation meets several. */
TEST(test_reduce) {
  static const char *const dtypes[] = {"dtype=f32", "dtype=f64", "dtype=f16", "dtype=bf16",
                                       "dtype=i32"};
  static const char *const ops[] = {"op=sum", "op=min", "op=max", "op=largest"};
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
    const char *settings[] = {reductions[i].axis, dtypes[i % 5], ops[i % 4]};
    if (strstr(reductions[i].variant, "=8")) settings[1] = dtypes[i % 2];
    run_reduce(*state, settings, 3, reductions[i].variant);
  }
}

/* Sizes of one element, primes, one pack, and a size above which the reference works in pieces. */
TEST(test_reduce_sizes) {
  static const char *const shapes[][2] = {{"rows=1", "cols=1"},
                                          {"rows=1", "cols=7919"},
                                          {"rows=2", "cols=4"},
                                          {"rows=1", "cols=70001"},
                                          {"rows=257", "cols=3"}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const char *settings[] = {shapes[i][0], shapes[i][1], "axis=all"};
    run_reduce(*state, settings, 3,
               "onepass threads=128 bytes_at_once=16 items=1 per_sm=16 loads=plain");
    settings[2] = "axis=row";
    run_reduce(*state, settings, 3, "rows lanes=32 threads=128 bytes_at_once=16");
    settings[2] = "axis=col";
    run_reduce(*state, settings, 3, "columns wide=16 high=4 bytes_at_once=16 items=1 per_sm=16");
  }
}

/* ---- Through plans -------------------------------------------------------------------------- */

/* What an application needs to call one implementation: its plan, its buffers and their first
   values. */
struct application {
  cugen_plan *plan;
  cugen_call *call;
};

static struct application bind(cugen *lib, const char *implementation, const char *const *settings,
                               size_t count, const void *x, void *y) {
  struct application app;
  cugen_error error;
  const struct choice choice = {"configs/reduce.lua", implementation, NULL};
  app.plan = open_choice(lib, &choice, settings, count);
  void *arguments[6] = {(void *)(uintptr_t)x, y};
  if (cugen_call_bind(app.plan, arguments, 6, &app.call, &error))
    fail_msg("%s: %s", implementation, error.message);
  return app;
}

static void launch(const struct application *app) {
  WORKS(cugen_call_launch(app->call, NULL, &err));
}

static void release(const struct application *app) {
  cugen_call_close(app->call);
  cugen_plan_close(app->plan);
}

static const char *const contiguous[] = {"global",  "static", "dynamic",
                                         "shuffle", "vector", "onepass"};

/* ---- NaN and infinity ----------------------------------------------------------------------- */

enum { COUNT = 5003 };

static float reduce_once(cugen *lib, const char *implementation, const char *op, const float *x) {
  const char *settings[] = {"rows=1", "cols=5003", op};
  float y = 0;
  struct application app = bind(lib, implementation, settings, 3, x, &y);
  launch(&app);
  release(&app);
  return y;
}

/* A NaN anywhere makes every result NaN, also that of min and max. */
TEST(test_nan) {
  static const char *const ops[] = {"op=sum", "op=min", "op=max", "op=largest"};
  static float x[COUNT];
  for (size_t i = 0; i < 6; i++) {
    size_t place = i % 3 == 0 ? 0 : i % 3 == 1 ? COUNT / 2 : COUNT - 1;
    for (int k = 0; k < COUNT; k++) x[k] = (float)(k % 100) - 50;
    x[place] = NAN;
    float y = reduce_once(*state, contiguous[i], ops[i % 4], x);
    if (!isnan(y))
      fail_msg("%s %s with a NaN at %zu: %g", contiguous[i], ops[i % 4], place, (double)y);
  }
}

/* Infinities, and numbers of which none is above zero. */
TEST(test_infinity) {
  static float x[COUNT];
  for (int k = 0; k < COUNT; k++) x[k] = (float)(k % 100) - 50;
  x[COUNT - 2] = -INFINITY;
  assert_true(reduce_once(*state, "onepass", "op=min", x) == -INFINITY);
  assert_true(reduce_once(*state, "static", "op=sum", x) == -INFINITY);
  assert_true(reduce_once(*state, "vector", "op=largest", x) == INFINITY);
  assert_true(reduce_once(*state, "shuffle", "op=max", x) == 49);
  x[3] = INFINITY;
  assert_true(reduce_once(*state, "onepass", "op=max", x) == INFINITY);
  assert_true(isnan(reduce_once(*state, "onepass", "op=sum", x)));
  for (int k = 0; k < COUNT; k++) x[k] = (float)(k % 100) - 150;
  assert_true(reduce_once(*state, "onepass", "op=max", x) == -51);
}

/* ---- Where buffers begin, and launching again ----------------------------------------------- */

/* Expects the sums of integers, which are equal in any order. */
static void expect_sums(cugen *lib, const char *implementation, const char *axis, const int *x,
                        int rows, int cols) {
  char sizes[2][24];
  snprintf(sizes[0], sizeof sizes[0], "rows=%d", rows);
  snprintf(sizes[1], sizeof sizes[1], "cols=%d", cols);
  const char *settings[] = {sizes[0], sizes[1], axis, "dtype=i32"};
  static long long got[COUNT], want[COUNT];
  memset(want, 0, sizeof want);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++)
      want[axis[5] == 'a' ? 0 : axis[5] == 'r' ? r : c] += x[r * cols + c];
  int results = axis[5] == 'a' ? 1 : axis[5] == 'r' ? rows : cols;
  struct application app = bind(lib, implementation, settings, 4, x, got);
  for (int again = 0; again < 3; again++) {
    memset(got, 0xff, sizeof got);
    launch(&app);
    if (memcmp(got, want, (size_t)results * sizeof *got) != 0)
      fail_msg("%s %s %dx%d, launch %d: wrong", implementation, axis, rows, cols, again);
  }
  release(&app);
}

/* Addresses at which no wide load may begin: the elements that wide loads do not reach are taken
   one by one. */
TEST(test_unaligned) {
  static _Alignas(16) int x[70000 + 4];
  for (int i = 0; i < 70004; i++) x[i] = i * 7919 % 1000 - 500;
  for (int shift = 0; shift < 4; shift++) {
    expect_sums(*state, "onepass", "axis=all", x + shift, 1, 70000 - shift);
    expect_sums(*state, "vector", "axis=row", x + shift, 7, 4099);
    expect_sums(*state, "rows", "axis=row", x + shift, 101, 1 + shift);
    expect_sums(*state, "columns", "axis=col", x + shift, 101, 64);
    expect_sums(*state, "onepass", "axis=row", x + shift, 3, 2 + shift);
  }
}

/* Results are equal bit by bit, in whatever order the blocks end. */
TEST(test_repeats) {
  static float x[COUNT];
  const char *settings[] = {"rows=1", "cols=5003"};
  for (int i = 0; i < COUNT; i++) x[i] = (float)(i * 7919 % 1000) * 1.1e-3f;
  for (size_t i = 0; i < 6; i++) {
    float y = 0, first;
    struct application app = bind(*state, contiguous[i], settings, 2, x, &y);
    launch(&app);
    first = y;
    launch(&app);
    assert_memory_equal(&y, &first, sizeof y);
    release(&app);
  }
}

/* ---- What is found -------------------------------------------------------------------------- */

/* Runs the config with the template in memory. The variant must be wrong with a reason that has
   these words. */
static void expect_wrong(cugen *lib, const struct text *config, const char *const *settings,
                         size_t count, const char *variant, const char *words) {
  cugen_error error = {0};
  cugen_record record;
  add_text(lib, "wrong.lua", config);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "wrong.lua", settings, count);
  if (api_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s: %s", variant, error.message);
  if (record.outcome != CUGEN_OUTCOME_WRONG || !strstr(record.reason, words))
    fail_msg("%s: %s: %s", variant, outcome_text((int)record.outcome), record.reason);
}

/* a - b is not associative, so the kernel's order gives another number than the reference's. The
   message says so. */
TEST(test_not_associative) {
  FREED(text) text = read_text("configs/reduce.lua");
  replace(&text, "formula \"combine(a, b)\"", "\"select(op == 'sum', a + b",
          "\"select(op == 'sum', a - b");
  for (size_t i = 0; i < 6; i += 3) expect_wrong(*state, &text, NULL, 0, contiguous[i], "y[0] is ");
}

/* The kernel without the barrier in its loop: threads run one after the other up to a barrier,
   so that one of them reads what another has not written yet. */
TEST(test_no_barrier) {
  FREED(text) template = read_text("templates/reduce_tree.cu"),
              config = read_text("configs/reduce.lua");
  replace(&template, "reach /= 2", "__syncthreads();", "");
  add_text(*state, "planted.cu", &template);
  replace(&config, "local function tree", "reduce_tree.cu", "planted.cu");
  expect_wrong(*state, &config, NULL, 0, "global", "y[0] is ");
}

/* A ticket that is not reset would make the next launch wrong. */
TEST(test_no_reset) {
  static const char *const settings[] = {"axis=col", "rows=501"};
  FREED(text) template = read_text("templates/reduce_columns.cu"),
              config = read_text("configs/reduce.lua");
  replace(&template, "ticket is read before", "tickets[blockIdx.x] = 0;", ";");
  add_text(*state, "planted.cu", &template);
  replace(&config, "implementation \"columns\"", "reduce_columns.cu", "planted.cu");
  expect_wrong(*state, &config, settings, 2, "columns",
               "scratch 'tickets' (fill = \"zero\") is not zero after the launch");
}

ALL_TESTS_WITH(open_library, close_library);
