/* Tuning in a thread of this process, on the cpu device: the records are those of a worker
   process, failures have their reasons, nothing is left behind, and a variant that cannot be
   ended is reported. */

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "api/kernel.h"
#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

static cugen *lib;

FIXTURE(open_library) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = "cpu";
  options.cache = "none";
  options.worker = "/there/is/no/such/program"; /* so that no process can be started */
  lib = library_of(&options);
  return 0;
}

FIXTURE(close_library) {
  cugen_close(lib);
  return 0;
}

static cugen_kernel *open_kernel(const char *config, const char *setting) {
  cugen_kernel *kernel = kernel_of(lib, config, &setting, setting != NULL);
  /* the size that is tuned here */
  WORKS(api_kernel_use_check(kernel, &err));
  return kernel;
}

static int count_entries(const char *path) {
  int count = 0;
  DIR *folder = opendir(path);
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count;
}

/* pthread_join returns when the kernel has cleared the thread's number, shortly before it
   removes the thread from /proc. So a thread that is still listed may vanish a moment later; a
   thread that was left running stays. */
static void expect_threads(int wanted) {
  int count = count_entries("/proc/self/task");
  for (int i = 0; i < 2000 && count > wanted; i++) {
    usleep(1000);
    count = count_entries("/proc/self/task");
  }
  if (count != wanted) fail_msg("%d threads, there were %d", count - 2, wanted - 2);
}

static cugen_tune_options in_process(void) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.strategy = "exhaustive";
  return options;
}

/* ---- It tunes ------------------------------------------------------------------------------- */

struct seen {
  int calls;
  size_t done, stop_after;
  bool named;
};

static int watch(const cugen_progress *progress, void *context) {
  struct seen *seen = context;
  seen->calls++;
  seen->done = progress->done;
  seen->named |= progress->last && strstr(progress->last, "naive ");
  return seen->stop_after && progress->done >= seen->stop_after;
}

TEST_WITH(test_matmul, open_library, close_library) {
  cugen_tune_options options = in_process();
  cugen_tune_result result;
  cugen_record record;
  struct seen seen = {0};
  CLOSED(cugen_kernel) *kernel = open_kernel("matmul", NULL);
  int descriptors = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
  options.budget_count = 4;
  options.progress = watch;
  options.context = &seen;
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, 4);
  assert_int_equal(result.failed, 0);
  assert_true(seen.named && seen.calls >= 4);
  assert_int_equal(record_count(kernel), 4);
  record = record_at(kernel, 0);
  assert_true(record.outcome == CUGEN_OUTCOME_OK && record.seconds > 0 && record.samples > 0);
  assert_int_equal(count_entries("/proc/self/fd"), descriptors);
  expect_threads(threads);
  CLOSED(cugen_plan) *plan = plan_of(kernel, NULL);
  assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_EXACT);
  assert_string_equal(cugen_plan_about(plan)->variant, record.variant);
}

