/* The workers of a run: what each measures, and how its results are used; see tuner_run.h.

   Several equal devices have one worker each and share one search: an idle worker gets whatever
   variant is ready. A device can be broken, in which case its failures say nothing about the
   variants. Therefore a failure is believed only of a device that has worked: after a right result,
   the next three failures in a row are believed. Any other failure is doubted: the device rests,
   and another device tries the variant. If the variant is right there, the first device is lost. If
   it fails on a device that is believed, or on all devices, the failure is the variant's own. A
   device is also lost if its worker cannot open it, or cannot make data that another worker can
   make. The failures that were believed of a lost device since its last right result are then
   measured again elsewhere.

   Invariants:
   - The failure of a variant is stored only if it failed on a device that had worked, or on all
     devices that are left.
   - A lost device gets nothing more. The last device is never lost: its error ends the run, as in a
     run on one device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system.h"
#include "tuner_run.h"

/* ---- One result ----------------------------------------------------------------------------- */

/* Counts a variant that only the cpu device cannot run. This says nothing about the variant, so
   that no record is stored. */
static int tuner_workers_pass_over(struct tuner *t, const struct cache_record *record,
                                   cugen_error *err) {
  struct text *why = t->run.target->unsupported;
  if (why && !t->run.result->unsupported)
    text_addf(why, "'%s': %s", record->variant, record->reason);
  t->run.result->tried++;
  t->run.result->unsupported++;
  return run_records_store_held(&t->records, err);
}

static int tuner_workers_remember(struct tuner *t, const struct candidate *c,
                                  struct cache_record *record, cugen_error *err) {
  int status = run_records_store(&t->records, c, record, err);
  if (!status && record->outcome == CUGEN_OUTCOME_OK)
    status = candidate_keep_image(&t->run.bench, c, err);
  if (status) return status;
  t->run.result->tried++;
  if (record->outcome == CUGEN_OUTCOME_UNPREDICTED)
    t->run.result->unpredicted++;
  else if (record->outcome != CUGEN_OUTCOME_OK)
    t->run.result->failed++;
  best_note(&t->proposals.best, &t->run, record);
  free(t->last);
  t->last = strdup(record->variant);
  return CUGEN_OK;
}

/* ---- One that has ended --------------------------------------------------------------------- */

/* Completes the record with what is known besides the result: counts, energy, outputs and
   durations. */
static void tuner_workers_complete(struct tuner *t, struct tuner_turn *turn) {
  struct candidate *c = turn->candidate;
  struct cache_record *record = &turn->record;
  tuner_take_count(t, c, record);
  record->compile_seconds = candidate_compile_seconds(c);
  record->measure_seconds = turn->end - turn->begin;
  run_records_complete(&t->records, &c->real, record);
}

/* Lets devices continue that rested until this candidate's result was known. */
static void tuner_workers_release(struct tuner *t, const struct candidate *c) {
  for (size_t i = 0; i < t->slot_count; i++)
    if (c->tried_on >> i & 1) t->slots[i].doubted = false;
}

/* Frees the turn's record and candidate without storing a result. */
static int tuner_workers_drop(struct tuner *t, struct tuner_turn *turn, int status) {
  cache_record_free(&turn->record);
  candidate_close(&t->run.bench, turn->candidate);
  return status;
}

/* Stores the result and reports it to the strategy. Takes over the turn's record and candidate. */
static int tuner_workers_finish(struct tuner *t, struct tuner_turn *turn, cugen_error *err) {
  struct candidate *c = turn->candidate;
  struct cache_record *record = &turn->record;
  tuner_workers_complete(t, turn);
  tuner_workers_release(t, c);
  int status = CUGEN_OK;
  /* The shortened timeout says nothing about the variant. */
  if (turn->shortened && record->outcome == CUGEN_OUTCOME_TIMEOUT)
    status = error_set(err, CUGEN_ERROR_INTERRUPTED, "'%s' was still running", c->real.variant);
  if (!status)
    status = c->unsupported ? tuner_workers_pass_over(t, record, err)
                            : tuner_workers_remember(t, c, record, err);
  /* The result must not be used for equal images. */
  if (c->unsupported) turn->image = (struct hash){{0}};
  if (!status) status = run_records_keep(&t->records, record, turn->image, err);
  if (status) return tuner_workers_drop(t, turn, status);
  if (!c->anew) proposals_tell(&t->proposals, c->index, &t->records.own[t->records.count - 1]);
  return tuner_close_candidate(t, c, err);
}

/* ---- One that begins ------------------------------------------------------------------------ */

