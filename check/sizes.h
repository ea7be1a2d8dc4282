/* Sizes around the check problem's. */
#ifndef CHECK_SIZES_H
#define CHECK_SIZES_H

#include "list.h"

/* To the family of that number, whose first problem is open, problems that differ from it in sizes alone. A size is what a
   check { } gives a whole number above 3 and buffers or launches depend on, no faster than with its third power; what
   else has such a number stays as it is, and list->kept says why. */
int check_sizes_add(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                    size_t number, cugen_error *err);

#endif
