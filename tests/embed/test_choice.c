/* A plan's choice as bytes: opened elsewhere, pinned by a file, and refused where it is not
   valid. */

#include <unistd.h>

#include "api/choice.h"
#include "api/tuning.h"
#include "base/hash.h"
#include "tests/opening.h"

static const char config[] =
    "kernel 'twice' { problem 'n' (100), output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = "
    "'1e-6' },"
    "  scalar 'n' { dtype = 'index' }, reference 'none', policy 'nearest' { distance = 2 },"
    "  implementation 'one' { template 'twice.cu', tunable 'threads' { 32, 64, 128 },"
    "    grid { 'ceil_div(n, threads)' }, block { 'threads' } } }";
static const char template[] = "extern \"C\" __global__ void twice(float *y, index_t n) {\n"
                               "  index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;\n  "
                               "if (i < n) y[i] = 2.0f * i;\n}\n";

static cugen_error error;

static cugen *open_library(const char *cache, const char *pin, const char *source) {
  cugen *lib = OPEN_LIBRARY(.device = "cpu", .cache = cache, .pin = pin);
  hold_file(lib, "twice.lua", config);
  hold_file(lib, "twice.cu", source);
  return lib;
}

static cugen_kernel *open_kernel(cugen *lib, const char *size) {
  return kernel_of(lib, "twice", &size, 1);
}

static cugen_plan *open_plan(cugen *lib, const char *size) {
  cugen_plan *plan;
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, size);
  plan = plan_of(kernel, NULL);
  return plan;
}

/* Returns what a plan of that size saves, with `from` replaced by `to` and a matching checksum;
   NULL: unchanged. */
static struct text saved(const char *from, const char *to) {
  const void *bytes;
  size_t size, used;
  struct text text = {0}, out = {0};
  CLOSED(cugen) *lib = open_library("none", NULL, template);
  CLOSED(cugen_plan) *plan = open_plan(lib, "n=100");
  WORKS(cugen_plan_save(plan, &bytes, &size, &err));
  const char *at = from ? strstr(bytes, from) : NULL;
  if (from) {
    assert_non_null(at);
    text_add_n(&text, bytes, (size_t)(at - (const char *)bytes));
    text_add(&text, to);
    const char *rest = at + strlen(from), *end = strstr(rest, "end ");
    text_add_n(&text, rest, (size_t)(end - rest));
    const struct hash checksum = hash_bytes(text_get(&text), text.length);
    text_addf(&text, "end %s\n", checksum.hex);
  } else {
    text_add_n(&text, bytes, size);
    FREED(choice) choice;
    WORKS(choice_parse(bytes, size, &choice, &used, &err));
    choice_print(&choice, &out);
    assert_int_equal(used, size);
    assert_string_equal(text_get(&out), text_get(&text));
    text_free(&out);
  }
  return text;
}

static int open_with(cugen_kernel *kernel, const void *bytes, size_t size, cugen_plan **plan) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  options.flags = CUGEN_PLAN_TUNED_ONLY; /* a pinned choice is allowed */
  options.choice = bytes;
  options.choice_size = size;
  return cugen_plan_open(kernel, &options, plan, &error);
}

TEST(a_choice_is_opened_elsewhere) {
  float y[100];
  void *arguments[] = {y, NULL};
  FREED(text) other = saved("threads=32", "threads=64"), bytes = {0};
  CLOSED(cugen) *lib = open_library("none", NULL, template);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "n=100");
  CLOSED(cugen_plan) *plan;
  /* The launches are those of another variant than the one saved. */
  assert_int_equal(open_with(kernel, text_get(&other), other.length, &plan), CUGEN_ERROR_USAGE);
  assert_non_null(strstr(error.message, "with other launches than here"));
  bytes = saved(NULL, NULL);
  if (open_with(kernel, text_get(&bytes), bytes.length, &plan)) fail_msg("%s", error.message);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_int_equal(info->choice, CUGEN_PLAN_PINNED);
  assert_string_equal(info->variant, "one threads=32");
  assert_null(info->tuned_for);
  CLOSED(cugen_call) *call = call_of(plan, arguments, 2);
  WORKS(cugen_call_launch(call, NULL, &err));
  assert_true(y[0] == 0 && y[99] == 198);
  const void *again;
  size_t size;
  WORKS(cugen_plan_save(plan, &again, &size, &err));
  assert_int_equal(size, bytes.length);
  assert_memory_equal(again, text_get(&bytes), size);
}