/* Returns how long the candidate may take to be as good as the best; 0: there is no best yet. */
static double seconds_to_beat(const struct tuner *t, const struct candidate *c) {
  const struct objective *objective = t->run.target->config->objective;
  return t->proposals.best.variant ? objective_seconds_for(objective, t->proposals.best.cost,
                                                           c->real.flops, c->real.bytes)
                                   : 0;
}

/* Returns the timeout of a variant that begins now. Near and after the end of the budget it is
   short once there is a right variant. A thread of this process cannot be ended, so that its
   timeout is never shortened. */
static double variant_timeout(const struct tuner *t, bool *shortened) {
  const double most =
      t->run.options->variant_timeout > 0 ? t->run.options->variant_timeout : run_variant_timeout;
  const double left = t->run.begin + t->run.budget + fmax(1, t->run.budget * 0.1) - clock_seconds();
  *shortened =
      t->run.budget > 0 && left < most && t->proposals.best.variant && !t->run.target->in_process;
  return *shortened ? fmax(left, 0.1) : most;
}

/* Puts the candidate in front of the queue, which tuner_open_queue has made large enough. */
static void put_back(struct tuner *t, struct candidate *c) {
  memmove(t->pending + 1, t->pending, t->pending_count++ * sizeof *t->pending);
  t->pending[0] = c;
}

static int copy_equal(struct tuner *t, const struct cache_record *equal, struct tuner_turn *turn,
                      cugen_error *err) {
  int status = run_records_copy(equal, &turn->candidate->real, &turn->record, err);
  turn->end = clock_seconds();
  return status ? tuner_workers_drop(t, turn, status) : tuner_workers_finish(t, turn, err);
}

static int tuner_workers_go_on(struct tuner *t, struct tuner_slot *slot, struct tuner_turn *turn,
                               enum candidate_way way, bool *advanced, cugen_error *err) {
  *advanced |= way != CANDIDATE_WAITS;
  turn->end = clock_seconds();
  if (way == CANDIDATE_ENDED) return tuner_workers_finish(t, turn, err);
  if (way == CANDIDATE_RUNS)
    slot->turn = *turn;
  else
    put_back(t, turn->candidate);
  return CUGEN_OK;
}

/* Begins to measure the candidate on the slot's worker, or answers it from an equal image. Takes
   over the candidate. */
static int tuner_workers_begin(struct tuner *t, struct tuner_slot *slot, struct candidate *c,
                               bool *advanced, cugen_error *err) {
  struct tuner_turn turn = {.candidate = c, .image = candidate_image(c), .begin = clock_seconds()};
  const double timeout = variant_timeout(t, &turn.shortened);
  const struct measure_options once = {.samples = 1},
                               usual = {.best = seconds_to_beat(t, c),
                                        .seconds = 0.14,
                                        .samples = t->run.target->device->facts.is_gpu ? 11 : 3,
                                        .few = true,
                                        .way = t->run.target->measure,
                                        .load = measure_load_limit(timeout)};
  /* The variant only has to be compared. */
  const struct measure_options measure = run_records_timed(&t->records, &c->real) ? once : usual;
  enum candidate_way way;
  const bool answers = candidate_has_data(&t->run.bench, c) && !c->tried_on;
  const struct cache_record *equal = answers ? run_records_equal(&t->records, turn.image) : NULL;
  *advanced |= equal != NULL;
  if (equal) return copy_equal(t, equal, &turn, err);
  tuner_begin_count(t, c);
  int status = candidate_start(&t->run.bench, c, (size_t)(slot - t->slots), true, &measure, timeout,
                               &slot->job, &turn.record, &way, err);
  return status ? tuner_workers_drop(t, &turn, status)
                : tuner_workers_go_on(t, slot, &turn, way, advanced, err);
}

/* ---- Devices that fail ---------------------------------------------------------------------- */

static bool is_devices(const struct tuner *t, const cugen_error *err) {
  return tuner_devices_left(t) > 1 &&
         (err->status == CUGEN_ERROR_DEVICE || err->status == CUGEN_ERROR_MEMORY);
}

static int measure_anew(struct tuner *t, uint64_t index, cugen_error *err) {
  struct candidate *c;
  int status = candidate_open(&t->run.bench, index, &c, err);
  if (status) return status;
  status = candidate_build(&t->run.bench, c, err);
  if (status) {
    candidate_close(&t->run.bench, c);
    return status;
  }
  run_records_forget(&t->records, c->real.variant);
  c->anew = true;
  t->run.result->tried--;
  t->run.result->failed--;
  put_back(t, c);
  return CUGEN_OK;
}

static void tuner_workers_add_line(struct text *out, const char *device, const char *why) {
  text_addf(out, "%s: %.*s\n", device, (int)strcspn(why, "\n"), why);
}

