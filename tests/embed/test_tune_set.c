/* Several problems tuned together, on the cpu device. */

#include <sys/stat.h>

#include "api/check.h"
#include "api/kernel.h"
#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

enum { PROBLEMS = 3 };

static cugen *lib;
static cugen_kernel *kernels[PROBLEMS];
static cugen_error error;

static cugen *open_library(const char *cache) {
  return OPEN_LIBRARY(.device = "cpu", .cache = cache);
}

FIXTURE(open_all) {
  static const char *const sizes[PROBLEMS] = {"n=64", "n=100", "n=1000"};
  lib = open_library("none");
  for (size_t i = 0; i < PROBLEMS; i++)
    kernels[i] = kernel_of(lib, "tests/configs/planted.lua", &sizes[i], 1);
  return 0;
}

FIXTURE(close_all) {
  for (size_t i = 0; i < PROBLEMS; i++) cugen_kernel_close(kernels[i]);
  cugen_close(lib);
  return 0;
}

/* What the progress callbacks reported. */
struct seen {
  /* stop_at: the value of `done` at which to stop; 0: never */
  size_t stop_at, problems, last, backwards;
  char problem[64];
};

static int watch(const cugen_progress *progress, void *context) {
  struct seen *seen = context;
  seen->backwards += progress->done < seen->last;
  seen->last = progress->done;
  seen->problems = progress->problems;
  strncpy(seen->problem, progress->problem, sizeof seen->problem - 1);
  return seen->stop_at && progress->done >= seen->stop_at;
}

static cugen_tune_options right_ones(struct seen *seen) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.implementation = "right,right_again";
  options.budget_seconds = -1;
  options.progress = watch;
  options.context = seen;
  return options;
}

TEST_WITH(each_is_tuned, open_all, close_all) {
  struct seen seen = {0};
  cugen_tune_options options = right_ones(&seen);
  cugen_tune_result results[PROBLEMS];
  WORKS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err));
  for (size_t i = 0; i < PROBLEMS; i++) {
    assert_int_equal(results[i].tried, 3);
    assert_int_equal(results[i].left, 0);
    assert_int_equal(record_count(kernels[i]), 3);
  }
  /* The first problem compiled the kernels of the others; only their references are new. */
  assert_true(results[1].compiled < 3 && results[2].compiled < 3);
  assert_int_equal(seen.problems, PROBLEMS);
  assert_int_equal(seen.backwards, 0);
  assert_string_equal(seen.problem, "n=1000");
  WORKS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err));
  for (size_t i = 0; i < PROBLEMS; i++) assert_int_equal(results[i].tried, 0);
}

TEST_WITH(weights_share_the_budget, open_all, close_all) {
  struct seen seen = {0};
  double weights[PROBLEMS] = {0, 1, 5};
  cugen_tune_options options = right_ones(&seen);
  cugen_tune_result results[PROBLEMS];
  options.budget_count = 7; /* 3 in the first half, so each problem gets at least one */
  options.weights = weights;
  WORKS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err));
  assert_int_equal(results[0].tried + results[1].tried + results[2].tried, 7);
  assert_true(results[2].tried > results[1].tried);
  weights[1] = -1;
  FAILS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err), CUGEN_ERROR_USAGE,
        "weights[1] is -1");
}

TEST_WITH(a_stop_keeps_what_was_measured, open_all, close_all) {
  struct seen seen = {.stop_at = 2};
  cugen_tune_options options = right_ones(&seen);
  cugen_tune_result results[PROBLEMS];
  FAILS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err), CUGEN_ERROR_INTERRUPTED);
  const size_t kept = record_count(kernels[0]) + record_count(kernels[1]);
  assert_true(results[0].interrupted || results[1].interrupted);
  assert_true(kept >= 2 && kept == results[0].tried + results[1].tried);
  seen.stop_at = seen.last = 0;
  WORKS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err));
  size_t tried = 0;
  for (size_t i = 0; i < PROBLEMS; i++) tried += results[i].tried;
  assert_int_equal(tried + kept, 3 * PROBLEMS);
}

TEST_WITH(a_count_is_shared, open_all, close_all) {
  struct seen seen = {0};
  cugen_tune_options options = right_ones(&seen);
  cugen_tune_result results[PROBLEMS];
  options.budget_count = 7;
  WORKS(api_kernels_tune(kernels, PROBLEMS, &options, results, &err));
  size_t tried = 0;
  for (size_t i = 0; i < PROBLEMS; i++) {
    tried += results[i].tried;
    assert_true(results[i].tried >= 2);
  }
  assert_int_equal(tried, 7);
}

