/* CUGEN_CAPTURE: the lines that plans append to the file, from threads and processes, and a file
   that cannot be written. */

#include <jansson.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/tuning.h"
#include "tests/opening.h"

enum { THREADS = 4, PROCESSES = 3, EACH = 5 };

static const char config[] =
    "kernel 'twice' { problem 'n' (100), output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = "
    "'1e-6' },"
    "  scalar 'n' { dtype = 'index' }, reference 'none', policy 'nearest' { distance = 1 },"
    "  implementation 'one' { template 'twice.cu', tunable 'threads' { 32, 64 },"
    "    grid { 'ceil_div(n, threads)' }, block { 'threads' } } }";
static const char template[] = "extern \"C\" __global__ void twice(float *y, index_t n) {\n"
                               "  index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;\n  "
                               "if (i < n) y[i] = 2.0f * i;\n}\n";

static char folder[] = "/tmp/cugen-capture-XXXXXX", file[64], cache[64];

static cugen *open_library(const char *path) {
  cugen *lib;
  cugen_error error;
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = "cpu";
  options.cache = cache;
  options.capture = path;
  if (cugen_open(&options, &lib, &error) ||
      cugen_add_file(lib, "twice.lua", config, sizeof config - 1, &error) ||
      cugen_add_file(lib, "twice.cu", template, sizeof template - 1, &error))
    return NULL;
  return lib;
}

static cugen_kernel *open_kernel(cugen *lib, const char *size) {
  cugen_kernel *kernel;
  cugen_error error;
  return cugen_kernel_open(lib, "twice", &size, 1, &kernel, &error) ? NULL : kernel;
}

static cugen_plan *open_plan(cugen *lib, const char *size) {
  cugen_plan *plan = NULL;
  cugen_error error;
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, size);
  if (kernel && cugen_plan_open(kernel, NULL, &plan, &error))
    fprintf(stderr, "%s\n", error.message);
  return plan;
}

/* Sums over the lines of the file that have these values. */
struct sums {
  json_int_t opens, launches;
  double seconds; /* seconds of the last such line */
  size_t lines;
};

static struct sums sum(const char *problem, const char *plan) {
  struct sums sums = {0};
  char line[1024];
  FILE *in = fopen(file, "r");
  while (in && fgets(line, sizeof line, in)) {
    json_t *object = json_loads(line, 0, NULL);
    const char *kernel, *its_problem, *its_plan, *device, *variant;
    json_int_t opens, launches;
    int version;
    double seconds;
    if (json_unpack(object, "{s:i, s:s, s:s, s:s, s:s, s:s, s:f, s:I, s:I}", "cugen_capture",
                    &version, "kernel", &kernel, "problem", &its_problem, "device", &device, "plan",
                    &its_plan, "variant", &variant, "seconds", &seconds, "opens", &opens,
                    "launches", &launches))
      fail_msg("not such a line: %s", line);
    assert_int_equal(version, 1);
    assert_string_equal(kernel, "twice");
    assert_true(*device && (*variant || strcmp(its_plan, "none") == 0));
    if (strcmp(its_problem, problem) == 0 && strcmp(its_plan, plan) == 0) {
      sums.opens += opens, sums.launches += launches, sums.lines++;
      if (opens) sums.seconds = seconds;
    }
    json_decref(object);
  }
  if (in) fclose(in);
  return sums;
}

FIXTURE(set_up) {
  if (!mkdtemp(folder)) return 1;
  snprintf(file, sizeof file, "%s/capture", folder);
  snprintf(cache, sizeof cache, "%s/cache.db", folder);
  return 0;
}

FIXTURE(remove_all) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/* ---- What a line says ----------------------------------------------------------------------- */