static void expect_refusal(cugen_kernel *kernel, struct text bytes, int status, const char *says) {
  cugen_plan *plan;
  assert_int_equal(open_with(kernel, text_get(&bytes), bytes.length, &plan), status);
  assert_null(plan);
  if (!strstr(error.message, says)) fail_msg("'%s' does not say '%s'", error.message, says);
  text_free(&bytes);
}

TEST(what_is_not_valid_here_is_refused) {
  cugen *lib = open_library("none", NULL, template);
  cugen_kernel *kernel = open_kernel(lib, "n=100");
  expect_refusal(kernel, saved("kernel twice", "kernel thrice"), CUGEN_ERROR_USAGE,
                 "the choice is for thrice n=100, the kernel is twice n=100");
  expect_refusal(kernel, saved("n=100", "n=101"), CUGEN_ERROR_USAGE, "for twice n=101");
  expect_refusal(kernel, saved("target cpu", "target cuda"), CUGEN_ERROR_USAGE, "is for cuda");
  expect_refusal(kernel, saved("threads=32", "threads=33"), CUGEN_ERROR_USAGE, "is not valid here");
  expect_refusal(kernel, saved("choice 1", "choice 2"), CUGEN_ERROR_CACHE,
                 "has format '2', this cugen reads format 1");
  expect_refusal(kernel, saved("choice 1", "choice 1\r"), CUGEN_ERROR_CACHE,
                 "its lines end in CR LF");
  struct text bytes = saved(NULL, NULL);
  for (size_t i = 0; i < bytes.length; i++) { /* changes any one bit, and cuts at any length */
    cugen_plan *plan;
    bytes.data[i] ^= 4;
    assert_int_equal(open_with(kernel, bytes.data, bytes.length, &plan), CUGEN_ERROR_CACHE);
    bytes.data[i] ^= 4;
    assert_int_equal(open_with(kernel, bytes.data, i, &plan), CUGEN_ERROR_CACHE);
  }
  text_add(&bytes, "more");
  expect_refusal(kernel, bytes, CUGEN_ERROR_CACHE, "4 bytes follow it");
  cugen_kernel_close(kernel);
  cugen_close(lib);
  lib = open_library("none", NULL, formed("%s__device__ int changed;\n", template));
  kernel = open_kernel(lib, "n=100");
  expect_refusal(kernel, saved(NULL, NULL), CUGEN_ERROR_USAGE, "with other source than here");
  cugen_kernel_close(kernel);
  cugen_close(lib);
}

/* A file of choices decides only for the problems in it. */
TEST(a_file_pins) {
  char path[] = "/tmp/cugen-pin-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  FREED(text) one = saved(NULL, NULL), other = saved("n=100", "n=7");
  fprintf(file, "%s%s", text_get(&other), text_get(&one));
  fclose(file);
  setenv("CUGEN_PIN", path, 1);
  CLOSED(cugen) *lib = open_library("none", NULL, template);
  unsetenv("CUGEN_PIN");
  cugen_plan *pinned = open_plan(lib, "n=100"), *free_one = open_plan(lib, "n=101");
  assert_int_equal(cugen_plan_about(pinned)->choice, CUGEN_PLAN_PINNED);
  assert_int_equal(cugen_plan_about(free_one)->choice, CUGEN_PLAN_DEFAULT);
  cugen_plan_close(pinned);
  cugen_plan_close(free_one);
  file = fopen(path, "a");
  fprintf(file, "damage\n");
  fclose(file);
  cugen_plan *plan;
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "n=101");
  FAILS(cugen_plan_open(kernel, NULL, &plan, &err), CUGEN_ERROR_CACHE, path);
  unlink(path);
  FAILS(cugen_plan_open(kernel, NULL, &plan, &err), CUGEN_ERROR_MISSING);
}

/* 50 and 200 are equally near to 100. Every cache with these records gives the same answer,
   whichever was tuned first. */
