/* Learning a portfolio: at most so many variants, a rule that says which of them serves a problem, and how good both are. Pure: of a
   matrix alone, and equal input gives equal output. */
#ifndef TUNE_PORTFOLIO_LEARN_H
#define TUNE_PORTFOLIO_LEARN_H

#include "base/error.h"
#include "base/text.h"
#include "matrix.h"

/* What problems lose by it: their cost by that of their best variant. NAN: not known. */
struct portfolio_loss {
  double mean, worst; /* geometric mean */
  size_t known;       /* of so many problems */
  size_t missed;      /* problems that nothing serves */
};

struct portfolio_learnt {
  /* Variants. What the rule gives is an index here. Where that is no variant, the one of the least time that is one serves; without times the
     first. */
  size_t *chosen;
  size_t count, most, kernels; /* kernels: that they are */
  struct text rule;            /* an expression over the sizes: "select(M * N <= 4096, 0, least)" */
  struct text *times;          /* of each variant, an expression too: what "least" compares; empty: it comes last */
  size_t leaves;
  double doubted; /* PORTFOLIO_DOUBTED; 0: what the rule names serves, whatever its formula says */
  size_t *given;  /* for each problem what serves it, of chosen; count: nothing does */
  double *tuned,
      *held; /* for each problem what it loses; held: where it was left out of the learning. NAN: not known */
  struct portfolio_loss tuned_loss, held_loss, alone_loss; /* alone: of `tuned`, without the rule's exceptions */
};

/* most: kernels, 1 to PORTFOLIO_MOST. To be freed whatever comes back. With no variant that serves anything count is 0, and the rule empty. */
int portfolio_learn(const struct portfolio_matrix *matrix, size_t most, struct portfolio_learnt *out,
                    cugen_error *err);
void portfolio_learnt_free(struct portfolio_learnt *learnt);

#endif
