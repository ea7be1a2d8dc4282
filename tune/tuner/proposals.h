/* The variants that a run's strategy proposes, and what their results have shown so far. */
#ifndef TUNE_TUNER_PROPOSALS_H
#define TUNE_TUNER_PROPOSALS_H

#include "alike.h"
#include "best.h"
#include "records.h"

struct proposals {
  struct tuner_run *run;
  struct run_records *records;
  const struct strategy_ops *ops;
  struct axes *axes; /* axes of the space, for the strategy */
  struct strategy *strategy;
  bool exhausted; /* the strategy has no further variants */
  struct best best;
  struct alike alike;
  /* The first record given to proposals_meet that shows that its variant is wrong; NULL: none. */
  const struct cache_record *wrong;
};

/* Opens the strategy p->ops over the variants of the implementations that the run's options name,
   or of all. CUGEN_ERROR_EMPTY, with the reason, if there is nothing to try. seed: makes tuners
   that share a space search in different orders. Call proposals_close even after an error. */
int proposals_open(struct proposals *p, uint64_t seed, cugen_error *err);
void proposals_close(struct proposals *p);
/* Reports the result of a variant to `best`, `alike` and, unless it is a library's, `strategy`. */
void proposals_tell(struct proposals *p, uint64_t index, const struct cache_record *record);
/* Uses the record of a variant that this run would otherwise have measured: a remembered record or
   another tuner's. */
void proposals_meet(struct proposals *p, uint64_t index, const struct cache_record *record);
/* Counts a variant that begins, for the source that named it as a prior. */
void proposals_count_prior(struct proposals *p, uint64_t index);

#endif
