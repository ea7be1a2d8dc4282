/* The input from which a portfolio is learnt: how much slower each variant is than the best one, on
   each problem. */
#ifndef TUNE_PORTFOLIO_MATRIX_H
#define TUNE_PORTFOLIO_MATRIX_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PORTFOLIO_MOST = 64 }; /* most variants of a portfolio */

struct portfolio_matrix {
  size_t problems, variants;
  /* [p * variants + v]: cost of variant v on problem p, divided by the least cost of the problem; 1
     or more. INFINITY: the variant is not valid there, which is seen before a launch. NAN: the
     variant was not measured there, or it failed. */
  const double *ratios;
  size_t sizes;             /* number of whole-number parameters of a problem */
  const char *const *names; /* names of the sizes */
  const int64_t *values;    /* [p * sizes + s] */
  /* By size: whether the size's divisors may decide which variants are valid; NULL: those of all
     sizes may. */
  const bool *decides;
  /* By variant: the first variant that is the same compiled kernel, launched in another way; NULL:
     no variants share a kernel. */
  const size_t *kernels;
  const double *best; /* by problem: the least cost in absolute terms; NULL: 1 */
  /* Number of multiprocessors that run blocks side by side; 0: not known, counts as one. */
  int64_t multiprocessors;
};

static inline double portfolio_ratio(const struct portfolio_matrix *m, size_t problem,
                                     size_t variant) {
  return m->ratios[problem * m->variants + variant];
}

static inline int64_t portfolio_value(const struct portfolio_matrix *m, size_t problem,
                                      size_t size) {
  return m->values[problem * m->sizes + size];
}

/* The cost of a problem that no variant serves, more than that of hundreds of served problems. */
#define PORTFOLIO_UNSERVED 1e3

/* Returns the logarithm of the ratio, so that sums compare geometric means, plus five times its
   square: one problem 10 % slower costs 1.35 times as much as ten problems 1 % slower. */
static inline double portfolio_cost(double ratio) {
  const double log_ratio = isfinite(ratio) ? log(ratio) : PORTFOLIO_UNSERVED;
  return isfinite(ratio) ? log_ratio + 5 * log_ratio * log_ratio : PORTFOLIO_UNSERVED;
}

/* The cost of a variant that is 43 % slower. */
#define PORTFOLIO_FAR_OFF 1.0

/* The cost of a variant while variants are chosen. Losses beyond 8 % cost more, because a portfolio
   is judged also by its worst problem. A variant that was not measured on the problem counts as 40
   % slower. */
static inline double portfolio_choice_cost(double ratio) {
  const double seen = isnan(ratio) ? 1.4 : ratio,
               beyond = isfinite(seen) ? fmax(log(seen) - log(1.08), 0) : 0;
  return portfolio_cost(seen) + 3.0 * beyond;
}

/* The variant that the rule names is doubted if its formula is more than this factor times the
   least of all formulas. A branch of the rule that few problems made says less about other problems
   than the formulas do. */
#define PORTFOLIO_DOUBTED 1.6

/* A gain that is not worth another variant or another branch of the rule: 0.05 % on average over
   the problems. */
#define PORTFOLIO_NEGLIGIBLE 0.0005

#endif
