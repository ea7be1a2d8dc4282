/* Compiles with an NVRTC that fails: whichever call fails, the error names it, no program of
   NVRTC is left, and the next compile works. An NVRTC that gives no cubin, no log, or never ends
   is noticed, too. */

#include <dlfcn.h>
#include <nvrtc.h>

#include "base/system.h"
#include "fake_nvrtc.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/testing.h"

static const char *folder;
static struct fake_nvrtc *fake;

FIXTURE(find_fake) {
  folder = getenv("CUGEN_TEST_FAKE_TOOLKIT");
  const char *path = formed("%s/lib64/libnvrtc.so.13", folder ? folder : ".");
  void *handle = dlopen(path, RTLD_NOW);
  fake = handle ? dlsym(handle, "fake_nvrtc") : NULL;
  if (!fake) fprintf(stderr, "%s is not the fake NVRTC\n", path);
  return fake ? 0 : -1;
}

static double limit; /* limit of a compile, in seconds */

FIXTURE(reset_fake) {
  *fake = (struct fake_nvrtc){.log = ""};
  limit = 60;
  return 0;
}

static struct toolkit *open_toolkit(void) {
  struct toolkit *toolkit;
  const struct toolkit_options options = {.toolkit = folder};
  assert_int_equal(toolkit_open(&options, &toolkit, NULL), CUGEN_OK);
  return toolkit;
}

/* Opens NVRTC and compiles two kernels. */
static int use(struct toolkit *toolkit, cugen_error *err) {
  static const char *const entries[] = {"add", "scale<4>"};
  const struct compile_request request = {.toolkit = toolkit,
                                          .name = "a variant",
                                          .source = "__global__ void add() {}",
                                          .arch = "sm_90a",
                                          .entries = entries,
                                          .entry_count = 2,
                                          .timeout = limit};
  const struct nvrtc *nvrtc;
  struct compiled compiled;
  int status = nvrtc_open(toolkit, &nvrtc, err);
  if (!status) status = nvrtc_compile(nvrtc, &request, &compiled, err);
  if (!status) {
    assert_int_equal(compiled.entry_count, 2);
    assert_string_equal(compiled.entries[1], "scale<4>");
    assert_non_null(compiled.log);
    compiled_free(&compiled);
  }
  assert_int_equal(fake->programs, 0);
  return status;
}

static int use_once(cugen_error *err) {
  CLOSED(toolkit) *toolkit = open_toolkit();
  int status = use(toolkit, err);
  return status;
}

/* Returns whether the call only serves to say more about a failure, to stop in time, or to clean
   up. */
static bool may_be_ignored(const char *call) {
  static const char *const calls[] = {"nvrtcDestroyProgram", "nvrtcSetFlowCallback",
                                      "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(call, calls[i]) == 0) return true;
  return false;
}

static void fail_each_call(nvrtcResult result, const char *name, int expected) {
  cugen_error err;
  long failures = 0;
  for (long n = 1;; n++) {
    *fake = (struct fake_nvrtc){.log = "", .fail_at = n, .fail_with = (int)result};
    int status = use_once(&err);
    if (!fake->failed_call) break;
    if (!status && !may_be_ignored(fake->failed_call))
      fail_msg("%s failed and nobody noticed", fake->failed_call);
    bool opening = strncmp(err.message, "NVRTC cannot be used", 20) == 0;
    if (status && !strstr(err.message, name)) fail_msg("no %s in: %s", name, err.message);
    if (status) assert_int_equal(status, opening ? CUGEN_ERROR_MISSING : expected);
    failures += status != 0;
    fake->fail_at = 0;
    assert_int_equal(use_once(&err), CUGEN_OK);
  }
  assert_in_range(failures, 8, 20);
}

TEST_WITH(each_call_fails, reset_fake, NULL) {
  fail_each_call(NVRTC_ERROR_INTERNAL_ERROR, "NVRTC_ERROR_PRETENDED", CUGEN_ERROR_COMPILE);
  fail_each_call(NVRTC_ERROR_OUT_OF_MEMORY, "NVRTC_ERROR_OUT_OF_MEMORY", CUGEN_ERROR_MEMORY);
  fail_each_call(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, "NVRTC_ERROR_PRETENDED", CUGEN_ERROR_IO);
}

static void expect(int status, const char *words) {
  cugen_error err = {0};
  assert_int_equal(use_once(&err), status);
  if (!strstr(err.message, words)) fail_msg("no '%s' in: %s", words, err.message);
}

TEST_WITH(images_that_are_no_cubin, reset_fake, NULL) {
  fake->image = FAKE_IMAGE_NOISE;
  expect(CUGEN_ERROR_COMPILE, "not a cubin");
  fake->image = FAKE_IMAGE_EMPTY;
  expect(CUGEN_ERROR_COMPILE, "not a cubin");
  fake->image = FAKE_IMAGE_OTHER;
  expect(CUGEN_ERROR_COMPILE, "the cubin holds no kernel 'add'");
}

TEST_WITH(no_log, reset_fake, NULL) {
  fake->log = NULL;
  expect(CUGEN_OK, "");
  fake->fail_compile = 1;
  fake->fail_with = NVRTC_ERROR_COMPILATION;
  expect(CUGEN_ERROR_COMPILE, "NVRTC failed to compile: NVRTC_ERROR_COMPILATION");
  fake->log = "a.cu(3): error: that is wrong\n";
  expect(CUGEN_ERROR_COMPILE, "NVRTC refused the source:\na.cu:3: error: that is wrong");
}

TEST_WITH(never_ends, reset_fake, NULL) {
  fake->compile_seconds = 600;
  limit = 0.3;
  double begin = clock_seconds();
  expect(CUGEN_ERROR_COMPILE, "compiling was stopped after 0.3 s");
  assert_true(clock_seconds() - begin < 100);
}

ALL_TESTS_WITH(find_fake, NULL);
