/* options.device with several devices, in an application: tuning uses all of them, everything
   else the first. */
#include "api/machine.h"
#include "api/tuning.h"
#include "tests/opening.h"

static int open_on(const char *device, cugen **lib, cugen_kernel **kernel, cugen_error *error) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = device;
  options.cache = "none";
  int status = cugen_open(&options, lib, error);
  if (!status)
    status = cugen_kernel_open(*lib, "tests/configs/launches.lua", NULL, 0, kernel, error);
  return status;
}

TEST(test_two) {
  CLOSED(cugen) *lib;
  CLOSED(cugen_kernel) *kernel;
  cugen_tune_result result;
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.budget_count = 10;
  WORKS(open_on("cpu, cpu", &lib, &kernel, &err));
  assert_string_equal(cugen_kernel_device(kernel)->id, "cpu");
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, 10);
  assert_int_equal(result.failed, 0);
  assert_int_equal(result.devices, 2);
  assert_null(result.lost);
  cugen_plan *plan = plan_of(kernel, NULL);
  cugen_plan_close(plan);
  options.flags = CUGEN_TUNE_IN_PROCESS;
  FAILS(api_kernel_tune(kernel, &options, &result, &err), CUGEN_ERROR_USAGE,
        "is for one device, and 2 are listed");
}

TEST(test_groups) {
  const char *group;
  CLOSED(cugen) *lib = library_of(NULL);
  WORKS(api_device_group(lib, "cpu,cpu,cpu", 0, &group, &err));
  assert_string_equal(group, "cpu,cpu,cpu");
  WORKS(api_device_group(lib, "cpu,cpu,cpu", 1, &group, &err));
  assert_null(group);
  static const char *const mixed[] = {"model:H200", "cpu,cpu", "t4"};
  for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
    WORKS(api_device_group(lib, "model:H200,cpu,t4,cpu", i, &group, &err));
    assert_string_equal(group, mixed[i]);
  }
  FAILS(api_device_group(lib, "t4,model:T4", 0, &group, &err), CUGEN_ERROR_USAGE);
  FAILS(api_device_group(lib, "cpu,", 0, &group, &err), CUGEN_ERROR_USAGE);
  assert_null(group);
}

TEST(test_refused) {
  static const char *const lists[] = {"cpu,",    ",cpu",    "cpu,,cpu",
                                      "cpu,gpu", "cpu,all", "model:H200,cpu"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    CLOSED(cugen) *lib;
    cugen_kernel *kernel;
    cugen_error error;
    const int status = open_on(lists[i], &lib, &kernel, &error);
    if (status != CUGEN_ERROR_USAGE) fail_msg("'%s': status %d", lists[i], status);
  }
}
