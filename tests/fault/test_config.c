/* Reads a config while memory runs out, at each of the first hundred allocations or more, then
   at ever fewer: the status says so, nothing crashes, and everything is freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "failing_memory.h"
#include "gen/config/config.h"

#if SANITIZED /* sanitizers have a malloc of their own */

int main(void) {
  print_message("skipped: sanitizers bring their own malloc\n");
  return 77;
}

#else

/* Reads, evaluates and closes a config. Returns the first status that is not CUGEN_OK. */
static int use_config(const struct text *content, cugen_error *err) {
  static const char *const settings[] = {"M=77", "dtype=f64"};
  struct config *config;
  struct problem problem, check;
  int status = config_parse("matmul.lua", text_get(content), content->length, &config, err);
  if (status) return status;
  status = problem_set(config, settings, 2, false, &problem, err);
  if (!status) {
    status = problem_check(config, &problem, &check, err);
    if (!status) problem_free(&check);
    if (!status) status = problem_bucket(config, &problem, &check, err);
    if (!status) problem_free(&check);
    problem_free(&problem);
  }
  config_close(config);
  return status;
}

/* Lets each of the first `exact` allocations fail, and later ones in steps that grow. */
static void fail_each(const struct text *content, bool for_good, long exact) {
  long failures = 0;
  for (long n = 0;; n += 1 + n / exact) {
    cugen_error err = {0};
    long before = memory.held;
    memory.failed = false;
    memory.for_good = for_good;
    memory.left = n;
    int status = use_config(content, &err);
    memory.left = -1;
    assert_int_equal(memory.held, before);
    if (status) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    if (status) assert_non_null(strstr(err.message, "out of memory"));
    failures += status != CUGEN_OK;
    if (!memory.failed) break;
    /* Lua may survive a single failure by collecting its garbage. */
    if (for_good) assert_int_equal(status, CUGEN_ERROR_MEMORY);
  }
  assert_true(failures > 100);
}

static void allocations_fail(void **state) {
  (void)state;
  struct text content = {0};
  assert_int_equal(file_read("configs/matmul.lua", &content, NULL), CUGEN_OK);
  static const char buckets[] = "policy \"buckets\" { M = { 64, 128 }, K = { 32 } },";
  char *nearest = strstr(content.data, "policy \"nearest\"");
  assert_non_null(nearest);
  struct text changed = {0};
  text_add_n(&changed, content.data, (size_t)(nearest - content.data));
  text_add(&changed, buckets);
  text_add(&changed, strchr(nearest, '\n'));
  fail_each(&changed, false, 100);
  text_free(&changed);
  fail_each(&content, false, 200);
  fail_each(&content, true, 100);
  text_free(&content);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
