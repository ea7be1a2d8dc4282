/* reduce runs, on the cpu device, and computes what its reference computes: every rung, type and operator, along each axis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cugen.h"

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

static void run_variant(cugen_kernel *kernel, const char *variant) {
  cugen_error error = {0};
  cugen_record record;
  if (cugen_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s, %s: %s", variant, cugen_kernel_problem(kernel), error.message);
  if (record.outcome != CUGEN_OUTCOME_OK)
    fail_msg("%s, %s: %s: %s", record.variant, cugen_kernel_problem(kernel), cugen_outcome_text((int)record.outcome),
             record.reason);
}

static cugen_kernel *open_kernel(cugen *lib, const char *config, const char *const *settings, size_t count) {
  cugen_error error = {0};
  cugen_kernel *kernel;
  if (cugen_kernel_open(lib, config, settings, count, &kernel, &error)) fail_msg("%s", error.message);
  return kernel;
}

/* Every rung where its axis allows it; several blocks a segment, and loads wider and narrower than some rows allow. */
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
  cugen_kernel *kernel = open_kernel(lib, "configs/reduce.lua", settings, count);
  run_variant(kernel, variant);
  cugen_kernel_close(kernel);
}

/* Types and operators by turns, so that each rung meets several. */
static void test_reduce(void **state) {
  static const char *const dtypes[] = {"dtype=f32", "dtype=f64", "dtype=f16", "dtype=bf16", "dtype=i32"};
  static const char *const ops[] = {"op=sum", "op=min", "op=max", "op=largest"};
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
    const char *settings[] = {reductions[i].axis, "dtype=f32", "op=sum"};
    run_reduce(*state, settings, 3, reductions[i].variant);
    settings[1] = strstr(reductions[i].variant, "=8") ? dtypes[1 + i % 2] : dtypes[1 + i % 4];
    settings[2] = ops[i % 4];
    run_reduce(*state, settings, 3, reductions[i].variant);
  }
}

/* One element, primes, a pack, past the size from which the reference works in stretches. */
static void test_reduce_sizes(void **state) {
  static const char *const shapes[][2] = {{"rows=1", "cols=1"},
                                          {"rows=1", "cols=7919"},
                                          {"rows=2", "cols=4"},
                                          {"rows=1", "cols=70001"},
                                          {"rows=257", "cols=3"}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const char *settings[] = {shapes[i][0], shapes[i][1], "axis=all"};
    run_reduce(*state, settings, 3, "onepass threads=128 bytes_at_once=16 items=1 per_sm=16 loads=plain");
    run_reduce(*state, settings, 3, "shuffle threads=128 blocks=128");
    settings[2] = "axis=row";
    run_reduce(*state, settings, 3, "rows lanes=32 threads=128 bytes_at_once=16");
    settings[2] = "axis=col";
    run_reduce(*state, settings, 3, "columns wide=16 high=4 bytes_at_once=16 items=1 per_sm=16");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reduce),
      cmocka_unit_test(test_reduce_sizes),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
