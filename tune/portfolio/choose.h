/* Which few kernels serve many problems best, launched in which ways. */
#ifndef TUNE_PORTFOLIO_CHOOSE_H
#define TUNE_PORTFOLIO_CHOOSE_H

#include "base/error.h"
#include "matrix.h"

/* The sum over the problems of the least portfolio_choice_cost that one of the chosen has. rows: only these problems; NULL: all. */
double portfolio_sum(const struct portfolio_matrix *matrix, const bool *rows, const size_t *chosen, size_t count);

/* How many variants are chosen at most of so many kernels. */
size_t portfolio_most_variants(const struct portfolio_matrix *matrix, size_t most);

/* Into chosen (room for portfolio_most_variants): variants of at most `most` kernels, of the least sum, rising. Exact where few combinations are
   possible, else greedy and improved by exchange. Fewer where the rest would gain next to nothing; none serves nothing. Equal input, equal
   output. */
int portfolio_choose(const struct portfolio_matrix *matrix, const bool *rows, size_t most, size_t *chosen,
                     size_t *count, cugen_error *err);

#endif
