/* Keeps the workers measuring; see workers.h. */
#include "workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system.h"

/* ---- Storing a result ----------------------------------------------------------------------- */

static int workers_store(struct workers *w, const struct candidate *c,
                         const struct cache_record *record, cugen_error *err) {
  cugen_tune_result *result = w->run->result;
  if (c->cause == CUGEN_CAUSE_UNSUPPORTED) {
    /* The cpu device lacks a feature, which says nothing about other devices, so no record is
       stored. */
    struct text *why = w->run->target->unsupported;
    if (why && !result->unsupported) text_addf(why, "'%s': %s", record->variant, record->reason);
    result->tried++;
    result->unsupported++;
    return run_records_store_held(w->records, err);
  }
  int status = run_records_store(w->records, c, record, err);
  if (!status && record->outcome == CUGEN_OUTCOME_OK)
    status = candidate_keep_image(&w->run->bench, c, err);
  if (status) return status;
  result->tried++;
  if (record->outcome == CUGEN_OUTCOME_UNPREDICTED)
    result->unpredicted++;
  else if (record->outcome != CUGEN_OUTCOME_OK)
    result->failed++;
  free(w->last);
  w->last = strdup(record->variant);
  return CUGEN_OK;
}

/* Frees the turn's record and candidate without storing a result. */
static int workers_drop(struct workers *w, struct turn *turn, int status) {
  cache_record_free(&turn->record);
  candidate_close(&w->run->bench, turn->candidate);
  return status;
}

/* Stores the result and reports it to the strategy. Takes over the turn's record and candidate. */
static int workers_finish(struct workers *w, struct turn *turn, cugen_error *err) {
  struct candidate *c = turn->candidate;
  struct cache_record *record = &turn->record;
  if (c->counting && record->outcome == CUGEN_OUTCOME_OK)
    candidate_counted(&w->run->bench, c, 0, &record->requested);
  record->compile_seconds = candidate_compile_seconds(c);
  record->measure_seconds = turn->end - turn->begin;
  run_records_complete(w->records, &c->real, record);
  slots_release(&w->slots, c);
  /* That a variant ran into a shortened timeout says nothing about the variant. */
  int status =
      turn->shortened && record->outcome == CUGEN_OUTCOME_TIMEOUT
          ? error_set(err, CUGEN_ERROR_INTERRUPTED, "'%s' was still running", c->real.variant)
          : workers_store(w, c, record, err);
  /* A result that is not stored must not be used for equal images. */
  if (c->cause == CUGEN_CAUSE_UNSUPPORTED) turn->image = (struct hash){{0}};
  if (!status) status = run_records_keep(w->records, record, turn->image, err);
  if (status) return workers_drop(w, turn, status);
  proposals_tell(w->proposals, c->index, record);
  return counts_close_candidate(&w->counts, c, err);
}

/* ---- Beginning a candidate ------------------------------------------------------------------ */

/* Returns the timeout of a variant that begins now. Near and after the end of the budget it is
   short once there is a right variant. The timeout of a thread of this process is never shortened,
   because the thread cannot be ended. */
static double variant_timeout(const struct workers *w, bool *shortened) {
  const struct tuner_run *run = w->run;
  const double most = run_timeout(run), left = run_latest_end(run) - clock_seconds();
  *shortened =
      run->budget > 0 && left < most && w->proposals->best.variant && !run->target->in_process;
  return *shortened ? fmax(left, 0.1) : most;
}

/* Begins to measure the candidate on the slot's worker, or copies the record of an equal image.
   Takes over the candidate. slot NULL: the candidate needs no worker. */
static int workers_begin(struct workers *w, struct slot *slot, struct candidate *c, bool *advanced,
                         cugen_error *err) {
  struct bench *bench = &w->run->bench;
  struct turn turn = {.candidate = c, .image = candidate_image(c), .begin = clock_seconds()};
  const struct best *best = &w->proposals->best;
  const double timeout = variant_timeout(w, &turn.shortened),
               to_beat = best->variant
                             ? objective_seconds_for(w->run->target->config->objective, best->cost,
                                                     c->real.flops, c->real.bytes)
                             : 0;
  const struct measure_options once = {.samples = 1},
                               usual = {.best = to_beat,
                                        .seconds = 0.14,
                                        .samples = w->run->target->device->facts.is_gpu ? 11 : 3,
                                        .few = true,
                                        .way = w->run->target->measure,
                                        .load = measure_load_limit(timeout)};
  /* If the variant's time is known, only its outputs have to be compared. */
  const struct measure_options measure = run_records_timed(w->records, &c->real) ? once : usual;
  enum candidate_way way = CANDIDATE_ENDED;
  struct worker_job none;
  const bool answers = candidate_has_data(bench, c) && !c->tried_on;
  const struct cache_record *equal = answers ? run_records_equal(w->records, turn.image) : NULL;
  int status;
  if (equal) {
    status = run_records_copy(equal, &c->real, &turn.record, err);
  } else {
    counts_begin(&w->counts, c);
    status = candidate_start(bench, c, slot ? (size_t)(slot - w->slots.all) : 0, true, &measure,
                             timeout, slot ? &slot->job : &none, &turn.record, &way, err);
  }
  turn.end = clock_seconds();
  *advanced |= equal || (!status && way != CANDIDATE_WAITS);
  if (status) return workers_drop(w, &turn, status);
  if (way == CANDIDATE_ENDED) return workers_finish(w, &turn, err);
  if (way == CANDIDATE_RUNS && slot)
    slot->turn = turn;
  else
    queue_put_back(w->slots.queue, c);
  return CUGEN_OK;
}

