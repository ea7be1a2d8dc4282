/* Plans, and tuning, of only the variants that give the same bits as a named one. The third
   order of the sum counts its launches. */
#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

enum { ROWS = 40, COLS = 100 };

static const char config[] =
    "kernel 'bits' { problem 'rows' (40), problem 'cols' (100), tunable 'ORDER' { 0, 1, 2 },"
    "  output 'y' { dtype = 'f32', shape = { 'rows' } }, input 'x' { dtype = 'f32', shape = { "
    "'rows', 'cols' } },"
    "  scalar 'rows' { dtype = 'i32' }, scalar 'cols' { dtype = 'i32' }, reference 'none',"
    "  implementation 'sum' { template 'bits.cu', tunable 'THREADS' { 32, 64 },"
    "    grid { 'ceil_div(rows, THREADS)' }, block { 'THREADS' } } }";
static const char template[] =
    "__device__ int launches;\n"
    "extern \"C\" __global__ void bits(float *y, const float *x, int rows, int cols) {\n"
    "  const int row = blockIdx.x * THREADS + threadIdx.x;\n"
    "  if (row >= rows) return;\n"
    "  if (ORDER == 2 && row == 0) launches++;\n"
    "  float sum = ORDER == 2 ? 0.001f * launches : 0.0f;\n"
    "  for (int i = 0; i < cols; i++) sum += x[row * cols + (ORDER == 1 ? cols - 1 - i : i)];\n"
    "  y[row] = sum;\n}\n";

static cugen_error error;

struct fixture {
  cugen *lib;
  cugen_kernel *kernel;
};

static int set_up(void **state) {
  static struct fixture f;
  f.lib = OPEN_LIBRARY(.device = "cpu", .cache = "none");
  hold_file(f.lib, "bits.lua", config);
  hold_file(f.lib, "bits.cu", template);
  f.kernel = kernel_of(f.lib, "bits", NULL, 0);
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  cugen_kernel_close(f->kernel);
  cugen_close(f->lib);
  return 0;
}

static int open_plan(struct fixture *f, const char *bitwise, unsigned flags, cugen_plan **out) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  options.bitwise = bitwise;
  options.flags = flags;
  return cugen_plan_open(f->kernel, &options, out, &error);
}

/* Runs on numbers whose sum depends on the order. */
static void run(cugen_plan *plan, float *y) {
  static float x[ROWS * COLS];
  int rows = ROWS, cols = COLS;
  for (int i = 0; i < ROWS * COLS; i++) x[i] = 1.0f / (float)(1 + i % 97);
  void *arguments[] = {y, x, &rows, &cols};
  CLOSED(cugen_call) *call = call_of(plan, arguments, 4);
  WORKS(cugen_call_launch(call, NULL, &err));
}

static cugen_tune_result tune(struct fixture *f, const char *bitwise) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  options.bitwise = bitwise;
  options.budget_seconds = -1;
  WORKS(api_kernel_tune(f->kernel, &options, &result, &err));
  return result;
}

TEST_WITH(the_named_one_serves_where_nothing_is_recorded, set_up, tear_down) {
  cugen_plan *plan;
  if (open_plan(*state, "sum ORDER=1 THREADS=64", 0, &plan)) fail_msg("%s", error.message);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_string_equal(info->variant, "sum ORDER=1 THREADS=64");
  assert_int_equal(info->choice, CUGEN_PLAN_DEFAULT);
  assert_false(info->predicted);
  cugen_plan_close(plan);
  assert_int_equal(open_plan(*state, "sum ORDER=1", CUGEN_PLAN_TUNED_ONLY, &plan),
                   CUGEN_ERROR_USAGE);
}

TEST_WITH(tuning_ranks_what_is_equal_first, set_up, tear_down) {
  struct fixture *f = *state;
  cugen_record record;
  const cugen_tune_result result = tune(f, "sum ORDER=1 THREADS=64");
  assert_string_equal(result.equal_to, "sum ORDER=1 THREADS=64");
  assert_int_equal(record_count(f->kernel), 6);
  for (size_t i = 0; i < 6; i++) {
    record = record_at(f->kernel, i);
    assert_int_equal(record.outcome, CUGEN_OUTCOME_OK);
    assert_int_equal(strncmp(record.variant, "sum ORDER=1", 11) == 0, i < 2);
    assert_int_equal(memcmp(&record.outputs, &result.outputs, sizeof record.outputs) == 0, i < 2);
    assert_int_equal(record.outputs.seed, 1);
    assert_int_equal(record.outputs.varies, strncmp(record.variant, "sum ORDER=2", 11) == 0);
  }
  assert_false(tune(f, NULL).outputs.known);
}

