/* The whole path on the cpu device, through cugen.h as an application would: planted failures
   are recorded as what they are and tuning goes on; everything is remembered; the same again
   does no work; a stop keeps what was measured. */
#include <unistd.h>

#include "api/kernel.h"
#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

static char cache_file[] = "/tmp/cugen-test-tuner-XXXXXX";

static cugen *open_library(void) {
  return OPEN_LIBRARY(.device = "cpu", .cache = cache_file);
}

static cugen_kernel *open_kernel(cugen *lib, const char *config) {
  cugen_kernel *kernel = kernel_of(lib, config, NULL, 0);
  /* the size that is tuned here */
  WORKS(api_kernel_use_check(kernel, &err));
  return kernel;
}

FIXTURE(fresh_cache) {
  strcpy(cache_file + strlen(cache_file) - 6, "XXXXXX");
  int file = mkstemp(cache_file);
  if (file < 0) return -1;
  close(file);
  return 0;
}

FIXTURE(remove_cache) {
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s%s", cache_file, endings[i]);
    unlink(path);
  }
  return 0;
}

/* An implementation, its outcome, and a word of the reason. */
static const struct {
  const char *implementation;
  cugen_outcome outcome;
  const char *word;
} planted[] = {
    {"right ", CUGEN_OUTCOME_OK, ""},
    {"right_again ", CUGEN_OUTCOME_OK, ""},
    {"wrong_last ", CUGEN_OUTCOME_WRONG, "y[99]"},
    {"nan ", CUGEN_OUTCOME_WRONG, "nan"},
    {"unwritten ", CUGEN_OUTCOME_WRONG, "y[99]"},
    {"writes_input ", CUGEN_OUTCOME_WRONG, "wrote to input x: x[0] is 0, was "},
    {"past_the_end ", CUGEN_OUTCOME_BOUNDS, "past the end"},
    {"far_outside ", CUGEN_OUTCOME_BOUNDS, "block (0"},
    {"trap ", CUGEN_OUTCOME_TRAP, "__trap()"},
    {"endless ", CUGEN_OUTCOME_TIMEOUT, "within 3 s"},
    {"odd_grid ", CUGEN_OUTCOME_LAUNCH, "no whole number"},
    {"does_not_compile ", CUGEN_OUTCOME_COMPILE, "planted.cu"},
};

static size_t check_record(const cugen_record *record) {
  for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
    if (strncmp(record->variant, planted[i].implementation, strlen(planted[i].implementation)) != 0)
      continue;
    if (record->outcome != planted[i].outcome || !strstr(record->reason, planted[i].word))
      fail_msg("%s: %s: %s", record->variant, outcome_text((int)record->outcome), record->reason);
    return 1;
  }
  fail_msg("unexpected record %s", record->variant);
  return 0;
}

TEST_WITH(planted_failures_are_recorded_and_tuning_goes_on, fresh_cache, remove_cache) {
  cugen *lib = open_library();
  cugen_kernel *kernel = open_kernel(lib, "tests/configs/planted.lua");
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  options.strategy = "exhaustive";
  options.variant_timeout = 3; /* enough for a busy machine */
  options.budget_seconds = -1;
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.valid, 13);
  assert_int_equal(result.tried, 13);
  assert_int_equal(result.failed, 10);
  assert_int_equal(result.left, 0);
  assert_true(result.compiled < 13); /* right, right_again and odd_grid share one source */
  assert_true(result.measuring > 0 && result.measuring <= result.seconds);
  size_t count = record_count(kernel), seen = 0;
  assert_int_equal(count, 13);
  for (size_t i = 0; i < count; i++) {
    cugen_record record;
    record = record_at(kernel, i);
    seen += check_record(&record);
    if (i == 0)
      assert_true(record.outcome == CUGEN_OUTCOME_OK && record.seconds > 0 && record.error <= 1.0);
  }
  assert_int_equal(seen, 13);
  cugen_kernel_close(kernel);
  cugen_close(lib);

  /* A new handle on the same cache: nothing is left to do, and nothing is done. */
  lib = open_library();
  kernel = open_kernel(lib, "tests/configs/planted.lua");
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.remembered, 13);
  assert_int_equal(result.tried, 0);
  assert_int_equal(result.compiled, 0);
  cugen_record best;
  WORKS(api_kernel_run(kernel, "best", 0, &best, &err));
  assert_int_equal(best.outcome, CUGEN_OUTCOME_OK);
  assert_int_equal(strncmp(best.variant, "right", 5), 0);
  cugen_kernel_close(kernel);
  cugen_close(lib);
}

/* Half of the variants zero their input after they have read it. Each of them is found, and the
   other variants find the input filled. */
static const char writer_config[] =
    "kernel 'writer' {\n"
    "  problem 'n' (1003), check { n = 301 },\n"
    "  input 'x' { dtype = 'f32', shape = { 'n' } }, output 'y' { dtype = 'f32', shape = { 'n' } "
    "},\n"
    "  scalar 'n' { dtype = 'index' },\n"
    "  reference 'writer_reference.cu', bytes '8 * n',\n"
    "  implementation 'plain' {\n"
    "    template 'writer.cu', tunable 'how' { 1, 0 }, tunable 'threads' { 32, 64, 128, 256 },\n"
    "    grid { 'ceil_div(n, threads)' }, block { 'threads' },\n"
    "  },\n"
    "}\n";
static const char writer_template[] = "__global__ void writer(${params}) {\n"
                                      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "  if (i >= n) return;\n"
                                      "  y[i] = x[i];\n"
                                      "  if (how == 1) const_cast<float *>(x)[i] = 0;\n"
                                      "}\n";
