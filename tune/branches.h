/* Which branches of templates a set of sources has taken: lines that came out in one of them, lines that one left out. Known
   by the #line that expansions carry, so that nothing need be understood of the template. */
#ifndef TUNE_BRANCHES_H
#define TUNE_BRANCHES_H

#include <stdbool.h>

#include "base/error.h"

struct branches;

int branches_open(struct branches **out, cugen_error *err);
void branches_close(struct branches *branches);

/* Takes a source in. *more: it has a line that none before had, or lacks one that all before with that template had. */
int branches_take(struct branches *branches, const char *source, bool *more, cugen_error *err);

#endif