/* Another tuner, which takes the last problem as soon as this tuner has begun. */
struct other {
  const char *cache;
  bool done;
};

static int tune_elsewhere(const cugen_progress *progress, void *context) {
  static const char *const last = "n=1000";
  struct other *other = context;
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  if (other->done) return 0;
  cugen *there = open_library(other->cache);
  options.implementation = "right";
  cugen_kernel *kernel = kernel_of(there, "tests/configs/planted.lua", &last, 1);
  WORKS(api_kernel_tune(kernel, &options, NULL, &err));
  cugen_kernel_close(kernel);
  cugen_close(there);
  other->done = true;
  return 0;
}

/* A problem that the budget does not reach is no failure if another process tuned it on the same
   cache. */
TEST(what_others_tuned_counts) {
  static const char *const sizes[] = {"n=64", "n=1000"};
  static const double weights[] = {1, 0};
  char folder[] = "/tmp/cugen-set-XXXXXX", cache[64], command[64];
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_kernel *both[2];
  assert_non_null(mkdtemp(folder));
  snprintf(cache, sizeof cache, "%s/set.db", folder);
  snprintf(command, sizeof command, "rm -r %s", folder);
  struct other other = {.cache = cache};
  cugen *here = open_library(cache);
  for (size_t i = 0; i < 2; i++)
    both[i] = kernel_of(here, "tests/configs/planted.lua", &sizes[i], 1);
  options.implementation = "right,right_again";
  options.budget_count = 2; /* the first problem uses both, however long they take */
  options.weights = weights;
  options.progress = tune_elsewhere;
  options.context = &other;
  cugen_tune_result results[2];
  const int status = api_kernels_tune(both, 2, &options, results, &error);
  if (status) fail_msg("%s", error.message);
  assert_true(other.done && results[0].tried > 0 && results[1].tried == 0);
  for (size_t i = 0; i < 2; i++) cugen_kernel_close(both[i]);
  cugen_close(here);
  assert_int_equal(system(command), 0);
}

/* The compiler takes half a minute. With a budget of time and of variants the run ends with the
   first that is spent. */
TEST(a_time_counts_beside_a_count) {
  static const char *const size = "n=64";
  char folder[] = "/tmp/cugen-slow-XXXXXX", compiler[64], command[64];
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  assert_non_null(mkdtemp(folder));
  snprintf(compiler, sizeof compiler, "%s/c++", folder);
  snprintf(command, sizeof command, "rm -r %s", folder);
  FILE *file = fopen(compiler, "w");
  assert_non_null(file);
  fputs("#!/bin/sh\n[ $# -gt 2 ] && sleep 30\nexec c++ \"$@\"\n", file);
  fclose(file);
  assert_int_equal(chmod(compiler, 0755), 0);
  tuning.implementation = "right";
  tuning.budget_seconds = 1, tuning.budget_count = 1000;
  cugen *slow = OPEN_LIBRARY(.device = "cpu", .cache = "none", .compiler = compiler);
  cugen_kernel *kernel = kernel_of(slow, "tests/configs/planted.lua", &size, 1);
  FAILS(api_kernel_tune(kernel, &tuning, NULL, &err), CUGEN_ERROR_WRONG,
        "nothing was measured in the budget of 1 s");
  cugen_kernel_close(kernel);
  cugen_close(slow);
  assert_int_equal(system(command), 0);
}

