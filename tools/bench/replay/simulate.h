/* A tuning run on a recorded space: the strategy that tunes, by a simulated clock. */
#ifndef REPLAY_SIMULATE_H
#define REPLAY_SIMULATE_H

#include "recorded.h"
#include "score.h"
#include "tune/search/strategy.h"

enum { SIMULATE_MOST_PRIORS = 8 }; /* as many as in the tuner */

struct simulation {
  const struct recorded *recorded;
  const struct strategy_ops *strategy;
  uint64_t seed;
  /* variants that are asked for before a result is reported, in addition to the one reported */
  size_t in_flight;
  /* threads that compile while the device measures; 0: each variant is compiled and measured in
     its turn */
  size_t threads;
  const uint64_t *priors; /* places in the file of a prior's variants, the best first */
  size_t prior_count;
  double seconds; /* the run ends with the first result after so many seconds */
};

/* Frees what *out had before. The indices of the tried variants go into *tried, unless NULL. The
   caller frees both with simulate_free. */
int simulate(const struct simulation *simulation, struct score_run *out, uint64_t **tried,
             cugen_error *err);
void simulate_free(struct score_run *run, uint64_t *tried);

#endif
