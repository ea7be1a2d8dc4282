/* Chooses the few kernels, and the ways to launch them, that together serve many problems best. */
#ifndef TUNE_PORTFOLIO_CHOOSE_H
#define TUNE_PORTFOLIO_CHOOSE_H

#include "base/error.h"
#include "matrix.h"

/* Returns the most variants that are chosen for `most` kernels. */
size_t portfolio_most_variants(const struct portfolio_matrix *matrix, size_t most);

/* Chooses variants of at most `most` kernels, in rising order, so that the sum over the problems of
   rows (NULL: all) of each problem's least portfolio_choice_cost becomes small. `chosen` has room
   for portfolio_most_variants. Few combinations are all tried; of many, a heuristic chooses. Fewer
   variants are chosen if more would gain next to nothing, and none if no variant serves anything.
   The choice is deterministic. */
int portfolio_choose(const struct portfolio_matrix *matrix, const bool *rows, size_t most,
                     size_t *chosen, size_t *count, cugen_error *err);

#endif
