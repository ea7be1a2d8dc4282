/* Which variants a check takes when none is named. */
#ifndef CHECK_SAMPLE_H
#define CHECK_SAMPLE_H

#include "list.h"

/* Of every implementation so many variants that every value of every tunable is in one, on several problems. */
int check_sample_values(struct check_list *list, const struct tune_target *target, uint64_t *state, cugen_error *err);

/* So many that every branch of a template that any of a large sample takes is taken by one of them. */
int check_sample_branches(struct check_list *list, const struct tune_target *target,
                          const struct check_options *options, uint64_t *state, cugen_error *err);

#endif
