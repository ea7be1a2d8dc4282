/* The tuning loop; see tuner.h. Searching, compiling and measuring overlap:

     strategy - index -> candidate - source -> compile pool - image -> worker - record -> cache
        ^                                                                          |
        +---------------------------------- cost ----------------------------------+

   One thread, the coordinator, runs this file. It keeps up to AHEAD variants per compile thread and
   two per worker expanded and in the pool, takes whichever image is ready first, and has a worker
   verify and time it. While few costs are known, fewer are ahead (strategy_ahead).

   The parts of a run, which are files of this folder and use only parts named before them: run,
   records, best, alike, proposals (the strategy), queue, slots (of the workers), counts, workers,
   sharing (with other tuners), energies, race, leaders, baseline, verdict.

   Invariants:
   - The search gives a variant to one worker once, unless that worker's device is in doubt or
     lost. A variant with a valid record is skipped, unless `again`, and its cost is reported to the
     strategy (proposals_meet). Equal images are measured once (run_records_equal).
   - Each record is in the cache before the next result is taken, so that a kill loses only what is
     in progress. The exceptions are in records.h.
   - The order in which variants are taken depends on which compile ends first. Therefore the
     leaders are measured again, in turn, after the search (leaders.c).
   - Budgets are checked between two variants.
   - If the cache keeps claims, several tuners share the space (sharing.c): a variant is claimed
     before it is compiled. */
#include "tuner.h"

#include <math.h>
#include <time.h>

#include "base/system.h"
#include "baseline.h"
#include "energies.h"
#include "leaders.h"
#include "sharing.h"
#include "verdict.h"
#include "workers.h"

enum { AHEAD = 2 }; /* variants for each compile thread */

struct tuner {
  struct tuner_run run;
  struct run_records records;
  struct proposals proposals;
  struct queue queue;
  struct workers workers;
  struct sharing sharing;
  cugen_error late; /* names what was cut short by the end of the budget; else CUGEN_OK */
  bool complete;    /* the strategy is exhausted, and all its variants were measured */
  double last_poll;
};

/* ---- Progress ------------------------------------------------------------------------------- */

/* Returns true if the user's callback asks to stop, now or in an earlier call. */
static bool poll_user(void *context) {
  struct tuner *t = context;
  struct tuner_run *run = &t->run;
  const struct tune_target *target = run->target;
  const struct best *best = &t->proposals.best;
  double now = clock_seconds(), elapsed = now - run->begin;
  sharing_renew(&t->sharing);
  t->last_poll = now;
  if (run->interrupted || !run->options->progress) return run->interrupted;
  const bool makes_data = run->bench.workers && worker_pool_makes_data(run->bench.workers);
  const size_t tried = run->result->tried, planned = run->options->budget_count;
  const uint64_t open = run->result->valid - run->result->remembered;
  const double each = tried ? elapsed / (double)tried : 0,
               by_count = each * (double)(planned - tried),
               by_space = each * (double)(open - tried);
  double left = run->budget > 0 ? fmax(0, run->budget - elapsed) : -1; /* -1: not known */
  if (tried && planned) left = left < 0 ? by_count : fmin(left, by_count);
  if (tried) left = left < 0 ? by_space : fmin(left, by_space);
  cugen_progress progress = {.done = tried,
                             .failed = run->result->failed,
                             .planned = planned,
                             .valid = run->result->valid,
                             .elapsed = elapsed,
                             .remaining = left,
                             .best = best->variant,
                             .best_seconds = best->seconds,
                             .last = t->workers.last,
                             .flops = best->flops,
                             .bytes = best->bytes,
                             .problem = target->key.problem,
                             .problems = 1,
                             .stage = makes_data ? CUGEN_STAGE_DATA : run->stage,
                             .lost = target->lost && target->lost->length ? text_get(target->lost)
                                                                          : NULL};
  if (progress.planned > open) progress.planned = (size_t)open;
  if (!progress.planned && run->budget <= 0) progress.planned = (size_t)open;
  run->interrupted = run->options->progress(&progress, run->options->context) != 0;
  return run->interrupted;
}

