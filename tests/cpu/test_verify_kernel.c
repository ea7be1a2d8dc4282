/* A user's verify kernel: results that are right in several ways, and everything that makes a
   result wrong. */
#include "api/check.h"
#include "api/tuning.h"
#include "kernels.h"
#include "tests/opening.h"

static void add(cugen *lib, const char *name, const char *content) {
  hold_file(lib, name, content);
}

/* Expects the variant's outcome and largest error, and a reason that contains the text. */
static void runs(cugen_kernel *kernel, const char *variant, cugen_outcome outcome,
                 const char *reason) {
  cugen_error error = {0};
  cugen_record record;
  if (api_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s: %s", variant, error.message);
  if (record.outcome != outcome || !strstr(record.reason, reason))
    fail_msg("%s: %s: %s", variant, outcome_text((int)record.outcome), record.reason);
  assert_true(record.verified == (outcome == CUGEN_OUTCOME_OK || outcome == CUGEN_OUTCOME_WRONG));
}

/* ---- An order of keys, of which there are many ---------------------------------------------- */

#define ORDER(judges)                                                                              \
  "kernel 'order' {\n"                                                                             \
  "  problem 'n' (500),\n"                                                                         \
  "  input 'keys' { dtype = 'i32', shape = { 'n' }, overwrite = true },\n"                         \
  "  output 'place' { dtype = 'i32', shape = { 'n' } },\n"                                         \
  "  inout 'calls' { dtype = 'f32', shape = { 7 } }, scalar 'n' { dtype = 'i32' }, " judges "\n"   \
  "  implementation 'a' { template 'order.cu', tunable 'ties' { 'first', 'last' },\n"              \
  "    tunable 'wrong' { 'no', 'twice', 'order', 'far', 'calls', 'spoils' },\n"                    \
  "    grid { 1 }, block { 512 } },\n"                                                             \
  "}\n"
static const char order_template[] = "__global__ void order(${params}) {\n"
                                     "  const int i = threadIdx.x;\n"
                                     "  int at = 0;\n"
                                     "  for (int k = 0; k < n && i < n; k++)\n"
                                     "    at += keys[k] < keys[i] || (keys[k] == keys[i] &&\n"
                                     "      (${ties == 'first' and 'k < i' or 'k > i'}));\n"
                                     "  __syncthreads();\n"
                                     "  if (i >= n) return;\n"
                                     "  place[at] = i;\n"
                                     "  if (i < 7) calls[i] += 1;\n"
                                     "  __syncwarp();\n"
                                     "//@ if wrong == 'twice' then\n"
                                     "  if (at == 17) place[17] = place[18];\n"
                                     "//@ elseif wrong == 'order' then\n"
                                     "  place[at] = n - 1 - i;\n"
                                     "//@ elseif wrong == 'far' then\n"
                                     "  if (at == 17) place[at] = 300000000;\n"
                                     "//@ elseif wrong == 'calls' then\n"
                                     "  if (i == 3) calls[i] += 1;\n"
                                     "//@ elseif wrong == 'spoils' then\n"
                                     "  keys[i] = -i;\n"
                                     "//@ end\n"
                                     "}\n";
static const char order_verify[] =
    "__global__ void order_verify(${params}) {\n"
    "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
    "  if (t >= count) return;\n"
    "  int found = 0;\n"
    "  for (int k = 0; k < n; k++) found += place[k] == (int)t;\n"
    "  error[t] = found == 1 ? 0.25 : 2;\n"
    "  if (t + 1 < n && keys[place[t]] > keys[place[t + 1]]) error[t] = -3;\n"
    "  if (t < 7 && calls[t] != calls_before[t] + 1) error[t] = 4;\n"
    "}\n";

static void add_order(cugen *lib, const char *config, const char *verify) {
  add(lib, "order.lua", config);
  add(lib, "order.cu", order_template);
  add(lib, "order_verify.cu", verify);
}

TEST(any_order_is_right) {
  cugen *lib = *state;
  add_order(lib, ORDER("verify 'order_verify.cu',"), order_verify);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "order.lua", NULL, 0);
  assert_true(run_variant(kernel, "a ties=first wrong=no") == 0.25);
  assert_true(run_variant(kernel, "a ties=last wrong=no") == 0.25);
  runs(kernel, "a ties=last wrong=spoils", CUGEN_OUTCOME_OK, "");
  runs(kernel, "a ties=first wrong=twice", CUGEN_OUTCOME_WRONG, "order_verify.cu: place[");
  runs(kernel, "a ties=first wrong=twice", CUGEN_OUTCOME_WRONG, "] is off by 2, allowed is 1; ");
  runs(kernel, "a ties=first wrong=order", CUGEN_OUTCOME_WRONG, "] is off by -3, allowed is 1; ");
  runs(kernel, "a ties=first wrong=calls", CUGEN_OUTCOME_WRONG,
       "place[3] is off by 4, allowed is 1; 1 of 500 ");
  runs(kernel, "a ties=first wrong=far", CUGEN_OUTCOME_WRONG,
       "the verify kernel order_verify.cu: ");
}

