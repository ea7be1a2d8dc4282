/* Finds tunables that nothing uses, whose name a template seems to misspell, or of which templates
   only ask whether they are defined. */
#ifndef GEN_TEMPLATE_MENTIONS_H
#define GEN_TEMPLATE_MENTIONS_H

#include "base/results.h"
#include "gen/config/config.h"
#include "gen/sources/sources.h"

/* Lists tunables with two or more values that seem to make equal kernels: tunables that neither the
   config nor a template or included file mentions; tunables that no template mentions while a near
   word stands in a condition of a template; and tunables, not booleans, that the config does not
   mention and of which templates only ask whether they are defined. Fills in at most `most`
   entries; *count is the number of all. If a file cannot be read, or the name of an included file
   is computed, every name counts as used. Fails only with CUGEN_ERROR_MEMORY. */
int mentions_unused(const struct sources *sources, const struct config *config,
                    cugen_unused_tunable *out, size_t most, size_t *count, cugen_error *err);

#endif
