/* Functions refuse what the header forbids: NULL pointers, options of another size. */
#include "api/cache.h"
#include "api/check.h"
#include "api/explain.h"
#include "api/export/bundle.h"
#include "api/kernel.h"
#include "api/learning.h"
#include "api/machine.h"
#include "api/records.h"
#include "api/source.h"
#include "api/transfer.h"
#include "api/tuning.h"
#include "api/why.h"
#include "tests/opening.h"

static cugen *lib;
static cugen_kernel *kernel;
static cugen_plan *plan;
static cugen_error error;

FIXTURE(open_all) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = "cpu";
  options.cache = "none";
  int status = cugen_open(&options, &lib, &error);
  if (!status) status = cugen_kernel_open(lib, "tests/configs/wild.lua", NULL, 0, &kernel, &error);
  if (!status) status = api_kernel_use_check(kernel, &error);
  if (!status) status = cugen_plan_open(kernel, NULL, &plan, &error);
  if (status) print_error("%s\n", error.message);
  return status;
}

FIXTURE(close_all) {
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  return 0;
}

/* ---- NULL ----------------------------------------------------------------------------------- */

static void expect(int status, const char *message) {
  if (status != CUGEN_ERROR_USAGE || strcmp(error.message, message) != 0)
    fail_msg("%d: %s\n  instead of: %s", status, error.message, message);
  error = (cugen_error){0};
}

