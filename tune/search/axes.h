/* The space of a config as strategies see it: one axis for each name of a tunable, over all
   implementations. */
#ifndef TUNE_SEARCH_AXES_H
#define TUNE_SEARCH_AXES_H

#include "strategy.h"

struct axes;

/* Opens the axes of a space, which must outlive them. Returns NULL if there is no memory. */
struct axes *axes_open(const struct space *space);
void axes_close(struct axes *axes);
/* Sets the members of *out that describe where variants are: neighbours, axes, the functions on
   them, and the context. */
void axes_describe(const struct axes *axes, struct strategy_space *out);

#endif