static const char *device_of(const struct tuner *t, const struct tuner_slot *slot) {
  return t->run.target->device_count ? t->run.target->devices[slot - t->slots]
                                     : t->run.target->device->id;
}

/* Marks a device as lost; another device is left. */
static int tuner_workers_lose(struct tuner *t, struct tuner_slot *slot, const cugen_error *why,
                              cugen_error *err) {
  int status = CUGEN_OK;
  slot->lost = true;
  slot->doubted = false;
  t->lost_count++;
  t->run.result->devices = tuner_devices_left(t);
  if (t->run.target->lost)
    tuner_workers_add_line(t->run.target->lost, device_of(t, slot), why->message);
  while (t->slots[t->run.bench.worker].lost)
    t->run.bench.worker = (t->run.bench.worker + 1) % t->slot_count;
  if (tuner_devices_left(t) == 1) t->slots[t->run.bench.worker].doubted = false;
  while (slot->failed_count && !status)
    status = measure_anew(t, slot->failed[--slot->failed_count], err);
  return status;
}

bool tuner_lose_device(struct tuner *t, const cugen_error *err) {
  /* Ignored, because the search is over: failures on this device stay failures. */
  cugen_error ignored;
  const cugen_error why = *err;
  if (t->run.interrupted || !is_devices(t, err)) return false;
  t->slots[t->run.bench.worker].failed_count = 0;
  tuner_workers_lose(t, &t->slots[t->run.bench.worker], &why, &ignored);
  return true;
}

/* Returns true if another device should try the candidate. data: the worker could not make the
   data, which says nothing about other workers. */
static bool deserves_doubt(const struct tuner *t, const struct tuner_slot *slot,
                           struct candidate *c, bool data) {
  c->tried_on |= (uint64_t)1 << (slot - t->slots);
  return !tuner_all_tried(t, c) && (data || slot->credit == 0);
}

static void tuner_workers_doubt(struct tuner *t, struct tuner_slot *slot, struct candidate *c,
                                bool data, const char *why) {
  slot->doubted = true;
  slot->no_data = data;
  error_set(&slot->why, CUGEN_ERROR_DEVICE, "'%s' fails there and not on another one: %s",
            c->real.variant, why);
  put_back(t, c);
}

/* The device has given a right result. */
static void restore_credit(struct tuner_slot *slot) {
  slot->credit = TUNER_CREDIT;
  slot->failed_count = 0;
}

/* Counts a failure that is believed although no other device confirmed it. */
static void use_credit(struct tuner_slot *slot, const struct candidate *c) {
  if (slot->credit == 0) return; /* no other device is left to try the variant */
  slot->credit--;
  slot->failed[slot->failed_count++] = c->index;
}

/* Applies a believed result to the trust in its device, and in the devices that were doubted
   because of this candidate. */
static int note_trust(struct tuner *t, struct tuner_slot *slot, const struct candidate *c,
                      bool right, bool data, cugen_error *err) {
  const uint64_t others = c->tried_on & ~((uint64_t)1 << (slot - t->slots));
  int status = CUGEN_OK;
  if (right || others)
    restore_credit(slot);
  else
    use_credit(slot, c);
  for (size_t i = 0; i < t->slot_count && !status; i++) {
    struct tuner_slot *other = &t->slots[i];
    if (!(others >> i & 1) || other->lost) continue;
    if (right || (other->no_data && !data))
      status = tuner_workers_lose(t, other, &other->why, err);
    else
      restore_credit(other);
  }
  return status;
}

/* ---- Results -------------------------------------------------------------------------------- */

/* Leaves the candidate to another device. Takes over the turn's record and candidate. */
static void doubt_turn(struct tuner *t, struct tuner_slot *slot, struct tuner_turn *turn, bool data,
                       const char *why) {
  tuner_workers_doubt(t, slot, turn->candidate, data, why);
  cache_record_free(&turn->record);
}

/* Judges a result. Takes over the turn's record and candidate. */
static int tuner_workers_judge(struct tuner *t, struct tuner_slot *slot, struct tuner_turn *turn,
                               cugen_error *err) {
  const bool right = turn->record.outcome == CUGEN_OUTCOME_OK;
  if (!right && deserves_doubt(t, slot, turn->candidate, false)) {
    doubt_turn(t, slot, turn, false, turn->record.reason);
    return CUGEN_OK;
  }
  int status = note_trust(t, slot, turn->candidate, right, false, err);
  return status ? tuner_workers_drop(t, turn, status) : tuner_workers_finish(t, turn, err);
}