/* ---- The loop ------------------------------------------------------------------------------- */

static bool budget_spent(const struct tuner *t) {
  const struct tuner_run *run = &t->run;
  if (best_is_settled(&t->proposals.best, run)) return true;
  const size_t most = run->options->budget_count;
  if (most && run->result->tried >= most) return true;
  return run->budget > 0 && clock_seconds() - run->begin >= run->budget - leaders_reserved(run);
}

/* Takes the strategy's next variant. Without `again`, a variant for which run_records_find has a
   record is not measured. */
static int take_next(struct tuner *t, cugen_error *err) {
  struct proposals *p = &t->proposals;
  uint64_t index;
  if (!p->ops->next(p->strategy, &index)) {
    p->exhausted = true;
    return CUGEN_OK;
  }
  struct candidate *c;
  int status = candidate_open(&t->run.bench, index, &c, err);
  if (status) return status;
  const struct cache_record *known = run_records_find(&t->records, &c->real);
  /* A record that shows that the variant is wrong stands, whatever is predicted. */
  if (!known ||
      (t->run.options->again && !(t->run.target->predicted && cache_record_is_refuted(known))))
    return sharing_begin(&t->sharing, c, err);
  proposals_meet(p, index, known);
  candidate_close(&t->run.bench, c);
  return CUGEN_OK;
}

/* Keeps enough candidates in the compile pool for its threads. */
static int top_up(struct tuner *t, cugen_error *err) {
  const size_t most = t->run.options->budget_count;
  int status = CUGEN_OK;
  while (!status && !t->proposals.exhausted && sharing_room(&t->sharing) && !budget_spent(t) &&
         !(most && t->queue.begun >= most)) {
    status = take_next(t, err);
    if (clock_seconds() - t->last_poll > 0.1 && poll_user(t)) break;
  }
  return status;
}

/* Starts and finishes the candidates that are ready, and waits otherwise. *over is set to true if
   nothing more can be done in the remaining time. */
static int tuner_step(struct tuner *t, bool *over, cugen_error *err) {
  /* The count of events is read first, so that an event in the meantime ends the wait below. */
  const size_t events = compile_pool_events(t->run.bench.pool);
  const bool last = compile_pool_over(t->run.bench.pool);
  bool advanced;
  int status = workers_advance(&t->workers, &advanced, err);
  const bool busy = slots_busy(&t->workers.slots) > 0;
  *over = !advanced && last && !busy;
  if (!status && !advanced && (busy || (t->queue.count && !last)))
    compile_pool_wait_beyond(t->run.bench.pool, events, 0.05);
  return status;
}

static size_t under_way(const struct tuner *t) {
  return t->queue.count + slots_busy(&t->workers.slots);
}

/* Returns true if the strategy is exhausted, no variant is under way here or in another tuner, and
   the end of the budget cut nothing short. */
static bool tuner_is_done(const struct tuner *t) {
  return t->proposals.exhausted && !t->late.status && under_way(t) == 0 &&
         t->sharing.count + t->sharing.batch_count == 0;
}

/* Takes the results of everything that is still being measured. stop: stops the workers instead of
   waiting for what has not ended. */
static int await_workers(struct tuner *t, bool stop, cugen_error *err) {
  int status = CUGEN_OK;
  bool advanced;
  while (slots_busy(&t->workers.slots)) {
    const size_t events = compile_pool_events(t->run.bench.pool);
    cugen_error why;
    if (stop) worker_pool_stop(t->run.bench.workers);
    int one = workers_take_results(&t->workers, false, &advanced, &why);
    if (one && !status) status = error_copy(err, &why);
    stop |= poll_user(t) || one;
    if (slots_busy(&t->workers.slots) && !one)
      compile_pool_wait_beyond(t->run.bench.pool, events, 0.1);
  }
  return status;
}

