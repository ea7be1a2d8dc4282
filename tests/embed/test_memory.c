/* An application that ships its kernel inside itself: config, template, include and reference
   are in memory, and the kernel is tuned on the cpu device. Mistakes in these files are named,
   and a replaced file applies to kernels opened later. */
#include "api/machine.h"
#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

static const char config[] = "kernel \"twice\" {\n"
                             "  problem \"n\" (1000), policy \"nearest\" { distance = 1 },\n"
                             "  input \"x\" { dtype = \"f32\", shape = { \"n\" } },\n"
                             "  output \"y\" { dtype = \"f32\", shape = { \"n\" } },\n"
                             "  scalar \"n\" {},\n"
                             "  reference \"reference.cu\",\n"
                             "  implementation \"plain\" {\n"
                             "    template \"plain.cu\", tunable \"THREADS\" { 64, 128 },\n"
                             "    grid { \"ceil_div(n, THREADS)\" }, block { \"THREADS\" },\n"
                             "  },\n"
                             "}\n";
static const char kernel_text[] =
    "//@ include \"factor.cuh\"\n"
    "extern \"C\" __global__ void twice(const float *x, float *y, int n) {\n"
    "  int i = blockIdx.x * THREADS + threadIdx.x;\n"
    "  if (i < n) y[i] = FACTOR * x[i];\n"
    "}\n";
static const char factor[] = "#define FACTOR 2\n", wrong_factor[] = "#define FACTOR 3\n";
static const char reference[] =
    "__global__ void reference(${params}) {\n"
    "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i];\n"
    "}\n";

static cugen *lib;

static void add(const char *name, const char *text) {
  hold_file(lib, name, text);
}

FIXTURE(open_library) {
  lib = OPEN_LIBRARY(.device = "cpu", .cache = "none");
  add("kernels/twice.lua", config);
  add("kernels/plain.cu", kernel_text);
  add("kernels/factor.cuh", factor);
  add("kernels/reference.cu", reference);
  return 0;
}

FIXTURE(close_library) {
  cugen_close(lib);
  return 0;
}

static cugen_kernel *open_kernel(void) {
  return kernel_of(lib, "kernels/twice", NULL, 0);
}

/* A plan for another size takes the variant that the config's policy selects, and computes its
   own problem with it. */
static void expect_plan(const char *size, cugen_plan_choice choice, const char *variant) {
  static float x[2048], y[2048];
  void *arguments[] = {x, y, NULL};
  CLOSED(cugen_kernel) *kernel;
  CLOSED(cugen_plan) *plan;
  kernel = kernel_of(lib, "kernels/twice", &size, 1);
  plan = plan_of(kernel, NULL);
  assert_int_equal(cugen_plan_about(plan)->choice, choice);
  assert_string_equal(cugen_plan_about(plan)->variant, variant);
  int n = atoi(size + strlen("n="));
  for (int i = 0; i < 2048; i++) x[i] = (float)i, y[i] = -1;
  CLOSED(cugen_call) *call = call_of(plan, arguments, 3);
  WORKS(cugen_call_launch(call, NULL, &err));
  for (int i = 0; i < 2048; i++) assert_true(y[i] == (i < n ? 2 * x[i] : -1));
}

TEST_WITH(it_is_tuned, open_library, close_library) {
  CLOSED(cugen_kernel) *kernel = open_kernel();
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_record record;
  options.strategy = "exhaustive";
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, 2);
  assert_int_equal(result.failed, 0);
  record = record_at(kernel, 0);
  assert_int_equal(record.outcome, CUGEN_OUTCOME_OK);
  expect_plan("n=1000", CUGEN_PLAN_EXACT, record.variant);
  expect_plan("n=1500", CUGEN_PLAN_NEAR, record.variant);
  expect_plan("n=2001", CUGEN_PLAN_DEFAULT, "plain THREADS=64");
}

TEST_WITH(a_file_is_replaced_for_later_kernels, open_library, close_library) {
  CLOSED(cugen_kernel) *before = open_kernel();
  add("./kernels/factor.cuh", wrong_factor);
  CLOSED(cugen_kernel) *after = open_kernel();
  const char *source;
  cugen_record record;
  WORKS(cugen_kernel_source(before, NULL, &source, NULL, &err));
  assert_non_null(strstr(source, "FACTOR 2"));
  WORKS(cugen_kernel_source(after, NULL, &source, NULL, &err));
  assert_non_null(strstr(source, "FACTOR 3"));
  WORKS(api_kernel_run(after, NULL, 0, &record, &err));
  assert_int_equal(record.outcome, CUGEN_OUTCOME_WRONG);
}

static void expect_error(int want, const char *start) {
  CLOSED(cugen_kernel) *kernel;
  cugen_error error;
  const char *source;
  int status = cugen_kernel_open(lib, "kernels/twice", NULL, 0, &kernel, &error);
  if (!status) status = cugen_kernel_source(kernel, NULL, &source, NULL, &error);
  assert_int_equal(status, want);
  if (strncmp(error.message, start, strlen(start)) != 0)
    fail_msg(" got: %s\nwant: %s", error.message, start);
}

TEST_WITH(mistakes_are_named, open_library, close_library) {
  add("kernels/plain.cu", "\n${THREAD}\n");
  expect_error(CUGEN_ERROR_TEMPLATE, "kernels/plain.cu:2: ");
  add("kernels/plain.cu", "//@ include \"factr.cuh\"\n");
  expect_error(CUGEN_ERROR_TEMPLATE, "kernels/plain.cu:1: no template 'factr.cuh': looked for ");
  add("kernels/twice.lua", "kernel \"twice\" {\n  problm \"n\" (1)\n}");
  expect_error(CUGEN_ERROR_CONFIG,
               "kernels/twice.lua:2: unknown declaration 'problm' (nearest 'problem')");
}

TEST_WITH(wrong_use, open_library, close_library) {
  FAILS(cugen_add_file(lib, "../x.cu", "", 0, &err), CUGEN_ERROR_USAGE,
        "'../x.cu' cannot name a file in memory");
  FAILS(cugen_add_file(lib, NULL, "", 0, &err), CUGEN_ERROR_USAGE);
  FAILS(cugen_add_file(lib, "x.cu", NULL, 1, &err), CUGEN_ERROR_USAGE);
  WORKS(cugen_add_file(lib, "x.cu", NULL, 0, &err));
}

TEST_WITH(what_ships_is_listed, open_library, close_library) {
  const char *names[8];
  size_t count = api_configs(lib, names, 8), found = 0;
  assert_true(count >= 1 && count == api_configs(lib, NULL, 0));
  for (size_t i = 0; i < count && i < 8; i++) found += strcmp(names[i], "matmul.lua") == 0;
  assert_int_equal(found, 1);
}
