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

/* seconds: the end of the budget; 0: the time at which random search is expected to be 95 % of
   the way. recorded is not kept. */
int score_open(const struct recorded *recorded, double seconds, struct score **out,
               cugen_error *err);
void score_close(struct score *score);

/* The time at which random search is 1 % of the way, and the end of the budget. */
double score_start(const struct score *score);
double score_stop(const struct score *score);
/* Returns how many variants random search tries in the budget. */
double score_variants(const struct score *score);
double score_optimum(const struct score *score);

/* What a run tried, in the order of the results. */
struct score_run {
  size_t count;
  double *seconds; /* seconds since the beginning of the run, rising */
  double *costs;   /* NAN: the variant failed */
};

int score_runs(const struct score *score, const struct score_run *runs, size_t count, double *out,
               cugen_error *err);

#endif
