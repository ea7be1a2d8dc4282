/* The tuning loop; see tuner.h. Searching, compiling and measuring overlap:

     strategy -- index --> candidate -- source --> compile pool -- image --> worker -- record --> cache
        ^                                                                                |
        +------------------------------------- cost -------------------------------------+

   One thread, the coordinator, runs this file. It keeps AHEAD variants per compile thread expanded and
   in the pool, takes whichever image is ready first, and has the worker verify and time it. If more
   variants were kept ahead, the strategy would choose them before it knows the costs of earlier ones.
   Several equal devices have a worker each, and all workers are given what is ready
   (tuner_workers.c).

   Invariants:
   - A variant is given to one worker once in a run, unless that worker's device is in doubt. A variant
     with a valid record is skipped, and its cost is reported to the strategy as if it had been
     measured (tuner_meet_known). Equal images are measured once (tuner_find_equal).
   - Each record is in the cache before the next variant is measured, so that a kill loses only what is
     in progress. Only refusals that may be the config's fault wait until one variant shows that they
     are not (hold_back, tuner_give_held).
   - The order in which variants are taken depends on which compile ends first. The verdict does not
     depend on it, because the leaders are measured again, in turn, after the search (leaders.c).
   - Budgets are checked between two variants.
   - If the cache keeps claims, several tuners share the space (sharing.c): a variant is claimed before
     it is compiled. */
#include "tuner_run.h"

#include <stdlib.h>

#include "base/system.h"

enum {
  /* Variants for each compile thread; more would be chosen before the strategy learns from earlier
     results. */
  AHEAD = 2
};

/* ---- Progress ------------------------------------------------------------------------------- */

static double tuner_time_left(const struct tuner *t, double elapsed) {
  double left = t->run.budget > 0 ? t->run.budget - elapsed : -1;
  size_t planned = t->run.options->budget_count;
  if (planned && t->run.result->tried) {
    double by_count =
        elapsed / (double)t->run.result->tried * (double)(planned - t->run.result->tried);
    left = left < 0 || by_count < left ? by_count : left;
  }
  uint64_t open = t->run.result->valid - t->run.result->remembered - t->run.result->tried;
  if (t->run.result->tried) {
    double by_space = elapsed / (double)t->run.result->tried * (double)open;
    left = left < 0 || by_space < left ? by_space : left;
  }
  return left;
}

static bool makes_data(const struct tuner *t) {
  return t->run.bench.workers && worker_pool_makes_data(t->run.bench.workers);
}

/* Calls the user's callback; true when it asks to stop. */
static bool poll_user(struct tuner *t) {
  double now = clock_seconds(), elapsed = now - t->run.begin;
  tuner_renew_claims(t);
  t->last_poll = now;
  if (t->run.interrupted || !t->run.options->progress) return t->run.interrupted;
  uint64_t open = t->run.result->valid - t->run.result->remembered;
  cugen_progress progress = {
      .done = t->run.result->tried,
      .failed = t->run.result->failed,
      .planned = t->run.options->budget_count ? t->run.options->budget_count : 0,
      .valid = t->run.result->valid,
      .elapsed = elapsed,
      .remaining = tuner_time_left(t, elapsed),
      .best = t->proposals.best.variant,
      .best_seconds = t->proposals.best.seconds,
      .last = t->last,
      .flops = t->proposals.best.flops,
      .bytes = t->proposals.best.bytes,
      .problem = t->run.target->key.problem,
      .problems = 1,
      .stage = makes_data(t) ? CUGEN_STAGE_DATA : t->run.stage,
      .lost = t->run.target->lost && t->run.target->lost->length ? text_get(t->run.target->lost)
                                                                 : NULL};
  if (progress.planned > open) progress.planned = (size_t)open;
  if (!progress.planned && t->run.budget <= 0) progress.planned = (size_t)open;
  t->run.interrupted = t->run.options->progress(&progress, t->run.options->context) != 0;
  return t->run.interrupted;
}

static bool worker_poll(void *context) {
  return poll_user(context);
}

/* ---- The loop ------------------------------------------------------------------------------- */

static bool budget_spent(const struct tuner *t) {
  if (t->run.options->budget_count && t->run.result->tried >= t->run.options->budget_count)
    return true;
  return t->run.budget > 0 && clock_seconds() - t->run.begin >= t->run.budget - tuner_race_share(t);
}

/* Takes the strategy's next variant. Variants with a known record are skipped. */
static int take_next(struct tuner *t, cugen_error *err) {
  uint64_t index;
  if (!t->proposals.ops->next(t->proposals.strategy, &index)) {
    t->proposals.exhausted = true;
    return CUGEN_OK;
  }
  struct candidate *c;
  int status = candidate_open(&t->run.bench, index, &c, err);
  if (status) return status;
  const struct cache_record *known = run_records_find(&t->records, &c->real);
  /* A record that shows that the variant is wrong stands, whatever is predicted. */
  if (known &&
      (!t->run.options->again || (t->run.target->predicted && cache_record_is_refuted(known)))) {
    proposals_meet(&t->proposals, index, known);
    candidate_close(&t->run.bench, c);
    return CUGEN_OK;
  }
  return tuner_shares(t) ? tuner_propose(t, c, err) : tuner_begin(t, c, err);
}

