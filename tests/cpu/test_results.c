/* Results against references: outputs of different sizes under one reference, and references
   that leave out some elements. */
#include "api/check.h"
#include "api/records.h"
#include "api/tuning.h"
#include "kernels.h"
#include "tests/opening.h"

static void add(cugen *lib, const char *name, const char *content) {
  hold_file(lib, name, content);
}

/* Returns the reason without the check problem that it may begin with. */
static const char *without_problem(const char *reason) {
  const char *end = strncmp(reason, "on the check problem ", 21) == 0 ? strstr(reason, ": ") : NULL;
  return end ? end + 2 : reason;
}

/* Expects the variant's outcome, and a reason that begins with the text. */
static void runs(cugen *lib, const char *config, const char *setting, const char *variant,
                 cugen_outcome outcome, const char *reason) {
  cugen_error error = {0};
  cugen_record record;
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, config, &setting, 1);
  if (api_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s: %s", variant, error.message);
  if (record.outcome != outcome ||
      strncmp(without_problem(record.reason), reason, strlen(reason)) != 0)
    fail_msg("%s: %s: %s", variant, outcome_text((int)record.outcome), record.reason);
}

/* ---- Outputs of different sizes ------------------------------------------------------------- */

/* flops: above 10^12 the outputs are sampled. last is -1, which a reference's outputs are also
   poisoned with. */
static const char sizes_config[] =
    "kernel 'sizes' {\n"
    "  problem 'n' (20000), problem 'work' { 'small', 'large' },\n"
    "  input 'x' { dtype = 'f32', shape = { 'n' } },\n"
    "  output 'few' { dtype = 'f32', shape = { 5 } }, output 'y' { dtype = 'f32', shape = { 'n' } "
    "},\n"
    "  output 'z' { dtype = 'f32', shape = { '2 * n' } }, output 'last' { dtype = 'i32', shape = { "
    "1 } },\n"
    "  inout 'w' { dtype = 'f32', shape = { 7 } }, scalar 'n' { dtype = 'i32' },\n"
    "  flops \"work == 'small' and 1 or 2000000000000\", reference 'sizes_reference.cu',\n"
    "  implementation 'a' { template 'sizes.cu', tunable 'wrong' { 'no', 'few', 'y', 'z', 'last', "
    "'w' },\n"
    "    grid { 'ceil_div(n, 128)' }, block { 128 } },\n"
    "}\n";
static const char sizes_template[] =
    "__global__ void sizes(${params}) {\n"
    "  const int i = blockIdx.x * 128 + threadIdx.x;\n"
    "  if (i < n) y[i] = z[i] = z[i + n] = x[i];\n"
    "  if (i < 5) few[i] = x[i];\n"
    "  if (i < 7) w[i] += 2;\n"
    "  if (i == 0) *last = -1;\n"
    "//@ local places = { few = 4, y = n - 1, z = 2 * n - 1, last = 0, w = 6 }\n"
    "//@ if wrong ~= 'no' then\n"
    "  if (i == ${places[wrong]} % n) ${wrong}[${places[wrong]}] += 3;\n"
    "//@ end\n"
    "}\n";
static const char sizes_reference[] = "__global__ void sizes_reference(${params}) {\n"
                                      "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
                                      "  if (t >= sample_count) return;\n"
                                      "  const long long e = samples ? samples[t] : t;\n"
                                      "  if (e < n) y[t] = x[e];\n"
                                      "  if (e < 2 * n) z[t] = x[e % n];\n"
                                      "  if (e < 5) few[t] = x[e];\n"
                                      "  if (e < 7 && w[e] < 1) w[e] += 2;\n"
                                      "  if (e < 1) last[t] = -1;\n"
                                      "}\n";

