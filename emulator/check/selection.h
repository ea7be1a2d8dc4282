/* Choosing the variants to check, and their problems. */
#ifndef EMULATOR_CHECK_SELECTION_H
#define EMULATOR_CHECK_SELECTION_H

#include "list.h"

/* The caller frees *out in any case. */
int check_select(const struct tune_target *target, const struct check_options *options,
                 struct check_list *out, cugen_error *err);

#endif
