/* A plan that explores on the cpu device: every launch gives the right result, whichever variant
   made it, and the share of explored launches is kept. Which variant is the fastest depends on
   the machine and is not tested. */
#include "api/tuning.h"
#include "tests/opening.h"

enum { N = 1000, LAUNCHES = 3000 };

#define CONFIG(reference)                                                                          \
  "kernel 'add' { problem 'n' (1000), output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = "   \
  "'1e-6' },"                                                                                      \
  "  inout 'count' { dtype = 'f32', shape = { 'n' }, tolerance = '1e-6' }, input 'x' { dtype = "   \
  "'f32', shape = { "                                                                              \
  "'n' } },"                                                                                       \
  "  scalar 'n' { dtype = 'i32' }, reference " reference ","                                       \
  "  implementation 'one' { template 'add.cu', tunable 'threads' { 32, 64, 128, 256 },"            \
  "    grid { 'ceil_div(n, threads)' }, block { 'threads' } } }"
static const char config[] = CONFIG("'add_reference.cu'"), unproved[] = CONFIG("'none'");
static const char template[] =
    "extern \"C\" __global__ void add(float *y, float *count, const float *x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] + 1.0f, count[i] "
    "+= 1.0f;\n}\n";
static const char reference[] = "__global__ void reference(${params}) {\n"
                                "  const long long t = (long long)blockIdx.x * blockDim.x + "
                                "threadIdx.x;\n  if (t >= sample_count) return;\n"
                                "  const long long e = samples ? samples[t] : t;\n  y[t] = x[e] + "
                                "1.0;\n  count[e] += 1.0;\n}\n";

static cugen_error error;

static void check(int status) {
  if (status) fail_msg("%s", error.message);
}

static cugen *open_library(const char *text, size_t length, cugen_kernel **kernel) {
  cugen_tune_options all = CUGEN_TUNE_OPTIONS_INIT;
  all.budget_seconds = -1;
  cugen *lib = OPEN_LIBRARY(.device = "cpu", .cache = "none");
  check(cugen_add_file(lib, "add.lua", text, length, &error));
  hold_file(lib, "add.cu", template);
  hold_file(lib, "add_reference.cu", reference);
  *kernel = kernel_of(lib, "add", NULL, 0);
  check(api_kernel_tune(*kernel, &all, NULL, &error));
  return lib;
}

static cugen_plan *open_plan(cugen_kernel *kernel, cugen_plan_exploration *explored) {
  cugen_plan *plan =
      OPEN_PLAN(kernel, .flags = CUGEN_PLAN_EXPLORE | CUGEN_PLAN_TUNED_ONLY, .explore_share = 0.25);
  check(cugen_plan_explored(plan, explored, &error));
  return plan;
}

/* Data changed in place shows that each launch of the call is one launch of the kernel. */
TEST(launches_are_right) {
  float *x = aligned_alloc(64, 4096), *y = aligned_alloc(64, 4096),
        *count = aligned_alloc(64, 4096);
  void *arguments[] = {y, count, x, NULL};
  cugen_kernel *kernel;
  cugen *lib = open_library(config, sizeof config - 1, &kernel);
  cugen_plan_exploration explored;
  cugen_plan *plan = open_plan(kernel, &explored);
  /* Explored are variants within twice the best; on a busy machine there may be none. */
  const bool explores = explored.variants > 1;
  assert_in_range(explored.variants, 1, 4);
  for (int i = 0; i < N; i++) x[i] = (float)i, count[i] = 0;
  cugen_call *call = call_of(plan, arguments, 4);
  for (int launch = 1; launch <= LAUNCHES; launch++) {
    memset(y, 0xff, N * sizeof *y);
    check(cugen_call_launch(call, NULL, &error));
    for (int i = 0; i < N; i++)
      if (y[i] != (float)(i + 1) || count[i] != (float)launch)
        fail_msg("launch %d, element %d", launch, i);
  }
  check(cugen_plan_explored(plan, &explored, &error));
  assert_true(explored.settled);
  assert_int_equal(explored.explored > 0, explores);
  assert_true((double)explored.explored <= 0.25 * (double)explored.launches);
  char *served = strdup(explored.variant);
  cugen_call_close(call);
  cugen_plan_close(plan);
  plan = open_plan(kernel, &explored);
  assert_string_equal(cugen_plan_about(plan)->variant, served);
  assert_int_equal(explored.variants, 1);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  free(served), free(x), free(y), free(count);
}

TEST(what_nobody_compared_is_not_explored) {
  cugen_kernel *kernel;
  cugen *lib = open_library(unproved, sizeof unproved - 1, &kernel);
  cugen_plan_exploration explored;
  cugen_plan_close(open_plan(kernel, &explored));
  assert_int_equal(explored.variants, 1);
  cugen_kernel_close(kernel);
  cugen_close(lib);
}