static int search(struct tuner *t, cugen_error *err) {
  const struct timespec pause = {.tv_nsec = 50000000};
  int status = CUGEN_OK;
  bool over = false;
  while (!status && !over && !budget_spent(t) &&
         !alike_judge(&t->proposals.alike, &t->run, t->proposals.axes) && !poll_user(t)) {
    status = top_up(t, err);
    if (!status) status = sharing_update(&t->sharing, err);
    if (!status && tuner_is_done(t)) break;
    if (!status) status = tuner_step(t, &over, err);
    /* This run only waits for other tuners. */
    if (t->proposals.exhausted && t->sharing.count && under_way(t) == 0) nanosleep(&pause, NULL);
  }
  cugen_error ignored;
  int left = await_workers(t, status || t->run.interrupted, status ? &ignored : err);
  if (!status) status = left;
  if (status == CUGEN_ERROR_INTERRUPTED && !t->run.interrupted) t->late = *err;
  return status == CUGEN_ERROR_INTERRUPTED ? CUGEN_OK : status;
}

/* ---- From start to end ---------------------------------------------------------------------- */

static int tuner_open(struct tuner *t, cugen_error *err) {
  struct tuner_run *run = &t->run;
  const cugen_tune_options *options = run->options;
  const int threads = options->threads > 0 ? options->threads : cpu_count();
  struct bench_options bench = {
      .seed = options->seed,
      .threads = threads,
      .timeout = options->compile_timeout > 0 ? options->compile_timeout : run_compile_timeout,
      .until = run->budget > 0 ? run->begin + run->budget - leaders_reserved(run) : 0,
      .interrupted = poll_user,
      .context = t};
  int status = strategy_find(options->strategy, &t->proposals.ops, err);
  if (!status) status = sharing_open(&t->sharing, err);
  if (!status) status = run_records_load(&t->records, err);
  if (!status) status = proposals_open(&t->proposals, t->sharing.seed, err);
  if (status) return status;
  /* As a rule, variants with a known record are not compiled. */
  const uint64_t known = options->again ? 0 : t->records.known_count, valid = run->result->valid,
                 open = valid > known ? valid - known : 1, most = options->budget_count;
  bench.variants = (size_t)(most && most < open ? most : open);
  status = bench_open(run->target, &bench, &run->bench, err);
  if (!status) status = slots_open(&t->workers.slots, err);
  if (status) return status;
  const size_t count = t->workers.slots.count;
  return queue_open(&t->queue, (size_t)threads + 2 * count, AHEAD * (size_t)threads + 2 * count,
                    (SLOT_CREDIT + 1) * count, err);
}

/* Predicts the candidates that were compiled by the end of the search, because predictions take
   little time. If variants are measured, only stores the compiled images. */
static int use_compiled(struct tuner *t, cugen_error *err) {
  const double until = t->run.begin + t->run.budget - leaders_reserved(&t->run) / 2;
  int status = CUGEN_OK;
  bool over = false;
  while (t->run.target->predicted && !t->run.interrupted && !status && !over &&
         !(t->run.budget > 0 && clock_seconds() > until)) {
    status = tuner_step(t, &over, err);
    /* A candidate whose compile was stopped is left out. */
    if (status == CUGEN_ERROR_INTERRUPTED) status = CUGEN_OK;
  }
  for (size_t i = 0; i < t->queue.count && !status && !t->run.target->predicted; i++)
    if (candidate_ready(&t->run.bench, t->queue.all[i]))
      status = candidate_keep_image(&t->run.bench, t->queue.all[i], err);
  return status;
}

static void tuner_close(struct tuner *t) {
  struct bench *bench = &t->run.bench;
  cugen_tune_result *result = t->run.result;
  workers_close(&t->workers);
  sharing_close(&t->sharing);
  queue_close(&t->queue, bench);
  if (bench->pool) result->compiled = compile_pool_count(bench->pool);
  result->power_capped = bench->reached[MEASURE_POWER_CAP];
  result->steady = bench->reached[MEASURE_STEADY];
  result->unsettled = bench->reached[MEASURE_NOT_SETTLED];
  if (bench->target) bench_close(bench);
  proposals_close(&t->proposals);
  run_records_free(&t->records);
}

/* Settles which of the variants near the best is the fastest, on one device. If that device fails,
   another device begins anew. */
