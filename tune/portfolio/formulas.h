/* The formulas of a portfolio's variants, and the variant of the least formula on each problem. */
#ifndef TUNE_PORTFOLIO_FORMULAS_H
#define TUNE_PORTFOLIO_FORMULAS_H

#include "formula.h"

struct portfolio_formulas {
  struct portfolio_formula (*of)[FORMULA_WAYS]; /* formulas of each chosen variant */
  size_t way;                                   /* the way of fitting that is used */
  /* By problem: the index in `chosen` of the valid variant whose formula is least; the number of
     chosen variants if none is valid. */
  size_t *least;
  /* Like `least`, but by formulas fitted without the problem. */
  size_t *honest;
};

/* Fits formulas to the problems of rows (NULL: all), in the way that predicts problems left out of
   the fit best. All pointers are NULL with fewer than 16 problems, without sizes, or with a size
   named "least". Call portfolio_formulas_free even after an error. */
int portfolio_formulas_fit(const struct portfolio_matrix *matrix, const bool *rows,
                           const size_t *chosen, size_t count, struct portfolio_formulas *out,
                           cugen_error *err);
void portfolio_formulas_free(struct portfolio_formulas *formulas);

/* Deals `count` problems into parts at random. Equal arguments give equal parts. */
void portfolio_deal(size_t count, size_t parts, uint64_t seed, size_t *part);

#endif