/* Like judge, for a worker that could not make the data. */
static int judge_data(struct tuner *t, struct tuner_slot *slot, struct tuner_turn *turn,
                      const struct dataset_request *failed, cugen_error *err) {
  if (deserves_doubt(t, slot, turn->candidate, true)) {
    doubt_turn(t, slot, turn, true, err->message);
    return CUGEN_OK;
  }
  bench_give_up_data(&t->run.bench, failed, err);
  int status = candidate_refuse(&t->run.bench, turn->candidate, &turn->record, err);
  if (!status) status = note_trust(t, slot, turn->candidate, false, true, err);
  return status ? tuner_workers_drop(t, turn, status) : tuner_workers_finish(t, turn, err);
}

/* Handles an error of the worker, which gave no result. */
static int judge_error(struct tuner *t, struct tuner_slot *slot, struct tuner_turn *turn,
                       int status, cugen_error *err) {
  if (!is_devices(t, err)) return tuner_workers_drop(t, turn, status);
  const cugen_error why = *err;
  cache_record_free(&turn->record);
  put_back(t, turn->candidate);
  return tuner_workers_lose(t, slot, &why, err);
}

/* Takes a result. After a right result, the worker begins a ready candidate at once, before the
   result is stored and reported to the strategy. */
static int tuner_workers_take_result(struct tuner *t, size_t worker, bool more, bool *advanced,
                                     cugen_error *err) {
  struct tuner_slot *slot = &t->slots[worker];
  struct tuner_turn *turn = &slot->turn;
  const struct dataset_request *failed;
  cugen_error unusable, refused;
  double busy;
  int status = candidate_take(&t->run.bench, turn->candidate, worker, &slot->job, &turn->record,
                              &busy, &failed, err);
  turn->end = clock_seconds();
  t->run.result->measuring += busy;
  const int broken = worker_usable(worker_pool_at(t->run.bench.workers, worker), &unusable);
  const bool goes_on = more && !status && !broken && turn->record.outcome == CUGEN_OUTCOME_OK;
  /* Not a candidate with an image that is being measured. */
  struct candidate *next = goes_on ? tuner_take_ready(t, slot) : NULL;
  struct tuner_turn ended = *turn;
  turn->candidate = NULL;
  int began = next ? tuner_workers_begin(t, slot, next, advanced, &refused) : CUGEN_OK;
  if (!status)
    status = tuner_workers_judge(t, slot, &ended, err);
  else if (failed)
    status = judge_data(t, slot, &ended, failed, err);
  else
    status = judge_error(t, slot, &ended, status, err);
  if (!status && began) status = error_copy(err, &refused);
  return status || !broken || slot->lost ? status : error_copy(err, &unusable);
}

static int tuner_workers_take_results(struct tuner *t, bool more, bool *advanced,
                                      cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < t->slot_count && !status; i++) {
    if (!t->slots[i].turn.candidate || !worker_pool_has_ended(t->run.bench.workers, i)) continue;
    status = tuner_workers_take_result(t, i, more, advanced, err);
    *advanced = true;
  }
  return status;
}

int tuner_take_results(struct tuner *t, bool *advanced, cugen_error *err) {
  return tuner_workers_take_results(t, false, advanced, err);
}

/* ---- Who gets what -------------------------------------------------------------------------- */

/* Begins a candidate that needs no worker, so that it does not wait for one. */
static int begin_without(struct tuner *t, bool *advanced, cugen_error *err) {
  struct tuner_slot none = {.lost = true};
  struct candidate *c = tuner_take_ready(t, NULL);
  return c ? tuner_workers_begin(t, &none, c, advanced, err) : CUGEN_OK;
}

int tuner_advance(struct tuner *t, bool *advanced, cugen_error *err) {
  *advanced = false;
  int status = tuner_workers_take_results(t, true, advanced, err);
  if (!status) status = tuner_keep_counts(t, err);
  for (size_t i = 0; i < t->slot_count && !status; i++) {
    struct tuner_slot *slot = &t->slots[i];
    struct candidate *c = slot->turn.candidate || slot->lost ? NULL : tuner_take_ready(t, slot);
    if (c) status = tuner_workers_begin(t, slot, c, advanced, err);
  }
  if (!status && !*advanced) status = begin_without(t, advanced, err);
  return status ? status : tuner_workers_take_results(t, true, advanced, err);
}

/* ---- Opening and closing -------------------------------------------------------------------- */

int tuner_open_slots(struct tuner *t, cugen_error *err) {
  t->slot_count =
      t->run.target->device_count && t->run.bench.workers ? t->run.target->device_count : 1;
  t->slots = calloc(t->slot_count, sizeof *t->slots);
  t->run.result->devices = t->slot_count;
  return t->slots ? CUGEN_OK : error_memory(err);
}

/* Measurements that were under way have ended by now, even after an error: tuner_await_workers. */
void tuner_close_slots(struct tuner *t) {
  free(t->slots);
  t->slot_count = 0;
}