/* ---- Taking results ------------------------------------------------------------------------- */

/* Judges a result. Takes over the turn's record and candidate. unmade: the data that the worker
   could not make, with err as the reason; NULL: the worker gave a record. */
static int workers_judge(struct workers *w, struct slot *slot, struct turn *turn,
                         const struct dataset_request *unmade, cugen_error *err) {
  struct candidate *c = turn->candidate;
  const bool right = !unmade && turn->record.outcome == CUGEN_OUTCOME_OK;
  int status = CUGEN_OK;
  if (!right && slots_doubt(&w->slots, slot, c, unmade != NULL,
                            unmade ? err->message : turn->record.reason)) {
    cache_record_free(&turn->record);
    return CUGEN_OK;
  }
  if (unmade) {
    bench_give_up_data(&w->run->bench, unmade, err);
    status = candidate_refuse(&w->run->bench, c, &turn->record, err);
  }
  if (!status) status = slots_trust(&w->slots, slot, c, right, unmade != NULL, err);
  return status ? workers_drop(w, turn, status) : workers_finish(w, turn, err);
}

/* Handles an error of the worker, which gave no result. */
static int judge_error(struct workers *w, struct slot *slot, struct turn *turn, int status,
                       cugen_error *err) {
  if (!slots_blame_device(&w->slots, err)) return workers_drop(w, turn, status);
  const cugen_error why = *err;
  cache_record_free(&turn->record);
  queue_put_back(w->slots.queue, turn->candidate);
  return slots_lose(&w->slots, slot, &why, err);
}

/* Takes a result. After a right result, the worker begins a ready candidate at once, before the
   result is stored and reported to the strategy. */
static int take_result(struct workers *w, size_t worker, bool more, bool *advanced,
                       cugen_error *err) {
  struct bench *bench = &w->run->bench;
  struct slot *slot = &w->slots.all[worker];
  const struct dataset_request *failed;
  cugen_error unusable, refused;
  double busy;
  int status = candidate_take(bench, slot->turn.candidate, worker, &slot->job, &slot->turn.record,
                              &busy, &failed, err);
  slot->turn.end = clock_seconds();
  w->run->result->measuring += busy;
  const int broken = worker_usable(worker_pool_at(bench->workers, worker), &unusable);
  struct turn ended = slot->turn;
  const bool goes_on = more && !status && !broken && ended.record.outcome == CUGEN_OUTCOME_OK;
  /* The slot still holds the ended candidate, so that the next one has another image. */
  struct candidate *next = goes_on ? slots_take_ready(&w->slots, &w->proposals->best, slot) : NULL;
  slot->turn.candidate = NULL;
  int began = next ? workers_begin(w, slot, next, advanced, &refused) : CUGEN_OK;
  status = !status || failed ? workers_judge(w, slot, &ended, failed, err)
                             : judge_error(w, slot, &ended, status, err);
  if (!status && began) status = error_copy(err, &refused);
  return status || !broken || slot->lost ? status : error_copy(err, &unusable);
}

int workers_take_results(struct workers *w, bool more, bool *advanced, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < w->slots.count && !status; i++) {
    if (!w->slots.all[i].turn.candidate || !worker_pool_has_ended(w->run->bench.workers, i))
      continue;
    status = take_result(w, i, more, advanced, err);
    *advanced = true;
  }
  return status;
}

bool workers_lose_device(struct workers *w, const cugen_error *err) {
  /* slots_lose cannot fail here: the search is over, so that nothing is measured again. */
  cugen_error ignored;
  const cugen_error why = *err;
  if (w->run->interrupted || !slots_blame_device(&w->slots, err)) return false;
  struct slot *slot = &w->slots.all[w->run->bench.worker];
  slot->failed_count = 0;
  slots_lose(&w->slots, slot, &why, &ignored);
  return true;
}

int workers_advance(struct workers *w, bool *advanced, cugen_error *err) {
  const struct best *best = &w->proposals->best;
  *advanced = false;
  int status = workers_take_results(w, true, advanced, err);
  if (!status) status = counts_store(&w->counts, false, err);
  for (size_t i = 0; i < w->slots.count && !status; i++) {
    struct slot *slot = &w->slots.all[i];
    struct candidate *c =
        slot->turn.candidate || slot->lost ? NULL : slots_take_ready(&w->slots, best, slot);
    if (c) status = workers_begin(w, slot, c, advanced, err);
  }
  /* A candidate that needs no worker does not wait for one. */
  struct candidate *c = status || *advanced ? NULL : slots_take_ready(&w->slots, best, NULL);
  if (c) status = workers_begin(w, NULL, c, advanced, err);
  return status ? status : workers_take_results(w, true, advanced, err);
}

void workers_close(struct workers *w) {
  counts_drop(&w->counts);
  free(w->slots.all);
  free(w->last);
}
