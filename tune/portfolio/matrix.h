/* What a portfolio is learnt from: how much slower each variant is than the best, on each problem. */
#ifndef TUNE_PORTFOLIO_MATRIX_H
#define TUNE_PORTFOLIO_MATRIX_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PORTFOLIO_MOST = 64 }; /* variants of a portfolio */

struct portfolio_matrix {
  size_t problems, variants;
  /* [p * variants + v]: its cost by the least of the problem, 1 or more. INFINITY: it is no variant there, which is seen before it
     is launched. NAN: not measured there, or it failed. */
  const double *ratios;
  size_t sizes;             /* whole-number parameters of a problem */
  const char *const *names; /* theirs */
  const int64_t *values;    /* [p * sizes + s] */
  const bool *decides;      /* of each size: what divides it may decide which variants there are; NULL: of all */
  const size_t *
      kernels; /* of each variant the first one that is the same compiled kernel, launched otherwise; NULL: none shares one */
  const double *best;      /* of each problem: the least cost itself; NULL: 1 */
  int64_t multiprocessors; /* that run blocks side by side; 0: not known, as if one */
};

static inline double portfolio_ratio(const struct portfolio_matrix *m, size_t problem, size_t variant) {
  return m->ratios[problem * m->variants + variant];
}

static inline int64_t portfolio_value(const struct portfolio_matrix *m, size_t problem, size_t size) {
  return m->values[problem * m->sizes + size];
}

/* More than any sum of served problems: serving one comes before speed. */
#define PORTFOLIO_UNSERVED 1e3

/* The logarithm, so that sums compare geometric means; and its square, so that the worst counts for more: 10 % slower costs 1.5 times
   as much as ten times 1 %. */
static inline double portfolio_cost(double ratio) {
  const double log_ratio = isfinite(ratio) ? log(ratio) : PORTFOLIO_UNSERVED;
  return isfinite(ratio) ? log_ratio + 5 * log_ratio * log_ratio : PORTFOLIO_UNSERVED;
}

/* The cost of one that is 40 % slower. Where a few are judged by, what costs more says no more than that it is far off. */
#define PORTFOLIO_FAR_OFF 1.0

/* What a variant costs while variants are chosen: more beyond 8 %, since a portfolio is judged by its worst problem, too. One that was not
   measured there is far off, as it was not worth measuring. */
static inline double portfolio_choice_cost(double ratio) {
  const double seen = isnan(ratio) ? 1.4 : ratio, beyond = isfinite(seen) ? fmax(log(seen) - log(1.08), 0) : 0;
  return portfolio_cost(seen) + 3.0 * beyond;
}

/* A variant that the rule names, and whose formula says more than so many times the least of all formulas, may be doubted: a branch that few
   problems made says less of others than waves and steps do. */
#define PORTFOLIO_DOUBTED 1.6

/* What is not worth another variant or another branch of the rule, on average over the problems: 0.05 %. */
#define PORTFOLIO_NEGLIGIBLE 0.0005

#endif
