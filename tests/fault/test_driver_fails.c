/* Each call of the driver in turn fails, once, under an application that plans, binds and
   launches, and under tuning in this process and in a worker, which is this program too. Over
   the fake driver and the fake NVRTC: whoever asked hears of it with the function's name, as a
   status or as the reason of a failed variant, and nothing is left behind. And what a profiler
   is shown of a worker. */

#include <cuda.h>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include "api/records.h"
#include "api/tuning.h"
#include "base/system.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "tests/opening.h"

/* FAKE_LOG: appends a line for each launch, with its size and whether a profiler watches it. */
static void log_launch(const char *kernel, int n) {
  const char *path = getenv("FAKE_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s n=%d %s\n", kernel, n, fake->profiled ? "profiled" : "unseen");
  fclose(file);
}

static void run_kernel(const struct fake_launch *launch) {
  int n;
  memcpy(&n, launch->parameters[4], sizeof n);
  log_launch(fake_is_reference(launch) ? "reference" : "variant", n);
  fake_run_wild(launch);
}

/* FAKE_FAIL="FUNCTION N": call N of that function fails in the worker. */
static int serve(int argc, char **argv) {
  static char name[64];
  const char *wish = getenv("FAKE_FAIL");
  if (find_fake(NULL)) return 1;
  fake->run = run_kernel;
  fake->fail_with = CUDA_ERROR_INVALID_VALUE;
  fake->fail_only = name;
  if (wish && sscanf(wish, "%63s %ld", name, &fake->fail_at) != 2) return 1;
  return cugen_worker_main(argc, argv);
}

/* ---- What is done --------------------------------------------------------------------------- */

static cugen *open_library(void) {
  FREED(text) self = {0};
  assert_int_equal(path_self(&self, NULL), CUGEN_OK);
  cugen *lib =
      OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                   .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"), .worker = text_get(&self));
  return lib;
}

static void reset(long at) {
  *fake = (struct fake_cuda){.version = 13000,
                             .devices = 1,
                             .run = run_kernel,
                             .fail_at = at,
                             .fail_with = CUDA_ERROR_INVALID_VALUE};
}

struct outcome {
  int status;
  cugen_error error;
  struct text reasons; /* reasons of the variants that failed */
};

static void launch_in(cugen *lib, struct outcome *out) {
  const char *size = "n=256";
  float data[3][256] = {{0}}, alpha = 2;
  int n = 256;
  void *arguments[] = {data[0], data[1], data[2], &alpha, &n};
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  CLOSED(cugen_kernel) *kernel;
  CLOSED(cugen_plan) *plan = NULL;
  CLOSED(cugen_call) *call = NULL;
  out->status = cugen_kernel_open(lib, "tests/configs/wild.lua", &size, 1, &kernel, &out->error);
  if (!out->status) out->status = cugen_plan_open(kernel, &options, &plan, &out->error);
  if (!out->status) out->status = cugen_call_bind(plan, arguments, 5, &call, &out->error);
  if (!out->status) out->status = cugen_call_launch(call, NULL, &out->error);
}

static void tune_in(cugen *lib, const char *size, unsigned flags, size_t variants,
                    struct outcome *out) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  CLOSED(cugen_kernel) *kernel;
  options.flags = flags;
  options.budget_count = variants;
  options.strategy = "exhaustive";
  options.variant_timeout = 60;
  out->status = cugen_kernel_open(lib, "tests/configs/wild.lua", &size, 1, &kernel, &out->error);
  if (!out->status) out->status = api_kernel_tune(kernel, &options, &result, &out->error);
  for (size_t i = 0; kernel && i < record_count(kernel); i++) {
    const cugen_record record = record_at(kernel, i);
    if (record.outcome != CUGEN_OUTCOME_OK) text_addf(&out->reasons, "%s\n", record.reason);
  }
}

static void tune_one(cugen *lib, struct outcome *out) {
  tune_in(lib, "n=1003", CUGEN_TUNE_IN_PROCESS, 1, out);
}

/* Tunes, and measures again in turn: a variant that fails only then keeps its first time. */
static void tune_two(cugen *lib, struct outcome *out) {
  tune_in(lib, "n=1003", CUGEN_TUNE_IN_PROCESS, 2, out);
}

/* ---- And what comes of it ------------------------------------------------------------------- */

/* Returns whether a failure of the call changes nothing: giving back, and asking for facts that
   are only printed. */
static bool may_be_ignored(const char *call) {
  static const char *const calls[] = {
      "cuCtxPopCurrent_v2",   "cuMemFree_v2",        "cuMemFreeHost",
      "cuStreamDestroy_v2",   "cuEventDestroy_v2",   "cuLibraryUnload",
      "cuModuleUnload",       "cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRelease_v2",
      "cuPointerGetAttribute"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!strcmp(call, calls[i])) return true;
  return false;
}

static void check(long n, const char *failed, const struct outcome *out) {
  const char *reasons = out->reasons.length ? out->reasons.data : "";
  bool told = strstr(out->status ? out->error.message : reasons, failed) || strstr(reasons, failed);
  if (!told && !may_be_ignored(failed))
    fail_msg("call %ld, %s, failed: %d: %s; %s", n, failed, out->status,
             out->status ? out->error.message : "", reasons);
}

