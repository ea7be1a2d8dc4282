/* The status of a run, and its final counts. */
#ifndef TUNE_TUNER_VERDICT_H
#define TUNE_TUNER_VERDICT_H

#include "queue.h"

/* Counts the variants with a known record, because a run that ended early has not met all of
   them. */
size_t verdict_count_remembered(const struct run_records *records);

/* How a run ended. */
struct verdict {
  const struct proposals *proposals;
  const struct candidate_queue *queue; /* candidates that were not measured */
  cugen_error late; /* names the data still being made at the end of the budget; else CUGEN_OK */
  bool complete;    /* the strategy is exhausted, and all its variants were measured */
};
/* Returns the status of the whole run. */
int verdict_give(const struct verdict *verdict, cugen_error *err);

#endif
