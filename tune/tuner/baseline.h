/* The user's own function, which the best variant is compared with
   (cugen_tune_options.baseline). */
#ifndef TUNE_TUNER_BASELINE_H
#define TUNE_TUNER_BASELINE_H

#include "records.h"

/* Verifies the function before the search. A function that cannot be called is an error. If the
   function is wrong or dies, or returns an error for one of several problems, the result says so,
   and the run goes on. */
int baseline_try(struct tuner_run *run, cugen_error *err);
/* Times the function in turn with the best variant. If both are right, stores both records under
   cache options of their own, so that no look-up of variants finds them. */
int baseline_compare(struct run_records *records, cugen_error *err);

#endif
