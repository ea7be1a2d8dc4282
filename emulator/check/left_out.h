/* Reporting what a check leaves out, and why. */
#ifndef EMULATOR_CHECK_LEFT_OUT_H
#define EMULATOR_CHECK_LEFT_OUT_H

#include "list.h"

/* Adds skips for what the check leaves out, such as implementations without a run. */
int check_left_tell(const struct tune_target *target, const struct check_options *options,
                    const struct check_list *list, cugen_check *check, cugen_error *err);

/* If an array of the problem has more elements than an index of 32 bits can reach, appends that the
   small sizes of a check do not test such indices. A skip for this reason has the name below. */
extern const char check_left_wide_name[];
int check_left_wide(const struct config *config, const struct problem *problem,
                    const struct device_facts *facts, struct text *out, cugen_error *err);

#endif
