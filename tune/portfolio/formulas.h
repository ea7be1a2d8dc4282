/* The formulas of a portfolio's variants, and which of them is the least on each problem. */
#ifndef TUNE_PORTFOLIO_FORMULAS_H
#define TUNE_PORTFOLIO_FORMULAS_H

#include "formula.h"

struct portfolio_formulas {
  struct portfolio_formula (*of)[FORMULA_WAYS]; /* of each of the chosen, */
  size_t way;                                   /* fitted in this way */
  size_t *least;  /* by problem: the one of the chosen that is a variant and whose formula is least; */
  size_t *honest; /* the same by formulas that do not know the problem. NULL: problems are too few for formulas */
};

/* Fits them to the problems of rows (NULL: all), in the way that is best for problems that it does not know. To be freed whatever comes
   back. */
int portfolio_formulas_fit(const struct portfolio_matrix *matrix, const bool *rows, const size_t *chosen,
                           size_t count, struct portfolio_formulas *out, cugen_error *err);
void portfolio_formulas_free(struct portfolio_formulas *formulas);

/* Deals `count` problems into parts, at random, so that no regular order of theirs falls together with the parts; the same for equal arguments. */
void portfolio_deal(size_t count, size_t parts, uint64_t seed, size_t *part);

#endif
