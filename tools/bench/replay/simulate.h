/* A tuning run on a recorded space: the strategy that tunes, by a simulated clock. */
#ifndef REPLAY_SIMULATE_H
#define REPLAY_SIMULATE_H

#include "recorded.h"
#include "score.h"
#include "tune/search/strategy.h"

enum { SIMULATE_MOST_PRIORS = 8 }; /* as the tuner has */

struct simulation {
  const struct recorded *recorded;
  const struct strategy_ops *strategy;
  uint64_t seed;
  /* variants that are asked for before a result is reported, beside the one that it is of */
  size_t in_flight;
  /* that compile while the device measures; 0: one variant after the other, all in its turn */
  size_t threads;
  const uint64_t *priors; /* of the file: a prior's variants, the best first */
  size_t prior_count;
  double seconds; /* ends with the first result after so many */
};

/* Frees what *out had; the indices of what was tried go into *tried, unless NULL. Both to be
   freed with simulate_free. */
int simulate(const struct simulation *simulation, struct score_run *out, uint64_t **tried,
             cugen_error *err);
void simulate_free(struct score_run *run, uint64_t *tried);

#endif
