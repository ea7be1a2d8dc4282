/* The score of a strategy on a recorded space, as the community's methodology defines it
   (Willemsen and others, A methodology for comparing optimization algorithms for auto-tuning,
   Future Generation Computer Systems 159, 2024; the Python package autotuning_methodology): the
   mean, over a budget of time, of how far the best found so far has come from what random search
   is expected to have found by then (0) to the optimum (1). The budget begins when random search
   is expected to be 1 % of the way from the median to the optimum, and ends when it is 95 %.
   README.md has the definition. */
#ifndef REPLAY_SCORE_H
#define REPLAY_SCORE_H

#include "recorded.h"

struct score;

/* seconds: the end of the budget; 0: where random search is expected to have come 95 % of the
   way. recorded is not kept. */
int score_open(const struct recorded *recorded, double seconds, struct score **out,
               cugen_error *err);
void score_close(struct score *score);

/* When random search is at 1 %, and the end. */
double score_start(const struct score *score);
double score_stop(const struct score *score);
/* Variants that random search tries in the budget. */
double score_variants(const struct score *score);
double score_optimum(const struct score *score);

/* What was tried, in the order of its results. */
struct score_run {
  size_t count;
  double *seconds; /* since the run's begin, rising */
  double *costs;   /* NAN: it failed */
};

int score_runs(const struct score *score, const struct score_run *runs, size_t count, double *out,
               cugen_error *err);

#endif
