/* Which branches of templates sources take: lines that come out, and lines that are left out of a template that others have
   them of. Known by the #line that expansions carry, so that nothing need be understood of the template. */
#ifndef CHECK_COVERAGE_H
#define CHECK_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct coverage;

int coverage_open(struct coverage **out, cugen_error *err);
void coverage_close(struct coverage *branches);

/* Takes a source in as the next one, counted from 0. *more: none before took the same branches; else it is not kept. */
int coverage_add(struct coverage *branches, const char *source, bool *more, cugen_error *err);

/* Few of those kept that take every branch that any of them takes, and each twice that two of them take; chosen says which and has
   a place for each. Those that are chosen already stay. */
int coverage_choose(const struct coverage *branches, bool *chosen, cugen_error *err);

#endif