TEST(outputs_differ_in_size) {
  static const char *const settings[] = {"work=small", "work=large"};
  cugen *lib = *state;
  add(lib, "sizes.lua", sizes_config);
  add(lib, "sizes.cu", sizes_template);
  add(lib, "sizes_reference.cu", sizes_reference);
  for (size_t s = 0; s < 2; s++) {
    runs(lib, "sizes.lua", settings[s], "a wrong=no", CUGEN_OUTCOME_OK, "");
    runs(lib, "sizes.lua", settings[s], "a wrong=few", CUGEN_OUTCOME_WRONG, "few[4] is ");
    runs(lib, "sizes.lua", settings[s], "a wrong=y", CUGEN_OUTCOME_WRONG, "y[19999] is ");
    runs(lib, "sizes.lua", settings[s], "a wrong=z", CUGEN_OUTCOME_WRONG, "z[39999] is ");
    runs(lib, "sizes.lua", settings[s], "a wrong=last", CUGEN_OUTCOME_WRONG,
         "last[0] is 2, should be -1; 1 of 1 ");
  }
  runs(lib, "sizes.lua", settings[0], "a wrong=w", CUGEN_OUTCOME_WRONG, "w[6] is ");
}

/* If the reference does not write an element that is due, the reference is to blame, not the
   kernel, and the kernel is never right. */
TEST(a_reference_forgets_an_output) {
  static const struct {
    const char *from, *to, *named;
  } cases[] = {
      {"if (e < 2 * n) z[t] = x[e % n];", "", "z[0]"},
      {"if (e < 2 * n)", "if (e < n)", "z[20000]"},
      {"if (e < 5) few[t]", "if (e < 4) few[t]", "few[4]"},
      {"if (e < 1) last[t] = -1;", "", "last[0]"},
      {"if (t >= sample_count) return;", "if (t >= sample_count || t >= n) return;", "z[20000]"},
  };
  cugen *lib = *state;
  add(lib, "sizes.lua", sizes_config);
  add(lib, "sizes.cu", sizes_template);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text reference = {0};
    const char *setting = "work=small";
    cugen_record record;
    text_add(&reference, sizes_reference);
    replace(&reference, "", cases[i].from, cases[i].to);
    add_text(lib, "sizes_reference.cu", &reference);
    text_free(&reference);
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, "sizes.lua", &setting, 1);
    FAILS(api_kernel_run(kernel, "a wrong=no", 60, &record, &err), CUGEN_ERROR_CONFIG,
          "the reference sizes_reference.cu: it does not write ", cases[i].named);
  }
}

/* The record of a run takes the place of the loaded records, and is freed when records are loaded
   again, which a leak sanitizer sees. */
TEST(records_follow_a_run) {
  const char *setting = "work=small";
  cugen *lib = *state;
  add(lib, "sizes.lua", sizes_config);
  add(lib, "sizes.cu", sizes_template);
  add(lib, "sizes_reference.cu", sizes_reference);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "sizes.lua", &setting, 1);
  for (int i = 0; i < 2; i++) {
    cugen_record record;
    size_t count;
    WORKS(api_kernel_run(kernel, "a wrong=no", 60, &record, &err));
    assert_non_null(api_records(kernel, &count));
    assert_int_equal(count, 0);
  }
}

/* ---- Inputs that may be overwritten --------------------------------------------------------- */

static const char spare_config[] =
    "kernel 'spare' {\n"
    "  problem 'n' (1000), problem 'may' { true, false },\n"
    "  input 'x' { dtype = 'f32', shape = { 'n' }, overwrite = 'may' },\n"
    "  output 'y' { dtype = 'f32', shape = { 'n' } }, scalar 'n' { dtype = 'i32' },\n"
    "  reference 'spare_reference.cu',\n"
    "  implementation 'a' { template 'spare.cu', tunable 'shift' { 0, 1 }, tunable 'threads' { 64, "
    "128 },\n"
    "    grid { 'ceil_div(n, threads)' }, block { 'threads' } },\n"
    "}\n";