TEST_WITH(what_is_wrong_is_said_first, open_all, close_all) {
  static const char *const none = "n=0";
  static cugen_kernel *many[CUGEN_MOST_PROBLEMS + 1];
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_kernel *other, *with[PROBLEMS] = {kernels[0], NULL, kernels[2]};
  FAILS(api_kernels_tune(kernels, 0, NULL, NULL, &err), CUGEN_ERROR_USAGE);
  FAILS(api_kernels_tune(many, CUGEN_MOST_PROBLEMS + 1, NULL, NULL, &err), CUGEN_ERROR_USAGE,
        "1 to 1000 can be tuned together");
  FAILS_WITH(api_kernels_tune(with, PROBLEMS, NULL, NULL, &err), CUGEN_ERROR_USAGE,
             "cugen_kernels_tune: kernels[1] is NULL");
  options.budget_count = 2;
  FAILS(api_kernels_tune(kernels, PROBLEMS, &options, NULL, &err), CUGEN_ERROR_USAGE);
  other = kernel_of(lib, "tests/configs/planted.lua", &none, 1);
  with[1] = other;
  FAILS(api_kernels_tune(with, PROBLEMS, NULL, NULL, &err), CUGEN_ERROR_EMPTY, "planted n=0: ");
  cugen_kernel_close(other);
  cugen *foreign = open_library("none");
  other = kernel_of(foreign, "tests/configs/planted.lua", NULL, 0);
  with[1] = other;
  FAILS_WITH(api_kernels_tune(with, PROBLEMS, NULL, NULL, &err), CUGEN_ERROR_USAGE,
             "cugen_kernels_tune: kernels[1] is of another library");
  cugen_kernel_close(other);
  cugen_close(foreign);
  for (size_t i = 0; i < PROBLEMS; i++) assert_int_equal(record_count(kernels[i]), 0);
}

/* A problem without a right variant does not keep the others from being tuned. */
TEST_WITH(one_that_fails_is_named, open_all, close_all) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result results[PROBLEMS];
  options.implementation = "odd_grid"; /* n / 3 blocks, which is wrong for all of these sizes */
  options.budget_seconds = -1;
  int status = api_kernels_tune(kernels, PROBLEMS, &options, results, &error);
  assert_true(status < 0);
  assert_non_null(strstr(error.message, "n="));
}

/* ---- The check problem, which the cpu device tunes ------------------------------------------ */

static cugen_kernel *open_transpose(void) {
  static const char *const settings[] = {"rows=100", "cols=57"};
  return kernel_of(lib, "transpose", settings, 2);
}

/* The kernel's own problem is one f32 matrix of 100 x 57; the check problem has two. */
static void expect_own_problem(cugen_kernel *kernel) {
  cugen_argument_info a;
  assert_non_null(strstr(cugen_kernel_problem(kernel), "rows=100 cols=57 batch=1"));
  WORKS(cugen_kernel_argument(kernel, 0, &a, &err));
  assert_int_equal(a.bytes, 22800);
  assert_int_equal(a.is_size, 0);
  WORKS(cugen_kernel_argument(kernel, 2, &a, &err));
  assert_true(a.is_size && a.size == 100);
}

/* The buffers of a plan are those that the kernel described before tuning. */
static void expect_own_plan(cugen_kernel *kernel) {
  cugen_argument_info a;
  CLOSED(cugen_plan) *plan = plan_of(kernel, NULL);
  assert_non_null(strstr(cugen_plan_about(plan)->problem, "batch=1"));
  WORKS(cugen_plan_argument(plan, 0, &a, &err));
  assert_int_equal(a.bytes, 22800);
}

TEST_WITH(the_problem_stays_the_callers, open_all, close_all) {
  CLOSED(cugen_kernel) *kernel = open_transpose();
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_check_options checks = {0};
  cugen_check found;
  cugen_record record;
  options.budget_count = 1;
  checks.variant = "coalesced_read columns_along=x block_x=32 block_y=8";
  WORKS(api_kernel_tune(kernel, &options, NULL, &err));
  expect_own_problem(kernel);
  expect_own_plan(kernel);
  WORKS(api_kernels_tune(&kernel, 1, &options, NULL, &err));
  expect_own_problem(kernel);
  WORKS(api_kernel_run(kernel, checks.variant, 60, &record, &err));
  assert_true(record.outcome == CUGEN_OUTCOME_OK && strcmp(record.variant, checks.variant) == 0);
  expect_own_problem(kernel);
  WORKS(api_kernel_check(kernel, &checks, &found, &err));
  expect_own_problem(kernel);
}

/* After an error, too, the kernel's problem is the caller's again; it is the check problem only
   if the caller had set it. */
TEST_WITH(what_was_asked_for_stays, open_all, close_all) {
  CLOSED(cugen_kernel) *kernel = open_transpose();
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.implementation = "no_such_one";
  assert_int_not_equal(api_kernel_tune(kernel, &options, NULL, &error), CUGEN_OK);
  expect_own_problem(kernel);
  WORKS(api_kernel_use_check(kernel, &err));
  options.implementation = NULL;
  options.budget_count = 1;
  WORKS(api_kernel_tune(kernel, &options, NULL, &err));
  assert_non_null(strstr(cugen_kernel_problem(kernel), "batch=2"));
  assert_true(record_count(kernel) >= 1);
}
