/* Single variants, verified and timed one after the other on one worker. Nothing is remembered. */
#ifndef TUNE_TRIAL_H
#define TUNE_TRIAL_H

#include "measure.h"
#include "tuner.h"

struct trial;

struct trial_options {
  uint64_t seed;
  double compile_timeout;             /* 0: 60 */
  bool (*interrupted)(void *context); /* NULL: never */
  void *context;
};

/* target and what it points at are borrowed until trial_close. Between two runs its problem and space may become others of the config. */
int trial_open(const struct tune_target *target, const struct trial_options *options, struct trial **out,
               cugen_error *err);
/* As worker_makes_data. */
bool trial_makes_data(const struct trial *trial);
/* What the kernels of the last run printed; see worker_printed. */
void trial_printed(const struct trial *trial, bool all, struct text *out);
void trial_close(struct trial *trial);

/* A variant of target->space on target->problem, which may be smaller than the space's: what it does not allow there is a
   record of a launch that is refused. What is no variant's own fault, as a template that does not expand or data that cannot be made, is
   an error. timeout of the run, 0: 10. The caller frees the record. */
int trial_run(struct trial *trial, uint64_t index, double timeout, const struct measure_options *measure,
              struct cache_record *out, cugen_error *err);

#endif
