/* Keeps the workers measuring: gives them ready candidates, takes their results, and has each
   result counted, stored and reported. */
#ifndef TUNE_TUNER_WORKERS_H
#define TUNE_TUNER_WORKERS_H

#include "counts.h"
#include "slots.h"

struct workers {
  struct tuner_run *run;
  struct run_records *records;
  struct proposals *proposals;
  struct slots slots;
  struct counts counts;
  char *last; /* the variant that was tried last */
};

/* Takes the results that are there and gives compiled candidates to idle workers. *advanced is set
   to true if there was anything to do. */
int workers_advance(struct workers *w, bool *advanced, cugen_error *err);
/* Takes the results that are there. more: a worker with a right result begins a ready candidate at
   once. */
int workers_take_results(struct workers *w, bool more, bool *advanced, cugen_error *err);
/* Call this after an error of a measurement that ran alone. If the error is the device's own and
   another device is left, marks the device as lost and returns true. */
bool workers_lose_device(struct workers *w, const cugen_error *err);
void workers_close(struct workers *w);

#endif
