/* Reporting what a check leaves out, and why. */
#ifndef EMULATOR_CHECK_LEFT_OUT_H
#define EMULATOR_CHECK_LEFT_OUT_H

#include "list.h"

/* `what` is a variant, an implementation or check_left_wide_name; `variants` is the number of
   variants to which `why` applies, of which `what` is the first, else 1. */
typedef int check_left_keep(void *context, const char *what, size_t variants, const char *why,
                            cugen_error *err);

/* Calls keep for what the check leaves out, such as implementations without a run, sizes that an
   implementation refuses, and variants or values that only options->whole allows. The options
   decide which of these are reported. The list must be complete. */
int check_left_tell(const struct tune_target *target, const struct check_options *options,
                    const struct check_list *list, check_left_keep *keep, void *context,
                    cugen_error *err);

/* Appends why "index arithmetic in 32 bits" (its name in the list of things left out) is not tested
   by the small sizes of a check: on the problem an array has more elements than such an index can
   reach. Else appends nothing. */
extern const char check_left_wide_name[];
int check_left_wide(const struct config *config, const struct problem *problem,
                    const struct device_facts *facts, struct text *out, cugen_error *err);

#endif
