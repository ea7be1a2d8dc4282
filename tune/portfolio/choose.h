/* Which few variants serve many problems best. */
#ifndef TUNE_PORTFOLIO_CHOOSE_H
#define TUNE_PORTFOLIO_CHOOSE_H

#include "base/error.h"
#include "matrix.h"

/* The sum over the problems of the least portfolio_choice_cost that one of the chosen has. rows: only these problems; NULL: all. */
double portfolio_sum(const struct portfolio_matrix *matrix, const bool *rows, const size_t *chosen, size_t count);

/* Into chosen (room for `most`): at most that many variants of the least sum, rising. Exact where few combinations are possible, else
   greedy and improved by exchange. Fewer where the rest would gain next to nothing; none serves nothing. Equal input, equal output. */
int portfolio_choose(const struct portfolio_matrix *matrix, const bool *rows, size_t most, size_t *chosen,
                     size_t *count, cugen_error *err);

#endif
