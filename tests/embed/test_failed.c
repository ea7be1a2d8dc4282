/* A plan never takes a variant that is known to fail, unless the application names it. On the
   cpu device. */
#include "api/tuning.h"
#include "api/why.h"
#include "tests/opening.h"

/* way 1 writes beyond its buffer, 2 is wrong, 3 is right and slow, 4 is fast, and right except
   for 900 elements; from 5 on it does not compile. */
#define CONFIG(name, n, ways, more)                                                                \
  "kernel \"" name "\" {\n"                                                                        \
  "  problem \"n\" (" n "), check { n = 100 },\n" more                                             \
  "  input \"x\" { dtype = \"f32\", shape = { \"n\" } },\n"                                        \
  "  output \"y\" { dtype = \"f32\", shape = { \"n\" } },\n"                                       \
  "  scalar \"n\" {},\n"                                                                           \
  "  reference \"reference.cu\",\n"                                                                \
  "  implementation \"one\" {\n"                                                                   \
  "    template \"ways.cu\", tunable \"WAY\" " ways ",\n"                                          \
  "    grid { \"ceil_div(n, 64)\" }, block { \"64\" },\n"                                          \
  "  },\n"                                                                                         \
  "}\n"
static const char ways_text[] =
    "#if WAY > 4\n#error way WAY\n#endif\n"
    "extern \"C\" __global__ void twice(const float *x, float *y, int n) {\n"
    "  int i = blockIdx.x * 64 + threadIdx.x;\n"
    "  if (WAY == 1 && i == 0) y[n] = 1;\n"
    "  if (WAY == 3)\n"
    "    for (int k = 0; k < 2000; k++) if (i < n) ((volatile float *)y)[i] = k;\n"
    "  if (i < n) y[i] = WAY == 2 || (WAY == 4 && n == 900) ? 0 : 2 * x[i];\n"
    "}\n";
static const char reference[] =
    "__global__ void reference(${params}) {\n"
    "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i];\n"
    "}\n";

static cugen *lib;
static cugen_error error;

static void add(const char *name, const char *text) {
  hold_file(lib, name, text);
}

FIXTURE(open_library) {
  lib = OPEN_LIBRARY(.device = "cpu", .cache = "none");
  add("mixed.lua", CONFIG("mixed", "1000", "{ 1, 2, 3 }", ""));
  add("hopeless.lua", CONFIG("hopeless", "1000", "{ 1, 2 }", ""));
  add("near.lua", CONFIG("near", "1000", "{ 4, 3 }", "  policy \"nearest\" { distance = 1 },\n"));
  add("broken.lua", CONFIG("broken", "1000", "{ 5, 6, 3 }", ""));
  add("lost.lua", CONFIG("lost", "1000", "{ 5, 6 }", ""));
  add("ways.cu", ways_text);
  add("reference.cu", reference);
  return 0;
}

FIXTURE(close_library) {
  cugen_close(lib);
  return 0;
}

static cugen_kernel *open_kernel(const char *config, const char *setting) {
  return kernel_of(lib, config, &setting, setting != NULL);
}

/* Tunes that many variants, from the first on. */
static int tune(cugen_kernel *kernel, size_t count) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.strategy = "exhaustive";
  options.budget_count = count;
  options.budget_seconds = -1;
  return api_kernel_tune(kernel, &options, NULL, &error);
}

static void expect_plan(cugen_kernel *kernel, cugen_plan_choice choice, const char *variant) {
  CLOSED(cugen_plan) *plan = plan_of(kernel, NULL);
  assert_string_equal(cugen_plan_about(plan)->variant, variant);
  assert_int_equal(cugen_plan_about(plan)->choice, choice);
}

/* A variant that nobody measured may not compile. The plan takes the next one. */
TEST_WITH(one_that_does_not_compile_is_passed_over, open_library, close_library) {
  CLOSED(cugen_kernel) *kernel = open_kernel("broken.lua", NULL);
  CLOSED(cugen_kernel) *lost = open_kernel("lost.lua", NULL);
  cugen_plan *plan;
  expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=3");
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cugen_plan_open(lost, NULL, &plan, &error), CUGEN_ERROR_COMPILE);
    assert_non_null(strstr(error.message, "ways.cu"));
  }
}

/* Failures on the kernel's own problem count, and so do those on the check problem. */
TEST(the_default_is_not_known_to_fail) {
  static const char *const settings[] = {"n=1000", NULL};
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(open_library(NULL), 0);
    cugen_kernel *kernel = open_kernel("mixed", settings[i]);
    expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=1");
    assert_int_equal(tune(kernel, 1), CUGEN_ERROR_WRONG);
    expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=2");
    assert_int_equal(tune(kernel, 1), CUGEN_ERROR_WRONG);
    expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=3");
    cugen_kernel_close(kernel);
    close_library(NULL);
  }
}

