/* Choosing the variants to check, and their problems. */
#ifndef CHECK_SELECTION_H
#define CHECK_SELECTION_H

#include "list.h"

/* The caller frees *out in any case. */
int check_select(const struct tune_target *target, const struct check_options *options,
                 struct check_list *out, cugen_error *err);

#endif
