/* Reporting what a check leaves out, and why. */
#ifndef EMULATOR_CHECK_LEFT_OUT_H
#define EMULATOR_CHECK_LEFT_OUT_H

#include "list.h"

/* what: a variant or an implementation; variants: their number, of which `what` is the first. */
typedef int check_left_keep(void *context, const char *what, size_t variants, const char *why,
                            cugen_error *err);

/* Calls keep for each thing that is left out: indices beyond 32 bits; implementations without a
   run, unless the user excluded them; sizes that an implementation refuses, unless branches are
   checked; when all variants are checked, the variants that options->whole has and the check
   problem has not; when every value is checked, variants of options->whole with values that no run
   has. The list must be complete. */
int check_left_tell(const struct tune_target *target, const struct check_options *options,
                    const struct check_list *list, check_left_keep *keep, void *context,
                    cugen_error *err);

/* Appends why "index arithmetic in 32 bits" (its name in the list of things left out) is not tested
   by the small sizes of a check: on the problem an array has more elements than such an index can
   reach. Appends nothing if no array has. */
extern const char check_left_wide_name[];
int check_left_wide(const struct config *config, const struct problem *problem,
                    const struct device_facts *facts, struct text *out, cugen_error *err);

#endif