/* A failure on the check problem counts for sizes that were not tuned, too. */
TEST_WITH(the_check_problem_counts_for_each_size, open_library, close_library) {
  cugen_kernel *tuned = open_kernel("mixed", NULL), *kernel = open_kernel("mixed", "n=104");
  expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=1");
  assert_int_equal(tune(tuned, 2), CUGEN_ERROR_WRONG);
  cugen_kernel_close(kernel);
  kernel = open_kernel("mixed", "n=104");
  expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=3");
  cugen_kernel_close(kernel);
  cugen_kernel_close(tuned);
}

TEST_WITH(nothing_is_left, open_library, close_library) {
  CLOSED(cugen_kernel) *kernel = open_kernel("hopeless", NULL);
  cugen_plan *plan;
  cugen_why why;
  assert_int_equal(tune(kernel, 2), CUGEN_ERROR_WRONG);
  FAILS(cugen_plan_open(kernel, NULL, &plan, &err), CUGEN_ERROR_WRONG, "every variant of hopeless",
        "out of bounds");
  assert_null(plan);
  WORKS(api_kernel_why(kernel, NULL, &why, &err));
  assert_non_null(strstr(why.verdict, "No plan opens"));
}

/* A mistake that no variant compiles with ends the run, and the error is at the line of the
   template. */
TEST_WITH(a_mistake_of_the_template_is_told_once, open_library, close_library) {
  static const char broken[] =
      "extern \"C\" __global__ void twice(const float *x, float *y, int n) {\n"
      "  y[0] = nowhere * WAY;\n"
      "}\n";
  add("refused.lua",
      CONFIG("refused", "1000", "{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 }", ""));
  add("ways.cu", broken);
  CLOSED(cugen_kernel) *kernel = open_kernel("refused", NULL);
  assert_int_equal(tune(kernel, 100), CUGEN_ERROR_WRONG);
  if (!strstr(error.message, "nowhere") ||
      !strstr(error.message, "this refuses all of the 16 variants tried, so tuning ended early"))
    fail_msg("%s", error.message);
  assert_string_equal(error.file, "ways.cu");
  assert_int_equal(error.line, 2);
}

/* Failures of another source do not count. */
TEST_WITH(a_mended_kernel_is_taken, open_library, close_library) {
  char mended[1024];
  cugen_kernel *kernel = open_kernel("hopeless", NULL);
  assert_int_equal(tune(kernel, 2), CUGEN_ERROR_WRONG);
  cugen_kernel_close(kernel);
  snprintf(mended, sizeof mended, "%s", ways_text);
  memcpy(strstr(mended, "y[n] = 1"), "y[0] = 1", 8);
  add("ways.cu", mended);
  kernel = open_kernel("hopeless", NULL);
  expect_plan(kernel, CUGEN_PLAN_DEFAULT, "one WAY=1");
  cugen_kernel_close(kernel);
}

/* The best variant for 1000 elements is wrong for 900. */
TEST_WITH(what_a_near_problem_has_is_passed_over, open_library, close_library) {
  CLOSED(cugen_kernel) *near = open_kernel("near", "n=1000"),
                       *kernel = open_kernel("near", "n=900");
  if (tune(near, 2)) fail_msg("%s", error.message);
  expect_plan(near, CUGEN_PLAN_EXACT, "one WAY=4");
  expect_plan(kernel, CUGEN_PLAN_NEAR, "one WAY=4");
  assert_int_equal(tune(kernel, 1), CUGEN_ERROR_WRONG);
  expect_plan(kernel, CUGEN_PLAN_NEAR, "one WAY=3");
}

/* A compile error has the place of the error in its fields, as in its message. */
TEST_WITH(a_compile_error_has_its_place, open_library, close_library) {
  add("ways.cu", "extern \"C\" __global__ void twice(const float *x, float *y, int n) {\n  y[0] = "
                 "nobody + WAY;\n}\n");
  CLOSED(cugen_kernel) *kernel = open_kernel("mixed", NULL);
  assert_int_equal(tune(kernel, 1), CUGEN_ERROR_WRONG);
  assert_non_null(strstr(error.message, "ways.cu:2"));
  assert_string_equal(error.file, "ways.cu");
  assert_int_equal(error.line, 2);
  assert_int_equal(tune(kernel, 3), CUGEN_ERROR_WRONG);
  assert_int_equal(error.line, 2);
}
