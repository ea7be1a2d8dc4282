/* Tuning one kernel or several, running one variant, and the strategies of the search. */
#ifndef API_TUNING_H
#define API_TUNING_H

#include "base/results.h"

/* The search strategies by number, from 0 (the default): returns the name, and sets *what (may be
   NULL) to a description. NULL: there are no more. */
const char *api_strategy(size_t index, const char **what);

/* Fails with CUGEN_ERROR_USAGE if the options contradict one another or are out of range. */
int api_check_tune_options(const cugen_tune_options *options, cugen_error *err);

/* Tunes like cugen_kernel_tune, and returns the values that are in its JSON. */
int api_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options,
                    cugen_tune_result *result, cugen_error *error);

/* The largest number of kernels for api_kernels_tune. */
enum { CUGEN_MOST_PROBLEMS = 1000 };

/* Tunes several kernels of one library within one budget, such as one config for several problems.
   The kernels stay the caller's and must not be used elsewhere meanwhile. Nothing is tuned if one
   of the kernels cannot be. Kernels without a correct record come first. The budget is shared out
   in rounds, equally or by options->weights, which are 0 or more. budget_seconds 0, without a
   count, is the default for each kernel. budget_count is at least the number of kernels. results:
   `count` results in the order of kernels, or NULL.

   CUGEN_ERROR_EMPTY: no variant serves a problem. CUGEN_ERROR_WRONG: some kernels have no correct
   variant (in the budget). After any other error earlier measurements are kept. */
int api_kernels_tune(cugen_kernel *const *kernels, size_t count, const cugen_tune_options *options,
                     cugen_tune_result *results, cugen_error *error);

/* ---- Running one variant --------------------------------------------------------------------- */

/* Sets a callback that api_kernel_run calls in its thread while it waits. done is 0, planned 1 and
   best NULL; the stage tells whether the reference is still computed. A nonzero result stops the
   run with CUGEN_ERROR_INTERRUPTED. NULL: no callback. */
void api_kernel_watch_run(cugen_kernel *kernel, cugen_progress_callback progress, void *context);
/* Verifies and times one variant (as in cugen_kernel_source) now, in an isolated worker; no record
   is stored. timeout: seconds. */
int api_kernel_run(cugen_kernel *kernel, const char *variant, double timeout, cugen_record *out,
                   cugen_error *error);

/* The text that kernels on the cpu device printed in the last api_kernel_run (the first launch; all
   launches if the variant failed) or api_kernel_check (the first variant that printed, after its
   name). Long text is cut, and control characters are escaped; "" if nothing was printed. The text
   lives until the next run or check. */
const char *api_kernel_printed(const cugen_kernel *kernel);

#endif
