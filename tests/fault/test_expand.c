/* A variant and a reference expanded while memory runs out, at each allocation in turn: the status says so, nothing
   crashes, everything taken is given back, and the same expander works once there is memory again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "gen/expand.h"

#ifdef SANITIZED /* they bring their own malloc */

int main(void) {
  print_message("skipped: sanitizers bring their own malloc\n");
  return 77;
}

#else

/* ---- What is expanded ---- */

static const struct device_facts facts = {.compute_capability = 90,
                                          .warp_size = 32,
                                          .max_threads_per_block = 1024,
                                          .registers_per_sm = 65536,
                                          .shared_per_block = 49152,
                                          .shared_per_sm = 233472,
                                          .pitch_alignment = 512,
                                          .is_gpu = 1};

struct bench {
  struct sources sources;
  struct config *config;
  struct problem problem;
  struct space *space;
  struct value values[32];
  struct variant variant;
};

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

/* With sizes known at launch, so that strides are expressions; with includes and Lua lines. */
static int set_up(void **state) {
  static struct bench bench;
  cugen_error err;
  uint64_t index;
  check(config_open(&bench.sources, "configs/matmul.lua", &bench.config, &err), &err);
  check(problem_set(bench.config, (const char *[]){"pitched=true"}, 1, false, &bench.problem, &err), &err);
  check(space_open(bench.config, &bench.problem, &facts, &bench.space, &err), &err);
  check(space_find(bench.space, "blocked", &index, &err), &err);
  assert_true(space_max_tunables(bench.space) <= 32);
  space_variant(bench.space, index, &bench.variant, bench.values);
  *state = &bench;
  return 0;
}

static int tear_down(void **state) {
  struct bench *bench = *state;
  space_close(bench->space);
  problem_free(&bench->problem);
  config_close(bench->config);
  return 0;
}

static int expand(const struct bench *bench, struct expander *expander, bool reference, struct kernel_spec *spec,
                  cugen_error *err) {
  if (reference)
    return expand_reference(expander, bench->config, &bench->problem, &facts, &bench->variant, 0, spec, err);
  return expand_variant(expander, bench->config, &bench->problem, &facts, &bench->variant, spec, err);
}

/* An expander opened, used and closed; the status of the first step that fails. */
static int use_expander(const struct bench *bench, bool reference, cugen_error *err) {
  struct expander *expander;
  struct kernel_spec spec;
  int status = expander_open(&bench->sources, &expander, err);
  if (status) {
    assert_null(expander);
    return status;
  }
  status = expand(bench, expander, reference, &spec, err);
  if (status) {
    assert_null(spec.source);
    memory.left = -1;
    cugen_error again;
    check(expand(bench, expander, reference, &spec, &again), &again);
  }
  kernel_spec_free(&spec);
  expander_close(expander);
  return status;
}

static void fail_each(const struct bench *bench, bool reference, bool for_good) {
  long failures = 0;
  for (long n = 0;; n++) {
    cugen_error err = {0};
    long before = memory.held;
    memory.failed = false;
    memory.for_good = for_good;
    memory.left = n;
    int status = use_expander(bench, reference, &err);
    memory.left = -1;
    assert_int_equal(memory.held, before);
    if (status) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    failures += status != CUGEN_OK;
    if (!memory.failed) break;
    /* One failure alone Lua may get over by collecting its garbage. */
    if (for_good) assert_int_not_equal(status, CUGEN_OK);
  }
  assert_true(failures > 50);
}

static void test_variant(void **state) {
  fail_each(*state, false, false);
  fail_each(*state, false, true);
}

static void test_reference(void **state) {
  fail_each(*state, true, false);
  fail_each(*state, true, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variant),
      cmocka_unit_test(test_reference),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

#endif