static const char spare_template[] = "__global__ void spare(${params}) {\n"
                                     "  const int i = blockIdx.x * threads + threadIdx.x;\n"
                                     "  if (i >= n) return;\n"
                                     "//@ if may then\n"
                                     "  x[i] *= 2;\n"
                                     "  y[i] = x[i] + shift;\n"
                                     "//@ else\n"
                                     "  const_cast<float *>(x)[i] *= 2;\n"
                                     "  y[i] = x[i];\n"
                                     "//@ end\n"
                                     "}\n";
static const char spare_reference[] =
    "__global__ void spare_reference(${params}) {\n"
    "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
    "  const x_t *given = x;\n"
    "  if (t < sample_count) y[t] = 2 * given[samples ? samples[t] : t];\n"
    "}\n";

TEST(an_input_may_be_overwritten) {
  cugen *lib = *state;
  const char *const settings[] = {"may=true"};
  add(lib, "spare.lua", spare_config);
  add(lib, "spare.cu", spare_template);
  add(lib, "spare_reference.cu", spare_reference);
  runs(lib, "spare.lua", "may=true", "a shift=0 threads=64", CUGEN_OUTCOME_OK, "");
  runs(lib, "spare.lua", "may=true", "a shift=1 threads=64", CUGEN_OUTCOME_WRONG, "y[0] is ");
  runs(lib, "spare.lua", "may=false", "a shift=0 threads=64", CUGEN_OUTCOME_WRONG,
       "wrote to input x: ");
  /* Two variants after each other in one worker: each finds the buffer filled. */
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "spare.lua", settings, 1);
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_argument_info argument;
  cugen_check_options check_options = {0};
  cugen_check check;
  options.strategy = "exhaustive";
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_true(result.tried == 4 && result.failed == 2);
  WORKS(cugen_kernel_argument(kernel, 0, &argument, &err));
  assert_true(argument.overwrite);
  check_options.variant = "a shift=0 threads=128";
  WORKS(api_kernel_check(kernel, &check_options, &check, &err));
}

/* Each launch finds its indices as they were given, however many launches there were before. */
TEST(what_is_changed_is_an_index) {
  cugen *lib = *state;
  const char *const attributes[][2] = {{"input", ", overwrite = true"}, {"inout", ""}};
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    struct text config = {0};
    text_addf(
        &config,
        "kernel 'order' {\n"
        "  problem 'n' (1000),\n"
        "  %s 'at' { dtype = 'i32', shape = { 'n' }, values = 'n - 1 - i0'%s },\n"
        "  input 'x' { dtype = 'f32', shape = { 'n' } }, scalar 'n' { dtype = 'i32' },\n"
        "  output 'y' { dtype = 'f32', shape = { 'n' } },\n"
        "  reference 'order_reference.cu',\n"
        "  implementation 'a' { template 'order.cu', grid { 'ceil_div(n, 64)' }, block { 64 } },\n"
        "}\n",
        attributes[i][0], attributes[i][1]);
    add_text(lib, "order.lua", &config);
    text_free(&config);
    add(lib, "order.cu",
        "__global__ void order(${params}) {\n"
        "  const int i = blockIdx.x * 64 + threadIdx.x;\n"
        "  if (i >= n) return;\n"
        "  y[i] = x[at[i]];\n"
        "  at[i] = 1000000000;\n"
        "}\n");
    add(lib, "order_reference.cu",
        i ? "__global__ void order_reference(${params}) {\n"
            "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
            "  if (t < sample_count) y[t] = x[at[t]], at[t] = 1000000000;\n"
            "}\n"
          : "__global__ void order_reference(${params}) {\n"
            "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
            "  if (t < sample_count) y[t] = x[at[t]];\n"
            "}\n");
    runs(lib, "order.lua", "n=1000", "a", CUGEN_OUTCOME_OK, "");
  }
}

ALL_TESTS_WITH(open_library, close_library);