/* Keeps enough candidates in the compile pool for its threads. */
static int top_up(struct tuner *t, cugen_error *err) {
  int status = CUGEN_OK;
  while (!status && !t->proposals.exhausted && t->pending_count < tuner_most_ahead(t) &&
         !budget_spent(t) &&
         !(t->run.options->budget_count && t->given >= t->run.options->budget_count)) {
    status = take_next(t, err);
    if (clock_seconds() - t->last_poll > 0.1 && poll_user(t)) break;
  }
  return status;
}

/* Starts and finishes what is ready, and waits otherwise. *over is set to true if nothing more can
   be done in the remaining time. */
static int tuner_step(struct tuner *t, bool *over, cugen_error *err) {
  /* Read before the look, so that an event during it ends the wait. */
  const size_t events = compile_pool_events(t->run.bench.pool);
  const bool last = compile_pool_over(t->run.bench.pool);
  bool advanced;
  int status = tuner_advance(t, &advanced, err);
  const bool busy = tuner_busy(t) > 0;
  *over = !advanced && last && !busy;
  if (!status && !advanced && (busy || (t->pending_count && !last)))
    compile_pool_wait_beyond(t->run.bench.pool, events, 0.05);
  return status;
}

/* Returns true if the strategy is exhausted, no variant is under way here or in another tuner, and
   none waits for its data. */
static bool tuner_is_done(const struct tuner *t) {
  return t->proposals.exhausted && !t->late.status &&
         t->pending_count + tuner_busy(t) + t->sharing.count + t->sharing.batch_count == 0;
}

/* Takes the results of everything that is still being measured. stop: at once, leaving what has not
   ended. */
static int await_workers(struct tuner *t, bool stop, cugen_error *err) {
  int status = CUGEN_OK;
  bool advanced;
  while (tuner_busy(t)) {
    const size_t events = compile_pool_events(t->run.bench.pool);
    cugen_error why;
    if (stop) worker_pool_stop(t->run.bench.workers);
    int one = tuner_take_results(t, &advanced, &why);
    if (one && !status) status = error_copy(err, &why);
    stop |= poll_user(t) || one;
    if (tuner_busy(t) && !one) compile_pool_wait_beyond(t->run.bench.pool, events, 0.1);
  }
  return status;
}

static int search(struct tuner *t, cugen_error *err) {
  int status = CUGEN_OK;
  bool over = false;
  while (!status && !over && !budget_spent(t) &&
         !alike_judge(&t->proposals.alike, &t->run, t->proposals.axes) && !poll_user(t)) {
    status = top_up(t, err);
    if (!status) status = tuner_share(t, err);
    if (!status && tuner_is_done(t)) break;
    if (!status) status = tuner_step(t, &over, err);
    tuner_rest(t);
  }
  cugen_error ignored;
  int left = await_workers(t, status || t->run.interrupted, status ? &ignored : err);
  if (!status) status = left;
  if (status == CUGEN_ERROR_INTERRUPTED && !t->run.interrupted) t->late = *err;
  return status == CUGEN_ERROR_INTERRUPTED ? CUGEN_OK : status;
}

/* ---- From start to end ---------------------------------------------------------------------- */

/* Returns how many variants may be compiled. Variants with a known record are not compiled. */
static size_t variants_to_try(const struct tuner *t) {
  const uint64_t known = t->run.options->again ? 0 : t->records.known_count,
                 valid = t->run.result->valid;
  const uint64_t open = valid > known ? valid - known : 1;
  const size_t most = t->run.options->budget_count;
  return most && most < open ? most : (size_t)open;
}

static int tuner_open(struct tuner *t, cugen_error *err) {
  int threads = t->run.options->threads > 0 ? t->run.options->threads : cpu_count();
  struct bench_options bench = {
      .seed = t->run.options->seed,
      .threads = threads,
      .timeout = t->run.options->compile_timeout > 0 ? t->run.options->compile_timeout
                                                     : run_compile_timeout,
      .until = t->run.budget > 0 ? t->run.begin + t->run.budget - tuner_race_share(t) : 0,
      .interrupted = worker_poll,
      .context = t};
  int status = strategy_find(t->run.options->strategy, &t->proposals.ops, err);
  if (!status) status = tuner_open_sharing(t, err);
  if (!status) status = run_records_load(&t->records, err);
  if (!status) status = proposals_open(&t->proposals, t->sharing.seed, err);
  if (!status) bench.variants = variants_to_try(t);
  if (!status) status = bench_open(t->run.target, &bench, &t->run.bench, err);
  if (!status) status = tuner_open_slots(t, err);
  if (status) return status;
  t->pending_most = AHEAD * (size_t)threads + 2 * t->slot_count;
  return tuner_open_queue(t, err);
}

