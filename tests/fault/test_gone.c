/* A GPU that goes away in the middle of tuning, over the fake driver and the fake NVRTC in this
   program and in its worker process, which is this program too: the run ends with the driver's
   own words, what was measured before is kept, and no variant is remembered as having failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/records.h"
#include "api/tuning.h"
#include "base/system.h"
#include "fake_wild.h"
#include "find_fake.h"

static struct fake_cuda *fake;

static int find_fake(void **state) {
  (void)state;
  fake = fake_find();
  return fake ? 0 : -1;
}

/* FAKE_FAIL: "AT WITH": that call to the driver and all after it fail so. */
static int serve(int argc, char **argv) {
  const char *wish = getenv("FAKE_FAIL");
  if (find_fake(NULL)) return 1;
  fake->run = fake_run_wild;
  fake->fail_on = true;
  if (wish && sscanf(wish, "%ld %d", &fake->fail_at, &fake->fail_with) != 2) return 1;
  return cugen_worker_main(argc, argv);
}

struct outcome {
  int status;
  size_t tried, records, failed;
  cugen_error error;
};

/* Tunes all four variants with an empty memory. */
static void tune(long at, int with, struct outcome *out) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result = {0};
  cugen *lib;
  cugen_kernel *kernel = NULL;
  struct text wish = {0};
  *out = (struct outcome){0};
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = fake_run_wild};
  text_addf(&wish, "%ld %d", at, with);
  setenv("FAKE_FAIL", text_get(&wish), 1);
  text_free(&wish);
  options.device = "cuda:0";
  options.cache = "none";
  options.toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT");
  struct text self = {0};
  assert_int_equal(path_self(&self, NULL), CUGEN_OK);
  options.worker = text_get(&self);
  tuning.budget_seconds = -1;
  tuning.strategy = "exhaustive";
  tuning.variant_timeout = 60;
  if (cugen_open(&options, &lib, &out->error) ||
      cugen_kernel_open(lib, "tests/configs/wild.lua", NULL, 0, &kernel, &out->error))
    fail_msg("%s", out->error.message);
  out->status = api_kernel_tune(kernel, &tuning, &result, &out->error);
  out->tried = result.tried;
  out->records = api_kernel_records(kernel);
  for (size_t i = 0; i < out->records; i++) {
    cugen_record record;
    assert_int_equal(api_kernel_record(kernel, i, &record, NULL), CUGEN_OK);
    out->failed += record.outcome != CUGEN_OUTCOME_OK;
  }
  cugen_kernel_close(kernel);
  cugen_close(lib);
  text_free(&self);
}

static void in_order(void **state) {
  (void)state;
  struct outcome outcome;
  tune(0, 0, &outcome);
  if (outcome.status) fail_msg("%s", outcome.error.message);
  assert_int_equal(outcome.tried, 4);
  assert_int_equal(outcome.records, 4);
  assert_int_equal(outcome.failed, 0);
}

static void goes_away(void **state) {
  (void)state;
  static const struct {
    int code;
    const char *name;
  } losses[] = {{CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED"}};
  size_t most = 0;
  for (long at = 1;; at += 1 + at / 8) {
    struct outcome outcome;
    size_t loss = (size_t)at % 3;
    double begin = clock_seconds();
    tune(at, losses[loss].code, &outcome);
    assert_true(clock_seconds() - begin < 300);
    if (!outcome.status) break; /* there are fewer calls */
    if (outcome.status != CUGEN_ERROR_DEVICE || !strstr(outcome.error.message, losses[loss].name))
      fail_msg("call %ld: %d: %s", at, outcome.status, outcome.error.message);
    assert_int_equal(outcome.failed, 0);
    assert_int_equal(outcome.records, outcome.tried);
    if (outcome.records > most) most = outcome.records;
  }
  assert_true(most > 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "worker") == 0) return serve(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(goes_away)};
  return cmocka_run_group_tests_name("a GPU that goes away", tests, find_fake, NULL);
}
