/* A GPU that goes away in the middle of tuning, over the fake driver and the fake NVRTC in this
   program and in its worker process, which is this program too: the run ends with the driver's
   own words, what was measured before is kept, and no variant is remembered as having failed. Of
   two GPUs one goes away: what failed on it is measured again on the other. */

#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include "api/records.h"
#include "api/tuning.h"
#include "base/system.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "tests/opening.h"

/* ---- Two GPUs ------------------------------------------------------------------------------- */

/* Four implementations, told apart by the size of their blocks. */
static const char two_config[] =
    "kernel 'two' { problem 'n' (3000), reference 'none',"
    " input 'x' { dtype = 'f32', shape = { 'n' } }, output 'y' { dtype = 'f32', shape = { 'n' } },"
    " scalar 'n' { dtype = 'index' },"
    " implementation 'a' { template 'two.cu', grid { 1 }, block { 32 } },"
    " implementation 'b' { template 'two.cu', grid { 1 }, block { 64 } },"
    " implementation 'slow' { template 'two.cu', tunable 'S' { 1, 2, 3 }, grid { 'S' },"
    "   block { 128 } },"
    " implementation 'fast' { template 'two.cu', tunable 'F' { 1, 2, 3 }, grid { 'F' },"
    "   block { 256 } } }";
static const char two_template[] = "__global__ void strided(${params}) { y[0] = 2 * x[0]; }\n";
enum { BLOCK_SLOW = 128, BLOCK_FAST = 256 };
static unsigned block;

/* cuda:1 runs one variant rightly, fails in the next and is gone in the third. cuda:0 waits for
   that in its first variant, until the file that FAKE_TWO names exists. */
static void run_on_two(const struct fake_launch *launch) {
  block = launch->block[0];
  if (launch->device && block == BLOCK_SLOW) fake->broken = CUDA_ERROR_LAUNCH_FAILED;
  if (launch->device && block == BLOCK_FAST) fake->broken = CUDA_ERROR_DEVICE_UNAVAILABLE;
  while (!launch->device && access(getenv("FAKE_TWO"), F_OK)) usleep(1000);
}

static float elapsed_on_two(void) {
  return block == BLOCK_SLOW ? 100 : block == BLOCK_FAST ? 5 : (float)block / 32;
}

/* Tells cuda:0 that cuda:1 is lost. */
static int say_lost(const cugen_progress *progress, void *context) {
  FILE *file = progress->lost ? fopen(context, "w") : NULL;
  if (file) fclose(file);
  return 0;
}

static double measured(cugen_kernel *kernel, const char *variant) {
  cugen_record record;
  for (size_t i = 0; i < record_count(kernel); i++) {
    record = record_at(kernel, i);
    assert_int_equal(record.outcome, CUGEN_OUTCOME_OK);
    if (strcmp(record.variant, variant) == 0) return record.run_seconds;
  }
  fail_msg("no record of %s", variant);
  return 0;
}

/* The slow implementation's first variant is measured again on cuda:0, 100 times as slow as the
   best. From then on the others of that implementation wait until all fast ones are measured. */
