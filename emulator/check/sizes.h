/* Choosing sizes around the check problem's, and around tiles. */
#ifndef EMULATOR_CHECK_SIZES_H
#define EMULATOR_CHECK_SIZES_H

#include "list.h"

/* Adds to the family of that number, whose first problem is open, problems that differ from the
   first in sizes alone, as sizes_plain chooses them. list->kept records which parameters of the
   check { } are not sizes, and why. */
int check_sizes_add(const struct tune_target *target, const struct check_options *options,
                    struct check_list *list, size_t number, cugen_error *err);

/* Adds runs of the variant, which has number `index` on its family's first problem, on the problems
   around its tiles on which the variant is valid: on all (only: 0), or on at most one, which
   depends on `only`. */
int check_sizes_around(const struct tune_target *target, struct check_list *list, size_t number,
                       uint64_t index, size_t only, cugen_error *err);

#endif