TEST(equal_distances_do_not_depend_on_the_order) {
  static const char *const orders[2][2] = {{"n=50", "n=200"}, {"n=200", "n=50"}};
  for (size_t i = 0; i < 2; i++) {
    CLOSED(cugen) *lib = open_library("none", NULL, template);
    cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
    options.budget_count = 1;
    for (size_t k = 0; k < 2; k++) {
      CLOSED(cugen_kernel) *kernel = open_kernel(lib, orders[i][k]);
      WORKS(api_kernel_tune(kernel, &options, NULL, &err));
    }
    cugen_plan *plan = open_plan(lib, "n=100");
    assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_NEAR);
    assert_string_equal(cugen_plan_about(plan)->tuned_for, "n=200");
    cugen_plan_close(plan);
    plan = open_plan(lib, "n=800"); /* exactly at the policy's distance */
    assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_NEAR);
    cugen_plan_close(plan);
    plan = open_plan(lib, "n=801");
    assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_DEFAULT);
    cugen_plan_close(plan);
  }
}

/* An error names the option or variable that named the file once, and the way out. */
TEST(a_pin_file_that_cannot_serve) {
  static const struct {
    const char *path, *message;
  } cases[] = {
      {"/nowhere/pin",
       "cugen_options.pin: /nowhere/pin: cannot open: No such file or directory; write the bytes"},
      {"/tmp", "cugen_options.pin: /tmp"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cugen_plan *plan;
    CLOSED(cugen) *lib = open_library("none", cases[i].path, template);
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, "n=100");
    assert_true(cugen_plan_open(kernel, NULL, &plan, &error) < 0);
    if (strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
      fail_msg("%s", error.message);
  }
}

TEST(an_empty_pin_file_is_a_slip) {
  char path[] = "/tmp/cugen-pin-XXXXXX";
  close(mkstemp(path));
  setenv("CUGEN_PIN", path, 1);
  CLOSED(cugen) *lib = open_library("none", NULL, template);
  unsetenv("CUGEN_PIN");
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "n=100");
  cugen_plan *plan;
  FAILS(cugen_plan_open(kernel, NULL, &plan, &err), CUGEN_ERROR_CACHE, "CUGEN_PIN: /tmp/cugen-pin-",
        ": is empty; write the bytes of cugen_plan_save there");
  remove(path);
}

/* Tells which arguments may be missing at the end of the list, and which may be NULL. */
TEST(too_few_arguments_say_what_is_needed) {
  static const char *const settings[] = {"M=16", "N=16", "K=16"};
  static float matrix[256];
  void *const arguments[] = {matrix, matrix, matrix};
  cugen_call *call;
  CLOSED(cugen) *lib = open_library("none", NULL, template);
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "matmul", settings, 3);
  CLOSED(cugen_plan) *plan = plan_of(kernel, NULL);
  FAILS(cugen_call_bind(plan, arguments, 3, &call, &err), CUGEN_ERROR_USAGE,
        "and was given 3; those behind '", "' may be left out; NULL may stand for M, N, K");
}

/* Messages that a newcomer meets name what was wrong. */
TEST(what_is_given_wrong_is_named) {
  static const char *const twice[] = {"n=1", "n=2"}, *const same[] = {"n=2", "n=2"};
  cugen_kernel *kernel;
  cugen_plan *plan;
  CLOSED(cugen) *lib = open_library("none", NULL, template);
  FAILS_WITH(cugen_kernel_open(lib, "twice", twice, 2, &kernel, &err), CUGEN_ERROR_USAGE,
             "settings 'n=1' and 'n=2': give one of them");
  kernel = kernel_of(lib, "twice", same, 2);
  cugen_kernel_close(kernel);
  static const char other[] =
      "kernel 'lone' { problem 'n' (8), output 'y' { dtype = 'f32', shape = { 'n' } }, reference "
      "'none',"
      "  implementation 'one' { template 'lone.cu', grid { 1 }, block { 32 } } }";
  hold_file(lib, "lone.lua", other);
  kernel = kernel_of(lib, "lone", NULL, 0);
  assert_true(cugen_plan_open(kernel, NULL, &plan, &error) < 0);
  if (!strstr(error.message, "looked for lone.cu (in memory)")) fail_msg("%s", error.message);
  assert_null(strstr(strstr(error.message, "(in memory)") + 1, "(in memory)"));
  assert_null(strstr(error.message, "lone.lua'"));
  cugen_kernel_close(kernel);
}
