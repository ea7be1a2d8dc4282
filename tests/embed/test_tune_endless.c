/* Tuning in a thread of this process meets a variant that never ends: it is reported and
   remembered, and tuning continues. The variant's thread runs until the process ends, so this
   test has a process of its own. */

#include <unistd.h>

#include "api/kernel.h"
#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

static int tune(cugen_kernel *kernel, const char *implementation, double timeout,
                cugen_error *err) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.implementation = implementation;
  options.variant_timeout = timeout;
  return api_kernel_tune(kernel, &options, NULL, err);
}

TEST(test_endless) {
  CLOSED(cugen) *lib;
  cugen_record record;
  lib = OPEN_LIBRARY(.device = "cpu", .cache = "none");
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "tests/configs/planted.lua", NULL, 0);
  /* the size that is tuned here */
  WORKS(api_kernel_use_check(kernel, &err));
  WORKS(tune(kernel, "right", 60, &err));
  FAILS(tune(kernel, "endless", 0.5, &err), CUGEN_ERROR_DEVICE,
        "tuning in this process ended at 'endless threads=64 fault=endless': did not end "
        "within 0.5 s");
  assert_int_equal(record_count(kernel), 2);
  record = record_at(kernel, 1);
  assert_int_equal(record.outcome, CUGEN_OUTCOME_TIMEOUT);
  WORKS(tune(kernel, "right_again", 60, &err));
  assert_int_equal(record_count(kernel), 4);
}

int main(void) {
  int failed = tests_run();
  fflush(NULL);
  _exit(failed); /* memory that the endless thread holds is not a leak */
}