static int tuner_settle(struct tuner *t, cugen_error *err) {
  int status = sharing_gather_leaders(&t->sharing, err);
  if (status) return status;
  do {
    status = energies_measure(&t->records, err);
    if (!status) status = leaders_settle(&t->records, err);
  } while (status && workers_lose_device(&t->workers, err));
  return status;
}

double tune_default_budget(bool gpu) {
  return gpu ? run_gpu_budget : run_cpu_budget;
}

/* Sets the final counts. target->ran was met as a remembered record, but counts as tried; with
   `again` it was measured once more and needs no correction. */
static void tuner_count(struct tuner *t) {
  const struct tuner_run *run = &t->run;
  cugen_tune_result *result = run->result;
  const uint64_t met = result->remembered + result->tried;
  uint64_t index;
  result->left = t->complete || result->valid <= met ? 0 : result->valid - met;
  result->alike = alike_count(&t->proposals.alike);
  if (!t->complete && best_is_settled(&t->proposals.best, run)) {
    result->settled = result->tried - t->proposals.best.beaten_at;
    result->gain = best_gain(&t->proposals.best);
  }
  result->interrupted = run->interrupted;
  if (!run->target->ran || run->options->again || !result->remembered ||
      !run_find(run, run->target->ran, &index))
    return;
  result->remembered--;
  result->tried++;
}

/* Returns the option's patience. Without the option and without a budget, predictions and times on
   the processor, which only show what is worth measuring, have RUN_PATIENCE. 0: no limit. */
static size_t tuner_patience(const struct tuner_run *run) {
  const cugen_tune_options *options = run->options;
  const bool limited = options->budget_seconds != 0 || options->budget_count,
             measures = run->target->device->facts.is_gpu && !run->target->predicted;
  if (options->patience) return options->patience > 0 ? (size_t)options->patience : 0;
  return limited || measures ? 0 : RUN_PATIENCE;
}

int tune_run(const struct tune_target *target, const cugen_tune_options *options,
             cugen_tune_result *result, cugen_error *err) {
  struct tuner t = {
      .run = {.target = target,
              .options = options,
              .result = result,
              .begin = clock_seconds(),
              .budget = options->budget_seconds,
              .began_at = clock_unix_micros()},
      .records = {.run = &t.run},
      .proposals = {.run = &t.run, .records = &t.records},
      .workers = {.run = &t.run,
                  .records = &t.records,
                  .proposals = &t.proposals,
                  .slots = {.run = &t.run, .records = &t.records, .queue = &t.queue},
                  .counts = {.run = &t.run, .records = &t.records, .best = &t.proposals.best}},
      .sharing = {.run = &t.run,
                  .records = &t.records,
                  .proposals = &t.proposals,
                  .queue = &t.queue,
                  .slots = &t.workers.slots}};
  *result = (cugen_tune_result){0};
  /* A count is a budget as well. If only a count is given, it alone decides. */
  if (t.run.budget == 0 && !options->budget_count)
    t.run.budget = tune_default_budget(target->device->facts.is_gpu && !target->predicted);
  t.run.patience = tuner_patience(&t.run);
  int status = tuner_open(&t, err);
  if (!status) status = baseline_try(&t.run, err);
  if (!status) status = search(&t, err);
  t.complete = tuner_is_done(&t);
  if (!status) status = counts_store(&t.workers.counts, true, err);
  if (!status && sharing_leads(&t.sharing)) status = tuner_settle(&t, err);
  if (!status) status = baseline_compare(&t.records, err);
  if (t.run.bench.pool) compile_pool_stop(t.run.bench.pool);
  if (!status) status = use_compiled(&t, err);
  if (!status && t.records.sound) status = run_records_store_held(&t.records, err);
  const int synced = cache_sync(target->cache, status ? NULL : err);
  if (!status) status = synced;
  if (!status && !t.complete && !options->again)
    result->remembered = verdict_count_remembered(&t.records);
  if (!status) status = verdict_give(&t.proposals, &t.queue, &t.late, t.complete, err);
  tuner_count(&t);
  tuner_close(&t);
  result->seconds = clock_seconds() - t.run.begin;
  return status;
}
