/* Reads a config while memory runs out, at each of the first hundred allocations or more, then
   at ever fewer: the status says so, nothing crashes, and everything is freed. */
#include "base/system.h"
#include "failing_memory.h"
#include "gen/config/problem.h"
#include "tests/testing.h"

#if SANITIZED
SKIP_ALL_TESTS("sanitizers bring their own malloc");
#endif

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
    long before = heap.held;
    heap.failed = false;
    heap.for_good = for_good;
    heap.left = n;
    int status = use_config(content, &err);
    heap.left = -1;
    assert_int_equal(heap.held, before);
    if (status) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    if (status) assert_non_null(strstr(err.message, "out of memory"));
    failures += status != CUGEN_OK;
    if (!heap.failed) break;
    /* Lua may survive a single failure by collecting its garbage. */
    if (for_good) assert_int_equal(status, CUGEN_ERROR_MEMORY);
  }
  if (failures < 50) fail_msg("%ld failures", failures);
}

/* What a small config has, and a large one has not. */
static const char small[] =
    "kernel \"k\" { policy \"buckets\" { M = { 64, 128 }, K = { 32 } },\n"
    "  problem \"M\" (64), problem \"K\" (64), problem \"dtype\" { \"f32\", \"f64\" },\n"
    "  check { M = 5, K = 7 }, output \"C\" { dtype = \"dtype\", shape = { \"M\", \"K\" } },\n"
    "  reference \"none\", implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } } "
    "}\n";

TEST(allocations_fail) {
  struct text content = {0};
  text_add(&content, small);
  fail_each(&content, false, 100);
  text_free(&content);
  assert_int_equal(file_read("configs/matmul.lua", &content, NULL), CUGEN_OK);
  fail_each(&content, false, 100);
  fail_each(&content, true, 100);
  text_free(&content);
}
