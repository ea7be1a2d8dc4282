/* Which branches of templates a source takes. A branch is a line of a template that the source
   contains, or one that the source leaves out and another source contains. The lines are known from
   the #line directives of expansions, so that the template need not be parsed. */
#ifndef EMULATOR_CHECK_COVERAGE_H
#define EMULATOR_CHECK_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct coverage;

int coverage_open(struct coverage **out, cugen_error *err);
void coverage_close(struct coverage *branches);

/* Keeps a source under the next number, from 0 on, and sets *more, if no kept source took the same
   branches; otherwise drops the source. */
int coverage_add(struct coverage *branches, const char *source, bool *more, cugen_error *err);

/* Chooses few of the kept sources such that they take every branch that any source takes, and take
   it twice where two sources take it. `chosen` has an element for each kept source. Sources that
   are already chosen stay. */
int coverage_choose(const struct coverage *branches, bool *chosen, cugen_error *err);

#endif
