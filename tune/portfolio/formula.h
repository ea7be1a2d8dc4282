/* How long a variant takes, as a formula over the sizes of a problem: waves of tiles, steps, bytes. */
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

/* A condition under which it is slower, or faster: a size, or one of several, is no multiple. */
struct portfolio_ragged {
  uint64_t sizes; /* bits */
  int of;
  double factor;
};

struct portfolio_formula {
  bool known;  /* false: there is too little to fit one to */
  size_t a, b; /* the sizes that are cut into tiles; b: PORTFOLIO_NO_SIZE: a alone */
  int64_t tile_a, tile_b;
  uint64_t rest;               /* bits: the other sizes that differ */
  double terms[FORMULA_TERMS]; /* of formula.c's table, none negative */
  struct portfolio_ragged ragged[FORMULA_MOST_RAGGED];
  size_t ragged_count;
};

#define PORTFOLIO_NO_SIZE ((size_t)-1)

/* Fits it to what is known of the variant on the problems of rows (NULL: all), in both ways: [0] fits the terms, then the factors; [1] then the
   terms again to what the factors leave. */
int portfolio_formula_fit(const struct portfolio_matrix *matrix, const bool *rows, size_t variant,
                          struct portfolio_formula out[FORMULA_WAYS], cugen_error *err);

/* In the unit of matrix->best. INFINITY: it is not known. */
double portfolio_formula_of(const struct portfolio_formula *formula, const struct portfolio_matrix *matrix,
                            const int64_t *sizes);

/* As an expression of the config language, which gives the same number: "0.0123 * ceil_div(M, 64) * K + 1.5". */
void portfolio_formula_print(const struct portfolio_formula *formula, const struct portfolio_matrix *matrix,
                             struct text *out);

#endif
