/* Opens the library, kernels and plans for tests, which fail with the error's message. Options
   are named: OPEN_LIBRARY(.device = "cpu", .cache = "none"). */
#ifndef TESTS_OPENING_H
#define TESTS_OPENING_H

#include <cugen.h>

#include "api/records.h"
#include "tests/testing.h"

#define OPEN_LIBRARY(...) library_of(&(cugen_options){.size = sizeof(cugen_options), __VA_ARGS__})

static inline cugen *library_of(const cugen_options *options) {
  cugen_error err;
  cugen *lib;
  if (cugen_open(options, &lib, &err)) fail_msg("%s", err.message);
  return lib;
}

/* CPU_LIBRARY; defines `lib` on the cpu device, and the fixtures that open and close it. */
#define CPU_LIBRARY                                                                                \
  static cugen *lib;                                                                               \
  FIXTURE(open_library) {                                                                          \
    lib = OPEN_LIBRARY(.device = "cpu", .cache = "none");                                          \
    return 0;                                                                                      \
  }                                                                                                \
  FIXTURE(close_library) {                                                                         \
    cugen_close(lib);                                                                              \
    return 0;                                                                                      \
  }                                                                                                \
  struct cugen

static inline cugen_kernel *kernel_of(cugen *lib, const char *config, const char *const *settings,
                                      size_t count) {
  cugen_error err;
  cugen_kernel *kernel;
  if (cugen_kernel_open(lib, config, settings, count, &kernel, &err)) fail_msg("%s", err.message);
  return kernel;
}

#define OPEN_PLAN(kernel, ...)                                                                     \
  plan_of(kernel, &(cugen_plan_options){.size = sizeof(cugen_plan_options), __VA_ARGS__})

static inline cugen_plan *plan_of(cugen_kernel *kernel, const cugen_plan_options *options) {
  cugen_error err;
  cugen_plan *plan;
  if (cugen_plan_open(kernel, options, &plan, &err)) fail_msg("%s", err.message);
  return plan;
}

static inline cugen_call *call_of(cugen_plan *plan, void *const *arguments, size_t count) {
  cugen_error err;
  cugen_call *call;
  if (cugen_call_bind(plan, arguments, count, &call, &err)) fail_msg("%s", err.message);
  return call;
}

static inline size_t record_count(cugen_kernel *kernel) {
  size_t count;
  api_records(kernel, &count);
  return count;
}

static inline cugen_record record_at(cugen_kernel *kernel, size_t index) {
  size_t count;
  const cugen_record *all = api_records(kernel, &count);
  if (index >= count) fail_msg("record %zu: there are %zu", index, count);
  return all[index];
}

/* Holds a file in memory, such as a config or a template. */
static inline void hold_file(cugen *lib, const char *name, const char *content) {
  cugen_error err;
  if (cugen_add_file(lib, name, content, strlen(content), &err)) fail_msg("%s", err.message);
}

#endif
