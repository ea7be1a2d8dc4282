/* Equal bits on a GPU, over the fake driver: negative zeros are right but not equal, the race of
   the leaders includes only equal variants, and its measurements keep the outputs of the
   records. */
#include "api/records.h"
#include "api/tuning.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "tests/opening.h"

static bool drifts; /* the last variant counts its launches, so its outputs change */

/* Runs the kernel; blocks of 256 threads give a negative zero. */
static void run_kernel(const struct fake_launch *launch) {
  static int count;
  float *out;
  fake_run_wild(launch);
  if (fake_is_reference(launch)) return;
  memcpy(&out, launch->parameters[0], sizeof out);
  if (launch->block[0] == 256) out[5] = -0.0f;
  if (drifts && launch->block[0] == 128) out[7] = (float)(++count % 2) * 1e-30f;
}

static cugen_tune_result tune(const char *bitwise, size_t *records, cugen_kernel **kernel,
                              cugen **lib, cugen_error *err, int *status) {
  static const char size[] = "n=4096", *const settings[] = {size};
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result = {0};
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = run_kernel};
  tuning.flags = CUGEN_TUNE_IN_PROCESS;
  tuning.budget_seconds = -1;
  tuning.threads = 1;
  tuning.bitwise = bitwise;
  *lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                      .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"), .worker = "none");
  *kernel = kernel_of(*lib, "tests/configs/wild.lua", settings, 1);
  *status = api_kernel_tune(*kernel, &tuning, &result, err);
  *records = *status ? 0 : record_count(*kernel);
  return result;
}

static void close_all(cugen_kernel *kernel, cugen *lib) {
  cugen_kernel_close(kernel);
  cugen_close(lib);
}

TEST(a_negative_zero_is_not_equal) {
  cugen *lib;
  cugen_kernel *kernel;
  cugen_error err;
  cugen_record record;
  size_t count;
  int status;
  drifts = false;
  const cugen_tune_result result =
      tune("wild BLOCK_SIZE=256 ITEMS=4", &count, &kernel, &lib, &err, &status);
  if (status) fail_msg("%s", err.message);
  assert_int_equal(count, 4);
  for (size_t i = 0; i < count; i++) {
    record = record_at(kernel, i);
    assert_int_equal(record.outcome, CUGEN_OUTCOME_OK);
    assert_int_equal(strstr(record.variant, "BLOCK_SIZE=256") != NULL, i < 2);
    assert_true(record.outputs.known && !record.outputs.varies);
    assert_int_equal(record.outputs.digest == result.outputs.digest, i < 2);
    assert_int_equal(record.outputs.seed, 1);
  }
  close_all(kernel, lib);
}

TEST(who_differs_from_itself_is_refused) {
  cugen *lib;
  cugen_kernel *kernel;
  cugen_error err;
  size_t count;
  int status;
  drifts = true;
  tune("wild BLOCK_SIZE=128 ITEMS=1", &count, &kernel, &lib, &err, &status);
  assert_int_equal(status, CUGEN_ERROR_USAGE);
  assert_non_null(strstr(err.message, "differ from launch to launch"));
  close_all(kernel, lib);
}

ALL_TESTS_WITH(find_fake, NULL);