static void assert_nothing_left(long n) {
  if (fake->memory || fake->streams || fake->events || fake->images || fake->contexts ||
      fake->current)
    fail_msg("call %ld, %s: left: memory %ld, streams %ld, events %ld, images %ld, contexts %ld, "
             "current %ld",
             n, fake->failed_call ? fake->failed_call : "none", fake->memory, fake->streams,
             fake->events, fake->images, fake->contexts, fake->current);
}

/* Lets call after call fail, in steps that grow by n / slow. forgiven: a failure need not be
   reported, but a report must name the function. */
static void fail_each(void (*work)(cugen *, struct outcome *), long slow, bool forgiven) {
  long failures = 0;
  for (long n = 1;; n += 1 + n / slow) {
    struct outcome out = {0};
    cugen *lib = open_library();
    reset(n);
    work(lib, &out);
    cugen_close(lib);
    assert_nothing_left(n);
    bool heard = out.status || out.reasons.length;
    if (fake->failed_call && (heard || !forgiven)) check(n, fake->failed_call, &out);
    bool enough = !fake->failed_call;
    failures += heard;
    if (enough && out.status) fail_msg("%s", out.error.message);
    text_free(&out.reasons);
    if (enough) break;
  }
  assert_true(failures > 20);
}

TEST(under_an_application) {
  fail_each(launch_in, 1000, false);
}

TEST(under_tuning_in_process) {
  fail_each(tune_one, 100, false);
  fail_each(tune_two, 15, true);
}

/* Returns whether the failure was reported; a report must name the function. */
static bool fails_in_a_worker(const char *function, int n) {
  struct outcome out = {0};
  cugen *lib = open_library();
  reset(0);
  setenv("FAKE_FAIL", formed("%s %d", function, n), 1);
  tune_in(lib, "n=1003", 0, 2, &out);
  cugen_close(lib);
  assert_nothing_left(n);
  bool told = out.status || out.reasons.length;
  if (told) check(n, function, &out);
  text_free(&out.reasons);
  return told;
}

TEST(under_tuning_in_a_worker) {
  /* Functions that a worker cannot do without. */
  static const char *const functions[] = {"cuInit",
                                          "cuDriverGetVersion",
                                          "cuDeviceGetCount",
                                          "cuDeviceGet",
                                          "cuDeviceGetName",
                                          "cuDeviceGetAttribute",
                                          "cuDeviceTotalMem_v2",
                                          "cuDevicePrimaryCtxRetain",
                                          "cuStreamCreate",
                                          "cuEventCreate",
                                          "cuMemAlloc_v2",
                                          "cuMemsetD8Async",
                                          "cuMemcpyAsync",
                                          "cuLibraryLoadData",
                                          "cuLibraryGetKernel",
                                          "cuKernelGetFunction",
                                          "cuLaunchKernel",
                                          "cuFuncGetAttribute",
                                          "cuStreamSynchronize",
                                          "cuEventRecord",
                                          "cuEventElapsedTime"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (!fails_in_a_worker(functions[i], 1)) fail_msg("%s failed and nobody noticed", functions[i]);
    fails_in_a_worker(functions[i], 2);
    fails_in_a_worker(functions[i], 7);
  }
}

/* The profiler is shown the timed launches of the stated problem, and no others. */
TEST(profiled_in_a_worker) {
  struct outcome out = {0};
  char path[] = "/tmp/cugen-launches-XXXXXX", line[64];
  int file = mkstemp(path);
  long profiled = 0, unseen = 0, checks = 0;
  assert_true(file >= 0);
  unsetenv("FAKE_FAIL");
  setenv("FAKE_LOG", path, 1);
  cugen *lib = open_library();
  reset(0);
  tune_in(lib, "n=2003", 0, 1, &out);
  cugen_close(lib);
  unsetenv("FAKE_LOG");
  assert_int_equal(out.status, CUGEN_OK);
  FILE *launches = fdopen(file, "r");
  while (fgets(line, sizeof line, launches)) {
    const bool seen = strstr(line, " profiled") != NULL,
               stated = strstr(line, "variant n=2003 ") == line;
    if (seen && !stated) fail_msg("a profiler is shown %s", line);
    profiled += seen;
    unseen += !seen && stated;
    checks += strncmp(line, "variant", 7) == 0 && !stated;
  }
  assert_true(profiled > 1);
  assert_int_equal(unseen, 1); /* the launch that verifies, before the timed ones */
  assert_int_equal(checks, 2);
  fclose(launches);
  unlink(path);
  text_free(&out.reasons);
}

/* The GPU's memory is on the heap here: the heap is kept, so that hundreds of runs use it again
   without touching new pages. */
static void keep_heap(void) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

ALL_TESTS_WITH(find_fake, NULL);

int main(int argc, char **argv) {
  keep_heap();
  if (argc > 1 && strcmp(argv[1], "worker") == 0) return serve(argc, argv);
  return tests_run();
}
