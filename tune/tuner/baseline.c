/* The user's own function against the best variant; see baseline.h. The function is a candidate whose
   image is the text of its call (candidate_replace), so that workers verify and time it like any
   variant. */
#include "baseline.h"

#include "base/system.h"
#include "leaders.h"

/* Limit in seconds of the rounds beyond the least number of them. */
static const double most_seconds = 1;

static cugen_baseline_result *told(const struct tuner_run *run) {
  return &run->result->baseline;
}

static void tell(struct tuner_run *run, cugen_outcome outcome, const char *reason) {
  text_add(run->target->baseline->reason, reason);
  told(run)->outcome = outcome;
  told(run)->reason = text_get(run->target->baseline->reason);
}

static int open_function(struct tuner_run *run, uint64_t index, struct candidate **out,
                         cugen_error *err) {
  int status = candidate_open(&run->bench, index, out, err);
  return status ? status : candidate_replace(&run->bench, *out, run->target->baseline, err);
}

/* Verifies the function as the candidate. Tells a failure, unless the function is not to blame. */
static int verify(struct tuner_run *run, struct candidate *c, cugen_error *err) {
  const double timeout = run->options->variant_timeout;
  const struct measure_options measure = leaders_measure(run);
  struct cache_record record;
  double busy;
  int status = candidate_run(&run->bench, c, true, &measure,
                             timeout > 0 ? timeout : run_variant_timeout, &record, &busy, err);
  if (status) return status;
  run->result->measuring += busy;
  if (record.outcome && !c->faulty) tell(run, record.outcome, record.reason);
  cache_record_free(&record);
  return CUGEN_OK;
}

/* A fault of the template or of the data is not the function's; the search meets and reports it. */
int baseline_try(struct tuner_run *run, cugen_error *err) {
  struct candidate *c = NULL;
  if (!run->target->baseline || !space_valid(run->target->space)) return CUGEN_OK;
  told(run)->function = run->options->baseline;
  int status = open_function(run, 0, &c, err);
  if (!status && !c->refused.status) status = verify(run, c, err);
  candidate_close(&run->bench, c);
  if (status == CUGEN_ERROR_INTERRUPTED) return CUGEN_OK; /* so is the search */
  if (status || told(run)->outcome != CUGEN_OUTCOME_LAUNCH) return status;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "cugen_tune_options.baseline '%s' cannot be called: %s. Correct it, or tune "
                   "without it",
                   run->options->baseline, told(run)->reason);
}

static int store(struct run_records *records, struct cache_record *record, cugen_error *err) {
  const struct tuner_run *run = records->run;
  struct cache_key key = run->target->key;
  key.options = run->target->baseline->options;
  record->run_began = run->began_at;
  record->run_seconds = clock_seconds() - run->begin;
  return cache_store(run->target->cache, &key, record, err);
}

/* leaders[0] is the best variant, leaders[1] the function. */
static int race_both(struct run_records *records, struct leader leaders[2], cugen_error *err) {
  struct tuner_run *run = records->run;
  struct race race = {.count = 2};
  int status = leaders_run_rounds(run, &race, leaders, clock_seconds() + most_seconds, err);
  struct cache_record *best = leaders_median(&race.runners[0], &leaders[0]),
                      *function = leaders_median(&race.runners[1], &leaders[1]);
  if (status) return status;
  if (!best || !function) {
    const bool own = leaders[1].failed;
    const struct cache_record *failed = own ? &leaders[1].rounds[race.runners[1].rounds] : NULL;
    tell(run, own ? failed->outcome : CUGEN_OUTCOME_OK,
         own ? failed->reason : "the best variant failed when both were timed in turn");
    return CUGEN_OK;
  }
  told(run)->seconds = function->seconds;
  told(run)->best_seconds = best->seconds;
  told(run)->measured_at = function->measured_at;
  told(run)->ratio = run_cost(run, function) / run_cost(run, best);
  status = store(records, best, err);
  return status ? status : store(records, function, err);
}

int baseline_compare(struct run_records *records, cugen_error *err) {
  struct tuner_run *run = records->run;
  struct leader leaders[2] = {{.candidate = NULL}, {.candidate = NULL}};
  if (!run->target->baseline || told(run)->outcome || run->interrupted) return CUGEN_OK;
  bench_lift_limit(&run->bench);
  run->stage = CUGEN_STAGE_RACE;
  int status = leaders_open_best(records, &leaders[0].candidate, err);
  const struct candidate *best = leaders[0].candidate;
  if (!status && best) status = open_function(run, best->index, &leaders[1].candidate, err);
  /* Its arguments may lie in another way than those of the first variant. */
  if (!status && best) status = verify(run, leaders[1].candidate, err);
  if (!status && best && !told(run)->outcome) status = race_both(records, leaders, err);
  for (size_t i = 0; i < 2; i++) {
    leaders_free_rounds(&leaders[i]);
    candidate_close(&run->bench, leaders[i].candidate);
  }
  return status == CUGEN_ERROR_INTERRUPTED ? CUGEN_OK : status;
}