TEST(it_works_in_tune_and_check) {
  cugen *lib = *state;
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_check_options check_options = {0};
  cugen_check check;
  cugen_error error = {0};
  add_order(lib, ORDER("verify 'order_verify.cu:order_verify',"), order_verify);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "order.lua", NULL, 0);
  options.strategy = "exhaustive";
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, 12);
  assert_int_equal(result.failed, 8);
  check_options.variant = "a ties=last wrong=no";
  WORKS(api_kernel_check(kernel, &check_options, &check, &err));
  assert_int_equal(check.finding_count, 0);
  check_options.variant = "a ties=last wrong=calls";
  assert_int_not_equal(api_kernel_check(kernel, &check_options, &check, &error), CUGEN_OK);
  assert_int_equal(check.finding_count, 1);
}

/* ---- What it stores ------------------------------------------------------------------------- */

TEST(nan_and_nothing_are_wrong) {
  static const struct {
    const char *line, *reason;
  } cases[] = {
      {"if (t == 5) error[t] = nan(\"\");",
       "order_verify.cu: place[5] is off by nan, allowed is 1; 1 of 500 "},
      {"if (t == 5) error[t] = 1.0000001;",
       "order_verify.cu: place[5] is off by 1.0000001, allowed is 1; 1 of 500 "},
      {"error[t] = t == 5 ? 1 / 0.0 : 0;",
       "order_verify.cu: place[5] is off by inf, allowed is 1; 1 of 500 "},
      {"", "the verify kernel order_verify.cu does not write the error of place[0]"},
      {"if (t != 499) error[t] = 0;",
       "the verify kernel order_verify.cu does not write the error of place[499]"},
      {"error[t] = 0; error[500] = 0;", "the verify kernel order_verify.cu: "},
  };
  cugen *lib = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const bool first = strncmp(cases[i].line, "if (t == 5)", 11) == 0;
    const char *verify = formed("__global__ void order_verify(${params}) {\n"
                                "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
                                "  if (t >= count) return;\n  %s\n  %s\n}\n",
                                first ? "error[t] = 1;" : "", cases[i].line);
    add_order(lib, ORDER("verify 'order_verify.cu',"), verify);
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, "order.lua", NULL, 0);
    runs(kernel, "a ties=first wrong=no", CUGEN_OUTCOME_WRONG, cases[i].reason);
  }
}

/* In this process guards find the write, which is not the variant's. */
TEST(a_write_behind_the_errors_is_no_bounds_of_the_variant) {
  cugen *lib = *state;
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_error error = {0};
  add_order(lib, ORDER("verify 'order_verify.cu',"),
            "__global__ void order_verify(${params}) {\n"
            "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
            "  if (t <= count) error[t] = 0;\n"
            "}\n");
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "order.lua", NULL, 0);
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.budget_count = 1;
  assert_int_equal(api_kernel_tune(kernel, &options, &result, &error), CUGEN_ERROR_WRONG);
  if (!strstr(error.message, "': wrong result: the verify kernel order_verify.cu: out of bounds"))
    fail_msg("%s", error.message);
}

/* A verify kernel that cannot run at all is no variant's fault. */
TEST(a_broken_one_ends_the_run) {
  static const struct {
    const char *verify, *message;
  } cases[] = {
      {"__global__ void order_verify(${params}) { nonsense; }\n",
       "order.lua:5: the verify kernel order_verify.cu does not compile"},
      {"__global__ void order_verify(int n, double *error) {}\n",
       "the verify kernel order_verify.cu"},
      {"int x;\n", "template 'order_verify.cu' has no __global__ function"},
  };
  cugen *lib = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cugen_error error = {0};
    cugen_record record;
    add_order(lib, ORDER("verify 'order_verify.cu',"), cases[i].verify);
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, "order.lua", NULL, 0);
    assert_int_not_equal(api_kernel_run(kernel, "a ties=first wrong=no", 60, &record, &error),
                         CUGEN_OK);
    if (!strstr(error.message, cases[i].message)) fail_msg("%s", error.message);
  }
}

/* ---- Beside a reference --------------------------------------------------------------------- */

TEST(both_must_agree) {
  static const char reference[] =
      "__global__ void order_reference(${params}) {\n"
      "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
      "  if (t >= sample_count) return;\n"
      "  int at = 0;\n"
      "  for (int i = 0; i < n; i++, at = 0) {\n"
      "    for (int k = 0; k < n; k++)\n"
      "      at += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);\n"
      "    if (at == t) place[t] = i;\n"
      "  }\n"
      "  if (t < 7) calls[t] += 1;\n"
      "}\n";
  cugen *lib = *state;
  add_order(lib, ORDER("reference 'order_reference.cu', verify 'order_verify.cu',"), order_verify);
  add(lib, "order_reference.cu", reference);
  cugen_kernel *kernel = open_kernel(lib, "order.lua", NULL, 0);
  assert_true(run_variant(kernel, "a ties=first wrong=no") == 0.25);
  /* only the reference forbids this order */
  runs(kernel, "a ties=last wrong=no", CUGEN_OUTCOME_WRONG, "place[0] is ");
  cugen_kernel_close(kernel);
  add(lib, "order_verify.cu",
      "__global__ void order_verify(${params}) {\n"
      "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
      "  if (t < count) error[t] = t == 499 ? 7 : 0;\n"
      "}\n");
  kernel = open_kernel(lib, "order.lua", NULL, 0);
  runs(kernel, "a ties=first wrong=no", CUGEN_OUTCOME_WRONG,
       "order_verify.cu: place[499] is off by 7");
  cugen_kernel_close(kernel);
}

ALL_TESTS_WITH(open_library, close_library);
