/* A function of the user's own beside the variants of a GPU whose times are scripted, over the fake
   driver: it gets cugen's stream in the device's context, and its times are compared with those of
   the best variant. */
#include <stdlib.h>
#include <string.h>

#include "api/records.h"
#include "api/tuning.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "tests/opening.h"

/* How the function was called, and what it does. */
static struct {
  int calls, code;
  float first; /* the first element that it writes, which should be 0 */
  void *stream;
  bool current, described, last; /* last: nothing was launched after it */
} own;
static long launches;

static int run_function(void *const *arguments, const void *about, void *stream) {
  const cugen_argument_info *const *infos = about;
  const int n = *(const int *)arguments[4];
  own.calls++;
  own.stream = stream;
  own.current = fake->current > 0;
  own.described = strcmp(infos[0]->name, "out") == 0 && infos[0]->shape[0] == n &&
                  strcmp(infos[3]->name, "alpha") == 0 && strcmp(infos[4]->dtype, "i32") == 0 &&
                  *(const float *)arguments[3] == 2.5F && arguments[1] != arguments[2];
  memset(arguments[0], 0, (size_t)n * sizeof(float));
  *(float *)arguments[0] = own.first;
  own.last = true;
  return own.code;
}

static void run_kernel(const struct fake_launch *launch) {
  fake_run_wild(launch);
  own.last = false;
  launches += !fake_is_reference(launch);
}

static float elapsed(void) {
  return own.last ? 3.0F : 2.0F;
}

/* Tunes with the fake driver's function as the baseline. */
static int tune(const char *measure, const char *function, cugen_baseline_result *out,
                cugen_error *err) {
  const char *size = "n=1003";
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  FREED(text) path = {0};
  *fake = (struct fake_cuda){.version = 13000,
                             .devices = 1,
                             .run = run_kernel,
                             .elapsed = elapsed,
                             .baseline = run_function};
  launches = 0;
  CLOSED(cugen) *lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none", .measure = measure,
                                    .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"));
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "tests/configs/wild.lua", &size, 1);
  text_addf(&path, "%s/libcuda.so.1:%s", getenv("CUGEN_TEST_FAKE_CUDA"), function);
  options.baseline = text_get(&path);
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.budget_seconds = -1;
  const int status = api_kernel_tune(kernel, &options, &result, err);
  *out = result.baseline;
  out->function = NULL; /* it was `path` */
  if (status || !(out->ratio > 0)) return status;
  cugen_baseline_result kept;
  assert_int_equal(api_kernel_baseline(kernel, &kept, err), CUGEN_OK);
  assert_non_null(strstr(kept.function, "libcuda.so.1:fake_baseline"));
  assert_true(kept.seconds == out->seconds && kept.best_seconds == out->best_seconds);
  assert_true(kept.ratio == out->ratio);
  /* the comparison leaves no variant or record that a look-up of variants finds */
  assert_int_equal(record_count(kernel), 4);
  return status;
}

TEST_WITH(test_compared, find_fake, NULL) {
  cugen_baseline_result result;
  cugen_error err;
  memset(&own, 0, sizeof own);
  if (tune(NULL, "fake_baseline", &result, &err)) fail_msg("%s", err.message);
  assert_true(own.calls > 10 && own.stream && own.current && own.described);
  assert_int_equal(result.outcome, CUGEN_OUTCOME_OK);
  assert_true(result.ratio > 1.499 && result.ratio < 1.501);
  assert_true(result.seconds > result.best_seconds && result.best_seconds > 0);
}

/* A capture calls the function, and replays do not. The fake driver's replays all take the same time,
   however many launches they have, so that there is no ratio to expect. */
TEST_WITH(test_in_a_graph, find_fake, NULL) {
  cugen_baseline_result result;
  cugen_error err;
  memset(&own, 0, sizeof own);
  if (tune("graph", "fake_baseline", &result, &err)) fail_msg("%s", err.message);
  assert_true(result.ratio > 0 && fake->replayed > 10 && own.calls < fake->replayed);
}

TEST_WITH(test_wrong, find_fake, NULL) {
  cugen_baseline_result result;
  cugen_error err;
  memset(&own, 0, sizeof own);
  own.first = 1;
  if (tune(NULL, "fake_baseline", &result, &err)) fail_msg("%s", err.message);
  assert_int_equal(result.outcome, CUGEN_OUTCOME_WRONG);
  assert_true(result.reason && result.ratio == 0 && launches > 0);
}

/* Told before anything is searched. */
TEST_WITH(test_fails, find_fake, NULL) {
  cugen_baseline_result result;
  cugen_error err;
  memset(&own, 0, sizeof own);
  own.code = 13;
  assert_int_equal(tune(NULL, "fake_baseline", &result, &err), CUGEN_ERROR_USAGE);
  assert_non_null(strstr(err.message, "it returned 13"));
  assert_int_equal(launches, 0);
  assert_int_equal(tune(NULL, "no_such", &result, &err), CUGEN_ERROR_USAGE);
  assert_non_null(strstr(err.message, "has no function 'no_such'"));
  assert_int_equal(launches, 0);
}