TEST_WITH(test_stop, open_library, close_library) {
  cugen_tune_options options = in_process();
  cugen_tune_result result;
  struct seen seen = {.stop_after = 2};
  CLOSED(cugen_kernel) *kernel = open_kernel("tests/configs/wild.lua", NULL);
  int threads = count_entries("/proc/self/task");
  options.progress = watch;
  options.context = &seen;
  assert_int_equal(api_kernel_tune(kernel, &options, &result, NULL), CUGEN_ERROR_INTERRUPTED);
  const size_t tried = result.tried;
  assert_in_range(tried, 2, 3); /* the next variant is running already, and may end in time */
  assert_int_equal(record_count(kernel), tried);
  expect_threads(threads);
  options.progress = NULL;
  assert_int_equal(api_kernel_tune(kernel, &options, &result, NULL), CUGEN_OK);
  assert_int_equal(result.tried, 4 - tried);
  assert_int_equal(result.remembered, tried);
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void expect(cugen_kernel *kernel, const char *implementation, cugen_outcome outcome,
                   const char *reason) {
  cugen_tune_options options = in_process();
  cugen_record record = {0};
  cugen_error err = {0};
  options.implementation = implementation;
  options.variant_timeout = outcome == CUGEN_OUTCOME_TIMEOUT ? 1 : 60;
  int status = api_kernel_tune(kernel, &options, NULL, &err);
  if (status != (outcome ? CUGEN_ERROR_WRONG : CUGEN_OK))
    fail_msg("%s: %s", implementation, err.message);
  size_t count = record_count(kernel);
  for (size_t i = 0; i < count; i++) {
    record = record_at(kernel, i);
    if (strncmp(record.variant, implementation, strlen(implementation)) == 0) break;
  }
  if (record.outcome != outcome || !strstr(record.reason, reason))
    fail_msg("'%s' of %s: %s: %s; expected %s: %s", record.variant, implementation,
             outcome_text((int)record.outcome), record.reason, outcome_text((int)outcome), reason);
}

TEST_WITH(test_planted, open_library, close_library) {
  int descriptors = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
  cugen_kernel *kernel = open_kernel("tests/configs/planted.lua", NULL);
  expect(kernel, "right", CUGEN_OUTCOME_OK, "");
  expect(kernel, "wrong_last", CUGEN_OUTCOME_WRONG, "");
  expect(kernel, "nan", CUGEN_OUTCOME_WRONG, "");
  expect(kernel, "unwritten", CUGEN_OUTCOME_WRONG, "");
  expect(kernel, "past_the_end", CUGEN_OUTCOME_BOUNDS,
         "write at byte 0 past the end of a buffer of 400 bytes");
  expect(kernel, "trap", CUGEN_OUTCOME_TRAP, "in block (0,0,0) thread (0,0,0)");
  expect(kernel, "odd_grid", CUGEN_OUTCOME_LAUNCH, "");
  expect(kernel, "does_not_compile", CUGEN_OUTCOME_COMPILE, "");
  expect(kernel, "right_again", CUGEN_OUTCOME_OK, "");
  cugen_kernel_close(kernel);
  assert_int_equal(count_entries("/proc/self/fd"), descriptors);
  expect_threads(threads);
}

/* Threads that wait are ended, and tuning continues. */
TEST_WITH(test_waiting, open_library, close_library) {
  cugen_kernel *deadlock = open_kernel("tests/configs/hazards.lua", "hazard=2");
  expect(deadlock, "one", CUGEN_OUTCOME_TRAP, "deadlock: in block (0,0,0) thread (16,0,0)");
  cugen_kernel_close(deadlock);
  int threads = count_entries("/proc/self/task");
  cugen_kernel *endless = open_kernel("tests/configs/hazards.lua", "hazard=3");
  expect(endless, "one", CUGEN_OUTCOME_TIMEOUT, "did not end within 1 s");
  cugen_kernel_close(endless);
  expect_threads(threads);
}

TEST_WITH(test_options, open_library, close_library) {
  static int anything;
  cugen_tune_options options = in_process();
  CLOSED(cugen_kernel) *kernel = open_kernel("tests/configs/wild.lua", NULL);
  options.cuda_context = &anything;
  FAILS_WITH(api_kernel_tune(kernel, &options, NULL, &err), CUGEN_ERROR_USAGE,
             "a context was given, and this kernel is for the cpu device, which has none");
  options.flags = 0;
  FAILS(api_kernel_tune(kernel, &options, NULL, &err), CUGEN_ERROR_USAGE);
  options.flags = 2, options.cuda_context = NULL;
  FAILS_WITH(api_kernel_tune(kernel, &options, NULL, &err), CUGEN_ERROR_USAGE,
             "cugen_tune_options.flags: 0x2 is no flag");
}

static void *nothing(void *context) {
  return context;
}

int main(void) {
  /* with its first thread ThreadSanitizer starts one of its own, so this thread comes before any
     are counted */
  pthread_t first;
  if (pthread_create(&first, NULL, nothing, NULL) || pthread_join(first, NULL)) return 1;
  return tests_run();
}
