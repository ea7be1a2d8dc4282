/* The race of the leaders: the best few variants are measured again, in turn; see race.h. */
#ifndef TUNE_TUNER_LEADERS_H
#define TUNE_TUNER_LEADERS_H

#include "records.h"

/* Returns the seconds of the budget that are reserved for the race, or for verifying predictions;
   0: neither will take place. */
double leaders_reserved(const struct tuner_run *run);
/* Races the best few variants against one another, on GPUs. */
int leaders_settle(struct run_records *r, cugen_error *err);

#endif