TEST(the_other_goes_on) {
  char file[] = "/tmp/cugen-gone-XXXXXX";
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_kernel *kernel = NULL;
  FREED(text) self = {0};
  const int opened = mkstemp(file);
  assert_true(opened >= 0 && !close(opened) && !unlink(file));
  setenv("FAKE_TWO", file, 1);
  *fake = (struct fake_cuda){.version = 13000, .devices = 2};
  assert_int_equal(path_self(&self, NULL), CUGEN_OK);
  tuning.budget_seconds = -1;
  tuning.variant_timeout = 600;
  tuning.strategy = "random";
  tuning.threads = 1;
  tuning.seed = 3; /* this seed gives a slow variant before the last fast one */
  tuning.progress = say_lost;
  tuning.context = file;
  cugen *lib =
      OPEN_LIBRARY(.device = "cuda:0,cuda:1", .cache = "none",
                   .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"), .worker = text_get(&self));
  hold_file(lib, "two.lua", two_config);
  hold_file(lib, "two.cu", two_template);
  kernel = kernel_of(lib, "two.lua", NULL, 0);
  WORKS(api_kernel_tune(kernel, &tuning, &result, &err));
  assert_int_equal(result.tried, 8);
  assert_int_equal(result.failed, 0);
  assert_int_equal(result.devices, 1);
  const double again = measured(kernel, "slow S=1");
  for (int s = 2; s <= 3; s++)
    for (int f = 1; f <= 3; f++) {
      char slow[32], fast[32];
      snprintf(slow, sizeof slow, "slow S=%d", s), snprintf(fast, sizeof fast, "fast F=%d", f);
      assert_true(again < measured(kernel, fast));
      assert_true(measured(kernel, fast) < measured(kernel, slow));
    }
  cugen_kernel_close(kernel);
  cugen_close(lib);
  unsetenv("FAKE_TWO");
  unlink(file);
}

/* ---- The worker process --------------------------------------------------------------------- */

/* FAKE_FAIL="AT WITH": call AT to the driver and all later calls fail with WITH. */
static int serve(int argc, char **argv) {
  const char *wish = getenv("FAKE_FAIL");
  if (find_fake(NULL)) return 1;
  if (getenv("FAKE_TWO")) {
    *fake = (struct fake_cuda){
        .version = 13000, .devices = 2, .run = run_on_two, .elapsed = elapsed_on_two};
    return cugen_worker_main(argc, argv);
  }
  fake->run = fake_run_wild;
  fake->fail_on = true;
  if (wish && sscanf(wish, "%ld %d", &fake->fail_at, &fake->fail_with) != 2) return 1;
  return cugen_worker_main(argc, argv);
}

/* ---- One GPU -------------------------------------------------------------------------------- */

struct outcome {
  int status;
  size_t tried, records, failed;
  cugen_error error;
};

/* Tunes all four variants with an empty cache. */
static void tune(long at, int with, struct outcome *out) {
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result = {0};
  CLOSED(cugen) *lib;
  CLOSED(cugen_kernel) *kernel = NULL;
  *out = (struct outcome){0};
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = fake_run_wild};
  setenv("FAKE_FAIL", formed("%ld %d", at, with), 1);
  FREED(text) self = {0};
  assert_int_equal(path_self(&self, NULL), CUGEN_OK);
  tuning.budget_seconds = -1;
  tuning.strategy = "exhaustive";
  tuning.variant_timeout = 60;
  lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                     .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"), .worker = text_get(&self));
  kernel = kernel_of(lib, "tests/configs/wild.lua", NULL, 0);
  out->status = api_kernel_tune(kernel, &tuning, &result, &out->error);
  out->tried = result.tried;
  out->records = record_count(kernel);
  for (size_t i = 0; i < out->records; i++) {
    cugen_record record;
    record = record_at(kernel, i);
    out->failed += record.outcome != CUGEN_OUTCOME_OK;
  }
}

TEST(in_order) {
  struct outcome outcome;
  tune(0, 0, &outcome);
  if (outcome.status) fail_msg("%s", outcome.error.message);
  assert_int_equal(outcome.tried, 4);
  assert_int_equal(outcome.records, 4);
  assert_int_equal(outcome.failed, 0);
}

TEST(goes_away) {
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
    if (!outcome.status) break; /* there are not so many calls */
    if (outcome.status != CUGEN_ERROR_DEVICE || !strstr(outcome.error.message, losses[loss].name))
      fail_msg("call %ld: %d: %s", at, outcome.status, outcome.error.message);
    assert_int_equal(outcome.failed, 0);
    assert_int_equal(outcome.records, outcome.tried);
    if (outcome.records > most) most = outcome.records;
  }
  assert_true(most > 0);
}

ALL_TESTS_WITH(find_fake, NULL);

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "worker") == 0) return serve(argc, argv);
  return tests_run();
}