static const char writer_reference[] =
    "__global__ void writer_reference(${params}) {\n"
    "  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
    "  if (t < sample_count) y[t] = x[samples ? samples[t] : t];\n"
    "}\n";

/* Copies only whole packs of 64 elements, of which the check problem has none. */
static const char packs_config[] =
    "kernel 'packs' {\n"
    "  problem 'n' (128), check { n = 99 },\n"
    "  input 'x' { dtype = 'f32', shape = { 'n' } },\n"
    "  output 'y' { dtype = 'f32', shape = { 'n' } },\n"
    "  scalar 'n' { dtype = 'i32' },\n"
    "  reference 'packs_reference.cu',\n"
    "  implementation 'wide' { template 'packs.cu', requires 'n % 64 == 0',\n"
    "    grid { 1 }, block { 'ceil_div(n, 64)' } },\n"
    "}\n";
static const char packs_template[] =
    "__global__ void packs(${params}) {\n"
    "  for (int i = 0; i < 64; ++i) y[64 * threadIdx.x + i] = x[64 * threadIdx.x + i];\n"
    "}\n";
static const char packs_reference[] =
    "__global__ void packs_reference(${params}) {\n"
    "  long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (t < sample_count) y[t] = x[samples ? samples[t] : t];\n"
    "}\n";

/* A requirement of an implementation holds for the check problem, too: if it is not met there,
   the implementation is not tried. */
TEST_WITH(an_implementation_is_not_checked_on_what_it_refuses, fresh_cache, remove_cache) {
  CLOSED(cugen) *lib = open_library();
  cugen_record record;
  const char *settings[] = {"n=128"};
  hold_file(lib, "packs.lua", packs_config);
  hold_file(lib, "packs.cu", packs_template);
  hold_file(lib, "packs_reference.cu", packs_reference);
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "packs.lua", settings, 1);
  WORKS(api_kernel_run(kernel, "wide", 0, &record, &err));
  if (record.outcome != CUGEN_OUTCOME_OK) fail_msg("%s", record.reason);
}

TEST_WITH(inputs_are_kept_from_one_variant_to_the_next, fresh_cache, remove_cache) {
  CLOSED(cugen) *lib = open_library();
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  options.strategy = "exhaustive";
  options.budget_seconds = -1;
  WORKS(cugen_add_file(lib, "writer.lua", writer_config, sizeof writer_config - 1, &err));
  hold_file(lib, "writer.cu", writer_template);
  hold_file(lib, "writer_reference.cu", writer_reference);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "writer.lua");
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, 8);
  for (size_t i = 0; i < 8; i++) {
    cugen_record record;
    record = record_at(kernel, i);
    bool writes = strstr(record.variant, "how=1") != NULL;
    if (record.outcome != (writes ? CUGEN_OUTCOME_WRONG : CUGEN_OUTCOME_OK) ||
        (writes && !strstr(record.reason, "wrote to input x: x[0] is 0, was ")))
      fail_msg("%s: %s: %s", record.variant, outcome_text((int)record.outcome), record.reason);
  }
}

static int stop_after_three(const cugen_progress *progress, void *context) {
  *(int *)context += 1;
  return progress->done >= 3;
}

TEST_WITH(a_stop_keeps_what_was_measured_and_resumes, fresh_cache, remove_cache) {
  CLOSED(cugen) *lib = open_library();
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "tests/configs/wild.lua");
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  int calls = 0;
  options.progress = stop_after_three;
  options.context = &calls;
  FAILS(api_kernel_tune(kernel, &options, &result, &err), CUGEN_ERROR_INTERRUPTED);
  assert_true(result.interrupted);
  /* On a busy machine the last one may end before the callback is asked again. */
  const size_t tried = result.tried;
  assert_in_range(tried, 3, 4);
  assert_int_equal(result.left, 4 - tried);
  assert_true(calls >= 3);
  assert_int_equal(record_count(kernel), tried);
  options.progress = NULL;
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.remembered, tried);
  assert_int_equal(result.tried, 4 - tried);
  assert_int_equal(record_count(kernel), 4);
}

TEST_WITH(a_count_is_a_budget, fresh_cache, remove_cache) {
  CLOSED(cugen) *lib = open_library();
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "tests/configs/wild.lua");
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  options.budget_count = 2;
  assert_int_equal(api_kernel_tune(kernel, &options, &result, NULL), CUGEN_OK);
  assert_int_equal(result.tried, 2);
  assert_int_equal(result.left, 2);
}

/* Several launches, scratch, constant memory, dynamic shared memory, integers and host memory
   kinds. */
TEST_WITH(the_whole_grammar_runs, fresh_cache, remove_cache) {
  static const char *const settings[][2] = {{"dtype=f32", "memory=managed"},
                                            {"dtype=i32", "memory=pinned"},
                                            {"dtype=f64", "memory=mapped"}};
  CLOSED(cugen) *lib = open_library();
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    cugen_record record;
    CLOSED(cugen_kernel) *kernel = kernel_of(lib, "tests/configs/features.lua", settings[i], 2);
    static const char *const variants[] = {"tree", "shuffle", "tree blocks=1 threads=256"};
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
      WORKS(api_kernel_run(kernel, variants[v], 0, &record, &err));
      if (record.outcome)
        fail_msg("%s: %s: %s", record.variant, outcome_text((int)record.outcome), record.reason);
    }
  }
}