#define REFUSES(function, arguments, name)                                                         \
  expect(function arguments, #function ": " name " is NULL")

TEST(test_library) {
  const char *const words[] = {"devices", NULL};
  const char *json;
  REFUSES(cugen_open, (NULL, NULL, &error), "out");
  REFUSES(cugen_command, (NULL, words, 1, &json, &error), "lib");
  REFUSES(cugen_command, (lib, NULL, 1, &json, &error), "words");
  REFUSES(cugen_command, (lib, words, 1, NULL, &error), "json");
  FAILS_WITH(cugen_command(lib, words, 2, &json, &err), CUGEN_ERROR_USAGE,
             "cugen_command: words[1] is NULL");
  assert_null(json);
  REFUSES(cugen_add_file, (NULL, "a.lua", "", 0, &error), "lib");
  REFUSES(cugen_add_file, (lib, NULL, "", 0, &error), "name");
  REFUSES(cugen_add_file, (lib, "a.lua", NULL, 1, &error), "text");
  cugen_close(library_of(NULL));
  cugen_close(NULL);
}

TEST(test_kernel) {
  cugen_kernel *out;
  const char *const settings[] = {"n=64", NULL}, *text;
  cugen_argument_info argument;
  REFUSES(cugen_kernel_open, (NULL, "wild", NULL, 0, &out, &error), "lib");
  assert_null(out);
  REFUSES(cugen_kernel_open, (lib, NULL, NULL, 0, &out, &error), "config");
  REFUSES(cugen_kernel_open, (lib, "wild", NULL, 1, &out, &error), "settings");
  REFUSES(cugen_kernel_open, (lib, "wild", settings, 2, &out, &error), "settings[1]");
  REFUSES(cugen_kernel_open, (lib, "wild", NULL, 0, NULL, &error), "out");
  REFUSES(cugen_kernel_argument, (NULL, 0, &argument, &error), "kernel");
  REFUSES(cugen_kernel_argument, (kernel, 0, NULL, &error), "out");
  REFUSES(cugen_kernel_source, (NULL, NULL, &text, NULL, &error), "kernel");
  REFUSES(cugen_kernel_source, (kernel, NULL, NULL, NULL, &error), "source");
  cugen_kernel_close(NULL);
}

TEST(test_work) {
  size_t count;
  REFUSES(cugen_kernel_tune, (NULL, NULL, NULL, &error), "kernel");
  REFUSES(cugen_kernels_tune, (NULL, 1, NULL, NULL, &error), "kernels");
  const char *json;
  REFUSES(cugen_kernel_records, (NULL, &json, &error), "kernel");
  REFUSES(cugen_kernel_records, (kernel, NULL, &error), "out");
  const void *bytes;
  REFUSES(cugen_plan_save, (NULL, &bytes, &count, &error), "plan");
  REFUSES(cugen_plan_save, (plan, NULL, &count, &error), "bytes");
  REFUSES(cugen_plan_save, (plan, &bytes, NULL, &error), "size");
}

TEST(test_cache) {
  REFUSES(cugen_cache_import, (NULL, "file", NULL, &error), "lib");
  REFUSES(cugen_cache_import, (lib, NULL, NULL, &error), "path");
}

TEST(test_plan) {
  cugen_plan *out;
  void *address;
  size_t bytes;
  cugen_call *call;
  cugen_plan_exploration explored;
  cugen_argument_info argument;
  REFUSES(cugen_plan_open, (NULL, NULL, &out, &error), "kernel");
  assert_null(out);
  REFUSES(cugen_plan_open, (kernel, NULL, NULL, &error), "out");
  REFUSES(cugen_plan_explored, (NULL, &explored, &error), "plan");
  REFUSES(cugen_plan_explored, (plan, NULL, &error), "out");
  REFUSES(cugen_plan_for, (NULL, NULL, 0, NULL, &out, &error), "kernel");
  REFUSES(cugen_plan_for, (kernel, NULL, 1, NULL, &out, &error), "arrays");
  REFUSES(cugen_plan_for, (kernel, NULL, 0, NULL, NULL, &error), "out");
  REFUSES(cugen_plan_argument, (NULL, 0, &argument, &error), "plan");
  REFUSES(cugen_plan_argument, (plan, 0, NULL, &error), "out");
  REFUSES(cugen_plan_symbol, (NULL, "x", &address, &bytes, &error), "plan");
  REFUSES(cugen_plan_symbol, (plan, NULL, &address, &bytes, &error), "name");
  REFUSES(cugen_plan_write, (NULL, "x", 0, "", 1, NULL, &error), "plan");
  REFUSES(cugen_plan_write, (plan, NULL, 0, "", 1, NULL, &error), "name");
  REFUSES(cugen_plan_write, (plan, "x", 0, NULL, 1, NULL, &error), "from");
  REFUSES(cugen_plan_read, (NULL, "x", 0, &bytes, 1, NULL, &error), "plan");
  REFUSES(cugen_plan_read, (plan, NULL, 0, &bytes, 1, NULL, &error), "name");
  REFUSES(cugen_plan_read, (plan, "x", 0, NULL, 1, NULL, &error), "to");
  REFUSES(cugen_call_bind, (NULL, NULL, 0, &call, &error), "plan");
  assert_null(call);
  REFUSES(cugen_call_bind, (plan, NULL, 5, &call, &error), "arguments");
  REFUSES(cugen_call_bind, (plan, NULL, 0, NULL, &error), "out");
  REFUSES(cugen_call_rebind, (NULL, NULL, 0, &error), "call");
  REFUSES(cugen_call_launch, (NULL, NULL, &error), "call");
  cugen_plan_close(NULL);
  cugen_call_close(NULL);
}

/* ---- Variables ------------------------------------------------------------------------------ */

static const char const_config[] =
    "kernel \"fixed\" {\n"
    "  input \"w\" { dtype = \"f32\", shape = { 4 }, access = \"symbol\" },\n"
    "  output \"y\" { dtype = \"f32\", shape = { 4 } },\n"
    "  reference \"fixed_reference.cu\",\n"
    "  implementation \"one\" { template \"fixed.cu\", grid { 1 }, block { 4 } },\n"
    "}\n";
static const char const_template[] =
    "extern const __device__ float w[4] = {1, 2, 3, 4};\n"
    "const float values[4] = {5, 6, 7, 8};\n"
    "extern const __device__ float *const at[2] = {values, values + 1};\n"
    "__global__ void fixed(float *y) { y[threadIdx.x] = w[threadIdx.x]; }\n";
static const char const_reference[] =
    "__global__ void fixed_reference(const float *w, float *y, const long long *samples, "
    "long long sample_count) {}\n";

/* A variable in read-only memory is read in place and never written, which would end the
   process. */
TEST(test_const_variable) {
  CLOSED(cugen_kernel) *opened;
  CLOSED(cugen_plan) *fixed = NULL;
  CLOSED(cugen_call) *call;
  float w[4] = {0}, y[4] = {0};
  void *address, *without[] = {NULL, y}, *with[] = {w, y};
  size_t bytes;
  hold_file(lib, "fixed.lua", const_config);
  hold_file(lib, "fixed.cu", const_template);
  hold_file(lib, "fixed_reference.cu", const_reference);
  opened = kernel_of(lib, "fixed.lua", NULL, 0);
  fixed = plan_of(opened, NULL);
  WORKS(cugen_plan_symbol(fixed, "w", &address, &bytes, &err));
  assert_int_equal(bytes, sizeof w);
  expect(cugen_plan_write(fixed, "w", 0, w, sizeof w, NULL, &error),
         "'w' is const: it cannot be written; declare it without const");
  expect(cugen_plan_write(fixed, "at", 0, &address, sizeof address, NULL, &error),
         "'at' is const: it cannot be written; declare it without const");
  expect(
      cugen_call_bind(fixed, with, 2, &call, &error),
      "fixed.cu:4: kernel 'fixed': 'w' is const: it cannot be written; declare it without const");
  WORKS(cugen_plan_read(fixed, "w", 0, w, sizeof w, NULL, &err));
  assert_true(w[3] == 4);
  call = call_of(fixed, without, 2);
  WORKS(cugen_call_launch(call, NULL, &err));
  assert_true(y[0] == 1 && y[3] == 4);
}

/* Functions without a status return 0, NULL or "". */
TEST(test_without_a_status) {
  const char *why = "?";
  assert_string_equal(cugen_where(NULL), "");
  assert_true(api_configs(NULL, NULL, 3) > 3); /* every cugen ships the same configs */
  assert_int_equal(cugen_devices(NULL, NULL, 0, &why), 0);
  assert_null(why);
  assert_true(cugen_devices(lib, NULL, 3, NULL) > 0);
  assert_int_equal(api_models(NULL, NULL, 3), 0);
  assert_true(api_models(lib, NULL, 3) > 3);
  assert_int_equal(api_described_devices(NULL, NULL, 3), 0);
  assert_true(api_described_devices(lib, NULL, 3) > 3);
  assert_string_equal(cugen_kernel_name(NULL), "");
  assert_string_equal(cugen_kernel_problem(NULL), "");
  assert_string_equal(api_kernel_problem_short(NULL), "");
  assert_string_equal(api_kernel_problem_values(NULL, "n"), "");
  assert_string_equal(api_kernel_problem_values(kernel, NULL), "");
  assert_string_equal(api_kernel_policy(NULL), "");
  assert_null(api_kernel_problem_set(NULL, 0));
  assert_int_equal(api_kernel_objective(NULL), OBJECTIVE_TIME);
  assert_string_equal(api_kernel_objective_text(NULL), "time");
  assert_int_equal(api_kernel_needs_energy(NULL), 0);
  assert_null(api_kernel_measure(NULL));
  assert_null(cugen_kernel_device(NULL));
  assert_null(cugen_kernel_fallback(NULL));
  assert_null(api_kernel_unlearnt(NULL, 0));
  assert_string_equal(api_kernel_printed(NULL), "");
  api_kernel_watch_run(NULL, NULL, NULL);
  assert_int_equal(outputs_text(NULL, NULL, 0), 0);
  assert_false(outputs_equal(NULL, NULL));
  assert_int_equal(api_kernel_has_check(NULL), 0);
  assert_int_equal(api_kernel_predicted(NULL), 0);
  api_kernel_key(NULL, &why, NULL);
  assert_string_equal(why, "");
  assert_int_equal(cugen_kernel_arguments(NULL), 0);
  assert_true(api_kernel_tensor_flops(NULL, "f16") == 0 &&
              api_kernel_tensor_flops(kernel, NULL) == 0);
  assert_null(cugen_plan_about(NULL));
  assert_string_equal(cugen_version(), CUGEN_VERSION);
  assert_true(strlen(cugen_status_text(1)) && strlen(cugen_status_text(-99)) &&
              strlen(outcome_text(-1)));
  assert_int_equal(api_best_of(NULL, 3), 3);
  assert_string_equal(outcome_name(99), "unknown");
  assert_string_equal(finding_name(-1), "unknown");
  assert_string_equal(finding_name(CUGEN_FINDING_WRONG), "wrong result");
  assert_string_equal(api_strategy(0, NULL), "surrogate");
  assert_null(api_strategy(99, NULL));
  api_expect_tuning(NULL, 0);
  assert_string_equal(device_parse(NULL).name, "");
  assert_int_equal(api_cache_parse(NULL), CUGEN_CACHE_FILE);
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

#define WRONG_SIZE(type, init, call)                                                               \
  do {                                                                                             \
    for (int i = 0; i < 3; i++) {                                                                  \
      type options = init;                                                                         \
      char message[200];                                                                           \
      options.size = i == 0 ? 0 : i == 1 ? sizeof options - 1 : sizeof options + 8;                \
      snprintf(message, sizeof message, "%s.size is %zu, should be %zu: start from %s", #type,     \
               options.size, sizeof options, #init);                                               \
      expect(call, message);                                                                       \
    }                                                                                              \
  } while (0)

TEST(test_sizes) {
  cugen *out;
  cugen_plan *other;
  WRONG_SIZE(cugen_options, CUGEN_OPTIONS_INIT, cugen_open(&options, &out, &error));
  WRONG_SIZE(cugen_tune_options, CUGEN_TUNE_OPTIONS_INIT,
             api_kernel_tune(kernel, &options, NULL, &error));
  WRONG_SIZE(cugen_plan_options, CUGEN_PLAN_OPTIONS_INIT,
             cugen_plan_open(kernel, &options, &other, &error));
}

/* ---- None is forgotten ---------------------------------------------------------------------- */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 18);
  assert_non_null(text);
  size_t length = fread(text, 1, (1 << 18) - 1, file);
  assert_true(length > 0 && length < (1 << 18) - 1);
  fclose(file);
  return text;
}

/* Checks that each function of the header is called with NULL in `here`. Returns how many there
   are. */
static int functions_tried(const char *path, const char *here) {
  char *header = read_file(path);
  int count = 0;
  for (char *line = strtok(header, "\n"); line; line = strtok(NULL, "\n")) {
    const char *name = strstr(line, "cugen_"), *end = name ? strchr(name, '(') : NULL;
    if (!end || strchr(" /*{}#", *line) || strncmp(line, "typedef", 7) == 0 ||
        memchr(line, '[', (size_t)(end - line)))
      continue;
    for (const char *next; (next = strstr(name + 1, "cugen_")) && next < end;) name = next;
    char call[80];
    snprintf(call, sizeof call, "%.*s", (int)(end - name), name);
    if (strcmp(call, "cugen_worker_main") != 0 && !strstr(here, call))
      fail_msg("%s is not tried with NULL", call);
    count++;
  }
  free(header);
  return count;
}

TEST(test_every_function) {
  char *here = read_file("tests/embed/test_given.c");
  assert_true(functions_tried("include/cugen.h", here) > 20);
  free(here);
}

ALL_TESTS_WITH(open_all, close_all);
