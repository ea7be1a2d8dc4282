/* Which variants are checked, on which problems. */
#ifndef CHECK_SELECTION_H
#define CHECK_SELECTION_H

#include "list.h"

/* *out is to be freed whatever comes back. */
int check_select(const struct tune_target *target, const struct check_options *options, struct check_list *out,
                 cugen_error *err);

#endif
