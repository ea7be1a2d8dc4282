/* What another recorded space of the same kernel says of this one: where a search may begin. */
#ifndef REPLAY_PRIOR_H
#define REPLAY_PRIOR_H

#include "recorded.h"

/* The best of `from` that are variants of `to`, as indices into `to`, the best first: at most
   `most`. */
int prior_find(const struct recorded *from, const struct recorded *to, size_t most, uint64_t *out,
               size_t *count, cugen_error *err);

#endif
