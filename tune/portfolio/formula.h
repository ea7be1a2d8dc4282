/* The time of a variant as a formula over the sizes of a problem, made of waves of tiles, steps and
   bytes. */
#ifndef TUNE_PORTFOLIO_FORMULA_H
#define TUNE_PORTFOLIO_FORMULA_H

#include "base/error.h"
#include "base/text.h"
#include "matrix.h"

enum {
  FORMULA_TERMS = 11,
  FORMULA_MOST_SIZES = 8,
  FORMULA_MOST_RAGGED = 2 * FORMULA_MOST_SIZES + 1,
  FORMULA_WAYS = 2
};

/* A condition that changes the time by a factor: a size, or one of several sizes, is no multiple of
   `of`. */
struct portfolio_ragged {
  uint64_t sizes; /* the sizes, as bits by index */
  int of;
  double factor;
};

struct portfolio_formula {
  bool known;  /* false: no formula can be fitted, as with too few measurements */
  size_t a, b; /* The sizes that are cut into tiles; b is PORTFOLIO_NO_SIZE if only a is. */
  int64_t tile_a, tile_b;
  uint64_t rest;               /* a bit by index: differing sizes that are not cut */
  double terms[FORMULA_TERMS]; /* coefficients of the terms in formula.c's table, none negative */
  struct portfolio_ragged ragged[FORMULA_MOST_RAGGED];
  size_t ragged_count;
};

#define PORTFOLIO_NO_SIZE ((size_t)-1)

/* Fits a formula to the variant's measurements on the problems of rows (NULL: all), in two ways:
   out[0] fits the terms and then the factors; out[1] then fits the terms again, to what the factors
   leave, and the factors again. */
int portfolio_formula_fit(const struct portfolio_matrix *matrix, const bool *rows, size_t variant,
                          struct portfolio_formula out[FORMULA_WAYS], cugen_error *err);

/* Returns the time in the unit of matrix->best; INFINITY: not known. */
double portfolio_formula_of(const struct portfolio_formula *formula,
                            const struct portfolio_matrix *matrix, const int64_t *sizes);

/* Prints the formula as an expression of the config language whose value is portfolio_formula_of,
   such as "0.0123 * ceil_div(M, 64) * K + 1.5"; nothing if the formula is not known. */
void portfolio_formula_print(const struct portfolio_formula *formula,
                             const struct portfolio_matrix *matrix, struct text *out);

#endif