TEST(tells_what_was_taken) {
  cugen_plan_options tuned = CUGEN_PLAN_OPTIONS_INIT;
  cugen_tune_options all = CUGEN_TUNE_OPTIONS_INIT;
  setenv("CUGEN_CAPTURE", file, 1);
  CLOSED(cugen) *lib = open_library(NULL);
  unsetenv("CUGEN_CAPTURE");
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "n=100");
  cugen_plan *plan;
  assert_true(access(file, F_OK) != 0); /* without a plan there is no file */
  tuned.flags = CUGEN_PLAN_TUNED_ONLY;
  FAILS(cugen_plan_open(kernel, &tuned, &plan, &err), CUGEN_ERROR_USAGE);
  cugen_plan_close(open_plan(lib, "n=100"));
  all.budget_seconds = -1;
  WORKS(api_kernel_tune(kernel, &all, NULL, &err));
  cugen_plan_close(open_plan(lib, "n=100"));
  cugen_plan_close(open_plan(lib, "n=120"));
  assert_int_equal(sum("n=100", "none").opens, 1);
  assert_int_equal(sum("n=100", "default").opens, 1);
  assert_true(sum("n=100", "default").seconds == 0);
  assert_int_equal(sum("n=100", "exact").opens, 1);
  assert_true(sum("n=100", "exact").seconds > 0);
  assert_int_equal(sum("n=120", "near").opens, 1);
  assert_non_null(strstr(cugen_where(lib), file));
  assert_null(strstr(cugen_where(lib), "lines are missing"));
}

TEST(counts_launches) {
  float y[64];
  cugen_call *calls[2];
  CLOSED(cugen) *lib = open_library(file);
  cugen_plan *plan = open_plan(lib, "n=64");
  void *both[] = {y, NULL};
  for (int i = 0; i < 2; i++) calls[i] = call_of(plan, both, 2);
  for (int i = 0; i < 7; i++) WORKS(cugen_call_launch(calls[i % 2], NULL, &err));
  for (int i = 0; i < 2; i++) cugen_call_close(calls[i]);
  assert_int_equal(sum("n=64", "near").launches, 0);
  cugen_plan_close(plan);
  assert_int_equal(sum("n=64", "near").opens, 1);
  assert_int_equal(sum("n=64", "near").launches, 7);
  assert_int_equal(sum("n=64", "near").lines, 2);
}

/* ---- Many at once --------------------------------------------------------------------------- */

static void *open_several(void *lib) {
  for (int i = 0; i < EACH; i++) {
    CLOSED(cugen_plan) *plan = open_plan(lib, "n=4000");
    if (!plan) return lib;
  }
  return NULL;
}

static int open_in_threads(void) {
  pthread_t threads[THREADS];
  int failed = 0;
  CLOSED(cugen) *lib = open_library(file);
  for (int i = 0; i < THREADS; i++) failed |= pthread_create(&threads[i], NULL, open_several, lib);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    failed |= wrong != NULL;
  }
  return failed;
}

TEST(threads_and_processes_share_a_file) {
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++)
    if ((children[i] = fork()) == 0) _exit(open_in_threads());
  for (int i = 0; i < PROCESSES; i++) {
    int ended;
    assert_int_equal(waitpid(children[i], &ended, 0), children[i]);
    assert_int_equal(ended, 0);
  }
  assert_int_equal(sum("n=4000", "default").opens, PROCESSES * THREADS * EACH);
}

/* ---- What cannot be written ----------------------------------------------------------------- */

static void expect_remark(const char *path, const char *words) {
  CLOSED(cugen) *lib = open_library(path);
  CLOSED(cugen_plan) *plan = open_plan(lib, "n=64");
  assert_non_null(plan);
  const char *where = strstr(cugen_where(lib), "capture: ");
  assert_non_null(where);
  if (!strstr(where, words)) fail_msg("%s", where);
}

TEST(a_file_that_cannot_be_written_is_no_failure) {
  char pipe[80];
  snprintf(pipe, sizeof pipe, "%s/pipe", folder);
  assert_int_equal(mkfifo(pipe, 0600), 0);
  expect_remark(folder, "lines are missing: Is a directory");
  expect_remark("/nowhere/capture", "lines are missing: No such file or directory");
  expect_remark(pipe, "lines are missing: ");
  expect_remark("/dev/full", "lines are missing: not a regular file");
}

/* JSON has no words that are not UTF-8. */
TEST(a_word_that_is_not_utf8_is_told) {
  const char *inside = strchr(config, '{') + 1;
  const char *odd =
      formed("%.*s problem 'word' { 'a\\xff' },%s", (int)(inside - config), config, inside);
  CLOSED(cugen) *lib = open_library(file);
  WORKS(cugen_add_file(lib, "twice.lua", odd, strlen(odd), &err));
  CLOSED(cugen_plan) *plan = open_plan(lib, "n=64");
  assert_non_null(plan);
  if (!strstr(cugen_where(lib), "/capture (lines are missing: a text is not UTF-8)"))
    fail_msg("%s", cugen_where(lib));
}

ALL_TESTS_WITH(set_up, remove_all);