/* The plan takes the best of the equal variants, whichever variant is the fastest of all. */
TEST_WITH(a_plan_takes_the_best_of_what_is_equal, set_up, tear_down) {
  float bits[2][ROWS], other[ROWS];
  const char *const names[] = {"sum ORDER=0 THREADS=32", "sum ORDER=1 THREADS=32"};
  tune(*state, "sum ORDER=0");
  for (int order = 0; order < 2; order++) {
    CLOSED(cugen_plan) *plan;
    if (open_plan(*state, names[order], CUGEN_PLAN_TUNED_ONLY, &plan))
      fail_msg("%s", error.message);
    const cugen_plan_info *info = cugen_plan_about(plan);
    assert_int_equal(strncmp(info->variant, names[order], 11), 0);
    assert_int_equal(info->choice, CUGEN_PLAN_EXACT);
    run(plan, bits[order]);
    run(plan, other);
    assert_memory_equal(bits[order], other, sizeof other);
  }
  assert_memory_not_equal(bits[0], bits[1], sizeof other);
}

static void refuse(struct fixture *f, const char *bitwise, const char *what) {
  cugen_plan *plan;
  assert_int_equal(open_plan(f, bitwise, 0, &plan), CUGEN_ERROR_USAGE);
  if (!strstr(error.message, what)) fail_msg("%s", error.message);
}

TEST_WITH(what_cannot_be_named_is_refused, set_up, tear_down) {
  struct fixture *f = *state;
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  cugen_plan *plan;
  tune(f, NULL);
  refuse(f, "sum ORDER=2", "differ from launch to launch");
  refuse(f, "sum ORDER=3", "cugen_plan_options.bitwise: ORDER has no value");
  options.bitwise = options.choice = "sum";
  options.choice_size = 3;
  FAILS(cugen_plan_open(f->kernel, &options, &plan, &err), CUGEN_ERROR_USAGE);
  tuning.bitwise = "sum ORDER=2 THREADS=32";
  FAILS(api_kernel_tune(f->kernel, &tuning, NULL, &err), CUGEN_ERROR_USAGE,
        "cugen_tune_options.bitwise 'sum ORDER=2 THREADS=32': its results differ");
}

/* A variant that is recorded to fail is refused as the name; before tuning it served a plan of
   that name. */
TEST_WITH(one_that_is_recorded_to_fail_is_refused, set_up, tear_down) {
  static const char broken[] =
      "kernel 'broken' { problem 'rows' (40), tunable 'ORDER' { 0, 1 }, output 'y' { dtype "
      "= 'f32', shape = { 'rows' } },"
      "  scalar 'rows' { dtype = 'i32' }, reference 'none',"
      "  implementation 'sum' { template 'broken.cu', grid { 1 }, block { 64 } } }";
  static const char source[] =
      "extern \"C\" __global__ void broken(float *y, int rows) {\n"
      "  if (threadIdx.x < rows) y[threadIdx.x + (ORDER == 1 ? 1 : 0)] = 1.0f;\n}\n";
  struct fixture f = *(struct fixture *)*state;
  cugen_plan *plan = NULL;
  hold_file(f.lib, "broken.lua", broken);
  hold_file(f.lib, "broken.cu", source);
  f.kernel = kernel_of(f.lib, "broken", NULL, 0);
  if (open_plan(&f, "sum ORDER=1", 0, &plan)) fail_msg("%s", error.message);
  cugen_plan_close(plan);
  tune(&f, NULL);
  refuse(
      &f, "sum ORDER=1",
      "cugen_plan_options.bitwise 'sum ORDER=1': for this problem it is recorded to fail: out of");
  if (open_plan(&f, "sum ORDER=0", 0, &plan)) fail_msg("%s", error.message);
  cugen_plan_close(plan);
  cugen_kernel_close(f.kernel);
}
