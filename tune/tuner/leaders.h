/* The race of the leaders: the best few variants are measured again, in turn; see race.h. */
#ifndef TUNE_TUNER_LEADERS_H
#define TUNE_TUNER_LEADERS_H

#include "records.h"

/* Returns the seconds of the budget that are reserved for measuring energies and for the race, or
   for verifying predictions; 0: none. */
double leaders_reserved(const struct tuner_run *run);
/* Races the best few variants against one another. Does nothing on the cpu device, for predictions,
   after an interruption, or if the run made no record. */
int leaders_settle(struct run_records *r, cugen_error *err);

/* Returns how a round of a race measures. */
struct measure_options leaders_measure(const struct tuner_run *run);
/* Opens and builds the candidate of the best variant; *out NULL: no right variant can be opened.
   The caller closes *out even after an error. */
int leaders_open_best(const struct run_records *r, struct candidate **out, cugen_error *err);
/* Times two candidates in turn until it is known which is faster or about a second is over, but at
   least RACE_LEAST_ROUNDS rounds. out[i] becomes the record of candidate i's round of median
   time, or of the round that failed, which the caller frees; its variant is NULL if there were
   too few rounds. */
int leaders_time_both(struct tuner_run *run, struct candidate *const candidates[2],
                      struct cache_record out[2], cugen_error *err);

#endif
