/* Checking variants for defects, without a GPU. */
#ifndef API_CHECK_H
#define API_CHECK_H

#include "base/checked.h"

/* Runs variants on the cpu device, in processes of their own, watches every access to memory, and
   compares the results with the reference. Settings given at cugen_kernel_open stay. The variants
   are:
   - by default: for each implementation, enough variants to have every value of every tunable, on
     the check problem and sizes around it. Some of the variants run with each further listed value
     of the problem (types, layouts);
   - with branches: enough variants that each line of the templates is in one variant and missing in
     another, if a large sample has such variants. The variants run on sizes, types and layouts of
     all kinds;
   - with variant, all or sample: those variants, on the check problem and the sizes around it.

   After an error *out has what was found before. Errors:
   - CUGEN_ERROR_WRONG: there are findings that are not notes. CUGEN_ERROR_INTERRUPTED: the callback
     asked to stop. CUGEN_ERROR_USAGE: for example, the options exclude each other.
   - CUGEN_ERROR_COMPILE: there is no finding, but a variant does not compile, and is `refused` in
     out->skips.
   - CUGEN_ERROR_EMPTY: nothing was checked; out->skips has the reasons. CUGEN_ERROR_MISSING: there
     is no C++ compiler.
   - Any other status says why variants could not be tried, such as a template that does not
     expand. */
int api_kernel_check(cugen_kernel *kernel, const cugen_check_options *options, cugen_check *out,
                     cugen_error *error);

#endif
