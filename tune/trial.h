/* Runs single variants, one after the other on one worker, verified and timed. No record is stored
   in the cache. */
#ifndef TUNE_TRIAL_H
#define TUNE_TRIAL_H

#include "target.h"
#include "worker/measure.h"

struct trial;

struct trial_options {
  uint64_t seed;
  double compile_timeout;             /* seconds for one compile; 0: 60 */
  bool (*interrupted)(void *context); /* called while waiting; true: give up; NULL: never called */
  void *context;
};

/* Opens a trial. target and what it points at are borrowed until trial_close. Between two runs,
   target->problem and target->space may be replaced by those of another size. */
int trial_open(const struct tune_target *target, const struct trial_options *options,
               struct trial **out, cugen_error *err);
/* Appends what the last run's kernels printed (worker_printed). all: in all launches, not only in
   the first. */
void trial_printed(const struct trial *trial, bool all, struct text *out);
void trial_close(struct trial *trial);

/* The context of trial_poll: a trial that reports its progress. */
struct trial_watch {
  cugen_progress progress;          /* the members that do not change */
  cugen_progress_callback callback; /* NULL: none */
  void *context;                    /* of the callback */
  double begin;                     /* clock_seconds at the beginning */
  struct trial *trial;              /* NULL: not open yet */
};
/* For trial_options.interrupted: reports the progress, and returns whether the callback asked to
   stop. */
bool trial_poll(void *watch);

/* Runs a variant of target->space on target->problem, which may be smaller than the space's
   problem. If the smaller problem does not allow the variant, the record says that the launch is
   refused. A fault that variants may share (`faulty` of struct candidate) is an error. timeout:
   seconds of the run, 0: 10. The caller frees the record. */
int trial_run(struct trial *trial, uint64_t index, double timeout,
              const struct measure_options *measure, struct cache_record *out, cugen_error *err);

#endif
