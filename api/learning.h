/* Portfolios: few variants for many sizes. */
#ifndef API_LEARNING_H
#define API_LEARNING_H

#include "cache.h"

/* A problem from which a portfolio was learnt, and the variant that serves it. */
typedef struct cugen_portfolio_problem {
  const char *problem;
  size_t variant;   /* index into variants; variant_count: no variant serves the problem */
  double seconds;   /* time with that variant; 0: unknown, because the variant was not measured for
                       this problem */
  const char *best; /* the best variant of this problem; "": none */
  double best_seconds;
  double loss, held_out_loss; /* the loss as a factor; held out: if the portfolio were learnt
                                 without this problem. 0: unknown */
} cugen_portfolio_problem;

/* A portfolio: few variants, and a rule that says which variant serves which size
   (docs/portfolios.md). A portfolio is for one class, whose problems agree in all values that are
   not whole numbers. The rule is an expression over sizes, such as "select(M * N <= 4096, 0,
   least)", whose value is an index into variants; least is the variant with the smallest time. If
   the variant with that index is not valid, the valid variant with the smallest time serves;
   without times, the first valid one. */
typedef struct cugen_portfolio {
  const char *config, *problem_class, *device, *options, *objective;
  const char *rule;
  const cugen_portfolio_variant *variants;
  size_t variant_count;
  size_t problems;                        /* number of problems from which the portfolio was
                                             learnt */
  double mean, worst;                     /* mean and largest loss of the problems, as factors; 0:
                                             unknown */
  double held_out_mean, held_out_worst;   /* the losses to expect for other sizes, by
                                             cross-validation */
  int64_t learnt_at;                      /* seconds since the epoch */
  const cugen_portfolio_problem *problem; /* api_kernels_learn: the problems; else NULL */
  size_t unserved;                        /* api_kernels_learn: problems without a current correct
                                             record; else 0 */
  /* The variant that the rule names does not serve if its time is this many times another
     variant's; 0: the variant always serves. */
  double doubted;
  /* Number of compiled kernels among the variants: variants of one kernel differ in launch
     parameters or in the grid. 0: unknown. */
  size_t kernels;
  size_t missed;          /* problems that no variant serves; the losses leave them out */
  size_t held_out_missed; /* api_kernels_learn: problems that a portfolio learnt from the others
                             would not serve; else 0 */
} cugen_portfolio;

typedef struct cugen_learn_options {
  size_t most;    /* largest number of kernels, 1 to 64; 0: 8 */
  int remembered; /* learn from all problems that have records on the device and agree with the
                     first kernel's settings */
  int dry;        /* do not store the portfolio */
} cugen_learn_options;

/* Learns a portfolio for each class of the kernels' problems from their records, and stores it in
   place of an earlier one for the class. Nothing is measured, and the device need not be present.
   The kernels are of one config and library. *out has an element for each class, except classes
   without a current correct record (api_kernel_unlearnt), and lives until the next call on the
   first kernel. Records that the first kernel's filter (api_kernel_filter) excludes are left out.
   CUGEN_ERROR_USAGE: for example, no correct variant is remembered, or `most` is too large. */
int api_kernels_learn(cugen_kernel *const *kernels, size_t count,
                      const cugen_learn_options *options, const cugen_portfolio **out,
                      size_t *portfolios, cugen_error *error);

/* The classes for which the last api_kernels_learn, with this kernel as its first, learnt no
   portfolio, by index, each with the reason: "NAME dtype=i32: its 2 correct records are stale".
   NULL: there are no more. */
const char *api_kernel_unlearnt(const cugen_kernel *kernel, size_t index);

/* Lists the portfolios of the kernel's class, device and options, in the order in which a plan
   tries them. *out lives until the next call. */
int api_kernel_portfolios(cugen_kernel *kernel, const cugen_portfolio **out, size_t *count,
                          cugen_error *error);

/* Lists all portfolios that the filter selects (NULL: all); the filter's problem is compared with
   the class. *out lives until the next call. */
int api_cache_portfolios(cugen *lib, const cugen_cache_filter *filter, const cugen_portfolio **out,
                         size_t *count, cugen_error *error);

#endif
