/* The race of the leaders: the best few variants are measured again, in turn; see race.h. */
#ifndef TUNE_TUNER_LEADERS_H
#define TUNE_TUNER_LEADERS_H

#include "race.h"
#include "records.h"

/* A kernel in a race: its candidate, and the records of its rounds. */
struct leader {
  struct entrant *entrant; /* of leaders.c */
  /* NULL: the remembered record is of another kernel, or the variant is not asked for. */
  struct candidate *candidate;
  struct cache_record rounds[RACE_ROUNDS];
  double seconds; /* time that the rounds took */
  bool failed;    /* a round failed */
};

/* Returns the seconds of the budget that are reserved for the race, or for verifying predictions;
   0: neither will take place. */
double leaders_reserved(const struct tuner_run *run);
/* Races the best few variants against one another, on GPUs. */
int leaders_settle(struct run_records *r, cugen_error *err);

/* How a round of a race measures. */
struct measure_options leaders_measure(const struct tuner_run *run);
/* Opens and builds the candidate of the best variant; *out NULL: no variant is right. The caller
   closes *out even after an error. */
int leaders_open_best(const struct run_records *r, struct candidate **out, cugen_error *err);
/* Times the leaders in turn until it is known who is faster, or until the clock's time `until`, but
   RACE_LEAST_ROUNDS times. Runner i of the race is leader i. */
int leaders_run_rounds(struct tuner_run *run, struct race *race, struct leader *leaders,
                       double until, cugen_error *err);
/* Returns the record of the round of median time; NULL: there were too few. */
struct cache_record *leaders_median(const struct race_runner *runner, struct leader *leader);
void leaders_free_rounds(struct leader *leader);

#endif