/* Predicts the candidates that were compiled by the end of the search, because most predictions
   take almost no time, and a slow one ends with the budget. Measurements take longer; their images
   are kept for the next run, which begins with them. */
static int use_compiled(struct tuner *t, cugen_error *err) {
  const double until = t->run.begin + t->run.budget - tuner_race_share(t) / 2;
  int status = CUGEN_OK;
  bool over = false;
  while (t->run.target->predicted && !t->run.interrupted && !status && !over &&
         !(t->run.budget > 0 && clock_seconds() > until)) {
    status = tuner_step(t, &over, err);
    /* Its compile was stopped, so that it is left. */
    if (status == CUGEN_ERROR_INTERRUPTED) status = CUGEN_OK;
  }
  for (size_t i = 0; i < t->pending_count && !status && !t->run.target->predicted; i++)
    if (candidate_ready(&t->run.bench, t->pending[i]))
      status = candidate_keep_image(&t->run.bench, t->pending[i], err);
  return status;
}

static void drop_pending(struct tuner *t) {
  for (size_t i = 0; i < t->pending_count; i++) candidate_close(&t->run.bench, t->pending[i]);
  t->pending_count = 0;
}

static void note_loads(struct tuner *t) {
  t->run.result->power_capped = t->run.bench.reached[MEASURE_POWER_CAP];
  t->run.result->steady = t->run.bench.reached[MEASURE_STEADY];
  t->run.result->unsettled = t->run.bench.reached[MEASURE_NOT_SETTLED];
}

static void tuner_close(struct tuner *t) {
  drop_pending(t);
  tuner_close_slots(t);
  tuner_drop_counts(t);
  tuner_close_sharing(t);
  tuner_close_queue(t);
  if (t->run.bench.pool) t->run.result->compiled = compile_pool_count(t->run.bench.pool);
  note_loads(t);
  if (t->run.bench.target) bench_close(&t->run.bench);
  proposals_close(&t->proposals);
  run_records_free(&t->records);
  free(t->last);
}

/* Settles which of the variants near the best is the fastest, on one device. If that device fails,
   this is repeated on another one. */
static int tuner_settle(struct tuner *t, cugen_error *err) {
  int status = tuner_gather_leaders(t, err);
  if (status) return status;
  do {
    status = tuner_measure_energies(t, err);
    if (!status) status = tuner_settle_leaders(t, err);
  } while (status && tuner_lose_device(t, err));
  return status;
}

double tune_default_budget(bool gpu) {
  return gpu ? run_gpu_budget : run_cpu_budget;
}

/* Counts a variant that was measured for this run before. It was met as a known record; with
   `again` it is measured once more and counted then. */
static void count_ran(struct tuner *t) {
  uint64_t index;
  if (!t->run.target->ran || t->run.options->again || !t->run.result->remembered) return;
  if (!space_look_up(t->run.target->space, t->run.target->ran, &index) ||
      !run_wants_index(&t->run, index))
    return;
  t->run.result->remembered--;
  t->run.result->tried++;
}

int tune_run(const struct tune_target *target, const cugen_tune_options *options,
             cugen_tune_result *result, cugen_error *err) {
  double begin = clock_seconds(), budget = options->budget_seconds;
  *result = (cugen_tune_result){0};
  struct tuner t = {.run = {.target = target,
                            .options = options,
                            .result = result,
                            .begin = begin,
                            .began_at = clock_unix_micros()}};
  t.records.run = t.proposals.run = &t.run;
  t.proposals.records = &t.records;
  /* A count is a budget as well. If only a count is given, it alone decides. */
  if (budget == 0 && !options->budget_count)
    budget = tune_default_budget(target->device->facts.is_gpu && !target->predicted);
  t.run.budget = budget;
  int status = tuner_open(&t, err);
  if (!status) status = search(&t, err);
  t.complete = tuner_is_done(&t);
  if (!status) status = tuner_settle_counts(&t, err);
  if (!status && tuner_leads(&t)) status = tuner_settle(&t, err);
  if (t.run.bench.pool) compile_pool_stop(t.run.bench.pool);
  if (!status) status = use_compiled(&t, err);
  if (!status && t.records.sound) status = run_records_store_held(&t.records, err);
  const int synced = cache_sync(target->cache, status ? NULL : err);
  if (!status) status = synced;
  if (!status && !t.complete && !options->again) tuner_count_remembered(&t);
  if (!status) status = tuner_verdict(&t, err);
  result->left = tuner_count_left(&t);
  result->alike = alike_count(&t.proposals.alike);
  count_ran(&t);
  result->interrupted = t.run.interrupted;
  tuner_close(&t);
  result->seconds = clock_seconds() - begin;
  return status;
}
