/* Choosing variants for a check that names none. */
#ifndef EMULATOR_CHECK_SAMPLE_H
#define EMULATOR_CHECK_SAMPLE_H

#include "list.h"

/* Adds variants of every implementation, on several problems, so that each value of a tunable that
   up to 400 draws find has a run. */
int check_sample_values(struct check_list *list, const struct tune_target *target, uint64_t *state,
                        cugen_error *err);

/* Adds so many variants that every branch of a template that occurs in a large sample is taken. */
int check_sample_branches(struct check_list *list, const struct tune_target *target,
                          const struct check_options *options, uint64_t *state, cugen_error *err);

#endif
