/* Learns a portfolio: a limited number of variants, a rule that says which of them serves a
   problem, and the losses of problems. The result is deterministic. */
#ifndef TUNE_PORTFOLIO_LEARN_H
#define TUNE_PORTFOLIO_LEARN_H

#include "base/error.h"
#include "base/text.h"
#include "matrix.h"

/* What problems lose by a portfolio: the cost of the variant that serves them, divided by the cost
   of their best variant. NAN: not known. */
struct portfolio_loss {
  double mean, worst; /* geometric mean, and largest loss */
  size_t known;       /* number of problems whose loss is known */
  size_t missed;      /* number of problems that no chosen variant serves */
};

struct portfolio_learnt {
  /* The chosen variants; the rule gives an index into `chosen`. If the rule's variant is not valid
     for a problem, the valid variant of the least of `times` serves it; without times, the first
     valid one. */
  size_t *chosen;
  /* Count of chosen variants, limit of that count, and count of kernels among the chosen. */
  size_t count, most, kernels;
  struct text rule; /* an expression over the sizes: "select(M * N <= 4096, 0, least)" */
  /* For each variant, the expression of its time, by which "least" is found; an empty expression
     comes last. */
  struct text *times;
  size_t leaves; /* number of leaves of the rule's tree */
  /* PORTFOLIO_DOUBTED; 0: the rule's variant serves even if its formula is much larger than the
     least. */
  double doubted;
  /* By problem: index of the variant in `chosen` that serves it; count: none does. */
  size_t *given;
  /* By problem: the loss; `held` is the loss when the problem was left out of the learning. NAN:
     not known. */
  double *tuned, *held;
  /* Losses summed up over the problems; alone_loss: those of the rule without its exceptions, and
     with `missed` 0. */
  struct portfolio_loss tuned_loss, held_loss, alone_loss;
};

/* Learns a portfolio of at most `most` kernels, 1 to PORTFOLIO_MOST. Call portfolio_learnt_free
   even after an error. If no variant serves any problem, count is 0 and the rule is empty. */
int portfolio_learn(const struct portfolio_matrix *matrix, size_t most,
                    struct portfolio_learnt *out, cugen_error *err);
void portfolio_learnt_free(struct portfolio_learnt *learnt);

#endif
