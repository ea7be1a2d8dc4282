/* What all parts of one run of the tuner share: what the run is given, its bench, its clock, and
   the counts of its result. */
#ifndef TUNE_TUNER_RUN_H
#define TUNE_TUNER_RUN_H

#include "tune/candidate.h"

/* Default of cugen_tune_options.patience for predictions and the cpu device if no budget is set. */
enum { RUN_PATIENCE = 24 };
/* Defaults in seconds, used if the options leave them out. */
static const double run_gpu_budget = 60, run_cpu_budget = 30, run_variant_timeout = 10,
                    run_compile_timeout = 60;

struct tuner_run {
  const struct tune_target *target;
  const cugen_tune_options *options;
  cugen_tune_result *result; /* holds the counts up to now */
  struct bench bench;
  double begin;     /* when the run began, by clock_seconds() */
  double budget;    /* seconds; not above 0: no limit */
  size_t patience;  /* variants in a row, none better, after which the run ends; 0: no limit */
  int64_t began_at; /* when the run began, in microseconds since the epoch; becomes
                       cugen_record.run_began */
  cugen_stage stage;
  bool interrupted; /* the user's callback has asked to stop */
};

/* Returns when a run with a time limit, in which a variant was right, must have ended, by
   clock_seconds(): a tenth of the limit, at least a second, after the limit. */
double run_latest_end(const struct tuner_run *run);

/* Returns true if the options ask for this implementation. */
bool run_wants(const struct tuner_run *run, const struct space_implementation *one);
/* Returns the number of the variant's implementation. A variant that heuristics left out of the
   space has none; the count of implementations is then returned. */
size_t run_implementation(const struct tuner_run *run, uint64_t index);
/* Finds the variant. Returns false if the space has no such variant, or if the options do not ask
   for its implementation. */
bool run_find(const struct tuner_run *run, const char *variant, uint64_t *index);
/* Opens the candidate of a variant. *out becomes NULL if run_find does not find the variant. */
int run_open(struct tuner_run *run, const char *variant, struct candidate **out, cugen_error *err);

/* Returns the number of the i-th of `samples` variants that are sampled from `variants`: one from a
   varying place of each of `samples` equal parts, so that tunables that change from each number to
   the next differ between samples. */
static inline uint64_t run_sample(uint64_t variants, uint64_t samples, uint64_t i) {
  const uint64_t part = variants / samples;
  return i * part + (i * UINT64_C(0x9e3779b97f4a7c15) >> 32) % part;
}

/* Returns the timeout of a variant in seconds. */
double run_timeout(const struct tuner_run *run);

/* Returns the cost of a record by the config's objective; less is better. */
double run_cost(const struct tuner_run *run, const struct cache_record *record);
/* Returns false if the objective needs an energy and the record has none. */
bool run_knows_cost(const struct tuner_run *run, const struct cache_record *record);
/* Like run_cost, for the search, which measures no energies: if the objective needs them, all
   variants count as drawing the same power. */
double run_search_cost(const struct tuner_run *run, const struct cache_record *record);
/* Returns true if the record is right and, if certain outputs are asked for, has them. */
bool run_accepts(const struct tuner_run *run, const struct cache_record *record);

#endif
