/* The status of a run, and its count of remembered variants. */
#ifndef TUNE_TUNER_VERDICT_H
#define TUNE_TUNER_VERDICT_H

#include "queue.h"

/* Counts the variants whose known record still holds. */
size_t verdict_count_remembered(const struct run_records *r);

/* Returns the status of the whole run. late: names what was cut short by the end of the budget,
   else CUGEN_OK. complete: the strategy is exhausted, and all its variants were measured. */
int verdict_give(const struct proposals *p, const struct queue *queue, const cugen_error *late,
                 bool complete, cugen_error *err);

#endif
