/* An application that tunes and looks neither at its arguments nor at the environment: the
   worker that verifies and times for it must not be this program started again. */
#include <cugen.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  cugen_error error = {0};
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_tune_options tune = CUGEN_TUNE_OPTIONS_INIT;
  const char *result = NULL;
  cugen *lib = NULL;
  cugen_kernel *kernel = NULL;
  options.device = "cpu";
  options.cache = "none";
  tune.budget_count = 1;
  int status = cugen_open(&options, &lib, &error);
  if (!status) status = cugen_kernel_open(lib, "transpose", NULL, 0, &kernel, &error);
  if (!status) status = cugen_kernel_tune(kernel, &tune, &result, &error);
  if (status)
    printf("%s\n", error.message);
  else
    printf("tuned %d\n", strstr(result, "\"tried\": 1,") ? 1 : 0);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  return -status;
}
