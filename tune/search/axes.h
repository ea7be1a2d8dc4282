/* The space of a config as strategies see it: one axis for each tunable's name, over all implementations. */
#ifndef TUNE_SEARCH_AXES_H
#define TUNE_SEARCH_AXES_H

#include "strategy.h"

struct axes;

/* NULL: no memory. The space lives as long. */
struct axes *axes_open(const struct space *space);
void axes_close(struct axes *axes);
/* Sets all of *out that says where variants lie: neighbours, axes, their functions and the context. */
void axes_describe(const struct axes *axes, struct strategy_space *out);

#endif
