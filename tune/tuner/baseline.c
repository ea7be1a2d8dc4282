/* The user's own function against the best variant; see baseline.h. The function is a candidate
   whose image is the text of its call (candidate_replace), so that workers verify and time it like
   any variant. */
#include "baseline.h"

#include "base/key.h"
#include "base/system.h"
#include "leaders.h"

/* Returns what the result of the run says about the function. */
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
  const struct measure_options measure = leaders_measure(run);
  struct cache_record record;
  double busy;
  int status = candidate_run(&run->bench, c, true, &measure, run_timeout(run), &record, &busy, err);
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
  /* The cause is resources if the function returned an error, and none if it does not load. */
  const bool declined = c && c->cause == CUGEN_CAUSE_RESOURCES;
  candidate_close(&run->bench, c);
  if (status == CUGEN_ERROR_INTERRUPTED) return CUGEN_OK; /* the search is interrupted as well */
  if (status || told(run)->outcome != CUGEN_OUTCOME_LAUNCH ||
      (declined && run->target->baseline->several))
    return status;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "cugen_tune_options.baseline '%s' cannot be called: %s. Correct it, or tune "
                   "without it",
                   run->options->baseline, told(run)->reason);
}

static int store(struct tuner_run *run, struct cache_record *record, cugen_error *err) {
  struct cache_key key = run->target->key;
  struct text options = {0};
  record_options_baseline(key.options, &options);
  key.options = text_get(&options);
  record->run_began = run->began_at;
  record->run_seconds = clock_seconds() - run->begin;
  int status =
      options.failed ? error_memory(err) : cache_store(run->target->cache, &key, record, err);
  text_free(&options);
  return status;
}

/* Tells the result of the best variant and the function, which were timed in turn. If the variant
   or the function failed early, the other one has no record. */
static int conclude(struct tuner_run *run, struct cache_record *best, struct cache_record *own,
                    cugen_error *err) {
  if (own->outcome) {
    tell(run, own->outcome, own->reason);
    return CUGEN_OK;
  }
  if (!own->variant || best->outcome || !run_knows_cost(run, own) || !run_knows_cost(run, best)) {
    tell(run, CUGEN_OUTCOME_OK, "the best variant failed, or no energy was measured");
    return CUGEN_OK;
  }
  told(run)->seconds = own->seconds;
  told(run)->best_seconds = best->seconds;
  told(run)->ratio = run_cost(run, own) / run_cost(run, best);
  int status = store(run, best, err);
  return status ? status : store(run, own, err);
}

int baseline_compare(struct run_records *records, cugen_error *err) {
  struct tuner_run *run = records->run;
  struct candidate *both[2] = {NULL, NULL}; /* the best variant, and the function */
  struct cache_record timed[2] = {{.variant = NULL}, {.variant = NULL}};
  if (!run->target->baseline || told(run)->outcome || run->interrupted) return CUGEN_OK;
  bench_lift_limit(&run->bench);
  run->stage = CUGEN_STAGE_RACE;
  int status = leaders_open_best(records, &both[0], err);
  const bool compares = !status && both[0];
  if (compares) status = open_function(run, both[0]->index, &both[1], err);
  /* The function was verified with the arguments of the first variant. The best variant's arguments
     may have another layout. */
  if (compares && !status) status = verify(run, both[1], err);
  if (compares && !status && !told(run)->outcome) {
    status = leaders_time_both(run, both, timed, err);
    if (!status) status = conclude(run, &timed[0], &timed[1], err);
  }
  for (size_t i = 0; i < 2; i++) {
    cache_record_free(&timed[i]);
    candidate_close(&run->bench, both[i]);
  }
  return status == CUGEN_ERROR_INTERRUPTED ? CUGEN_OK : status;
}
