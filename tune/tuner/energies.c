/* Measures the energies of the variants that can still be the best; see energies.h and energy.h. An
   energy takes half a second of launches, too long for a search. So the search ranks as if all
   variants drew the same power. Then the energies of the fastest are measured, the fastest first. A
   variant is skipped if it is so slow that it could win only by drawing less power than is
   plausible. */
#include "energies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "tune/worker/energy.h"

/* Limit of a contender's time, as a factor to the fastest. */
static const double slowest = 1.5;
/* Time for measuring energies if the budget is not a time: a share of the search's time, and at
   least so many seconds. */
static const double share_of_search = 0.5, least_seconds = 10;

enum {
  AHEAD = 8,        /* contenders compiled side by side */
  POWERS_KNOWN = 3, /* with fewer known powers the least power is not used as a limit */
};
/* Least plausible power, as a factor to the least one seen. */
static const double least_power = 0.9;

struct contender {
  const struct cache_record
      *record; /* the record, in records->known; NULL: the record is of this run */
  size_t at;   /* index into the records of this run */
  double seconds;
  struct candidate *candidate;
};

struct energies {
  struct tuner_run *run;
  struct run_records *records;
  struct contender *all;
  size_t count, measured;
  double fastest, power, cost; /* least values so far */
  double until;
};

static const struct cache_record *record_of(const struct energies *e, const struct contender *c) {
  return c->record ? c->record : &e->records->own[c->at];
}

/* ---- Contenders ----------------------------------------------------------------------------- */

static void note_energy(struct energies *e, const struct cache_record *record) {
  if (!(record->energy > 0)) return;
  e->measured++;
  e->power = fmin(e->power, record->energy / record->seconds);
  e->cost = fmin(e->cost, run_cost(e->run, record));
}

/* Lists the variant of a known record, or of record `at` of this run, if it is right and its energy
   is to be measured. */
static void add_contender(struct energies *e, const struct cache_record *known, size_t at) {
  struct contender *c = &e->all[e->count];
  *c = (struct contender){.record = known, .at = at};
  const struct cache_record *record = record_of(e, c);
  if (!run_accepts(e->run, record)) return;
  c->seconds = record->seconds;
  e->fastest = fmin(e->fastest, c->seconds);
  note_energy(e, record);
  if (!(record->energy > 0) || (!known && e->run->options->again)) e->count++;
}

static int contenders_by_seconds(const void *a, const void *b) {
  const struct contender *x = a, *y = b;
  return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static bool can_win(const struct energies *e, const struct contender *c) {
  struct objective_values values = cache_record_values(record_of(e, c));
  if (c->seconds > slowest * e->fastest) return false;
  if (e->measured < POWERS_KNOWN) return true;
  values.joules = least_power * e->power * values.seconds;
  return objective_cost(e->run->target->config->objective, &values) < e->cost;
}

/* Measures the contender once more, and replaces its record by the one with the energy. */
static int measure_contender(struct energies *e, struct contender *c, cugen_error *err) {
  struct tuner_run *run = e->run;
  const struct measure_options measure = {.way = run->target->measure,
                                          .load = measure_load_limit(run_variant_timeout),
                                          .seconds = 0.05,
                                          .samples = 11,
                                          .energy = energy_window};
  const double begin = clock_seconds();
  struct cache_record record;
  double busy = 0;
  candidate_finish(&run->bench, c->candidate);
  int status = candidate_run(&run->bench, c->candidate, false, &measure, run_variant_timeout,
                             &record, &busy, err);
  run->result->measuring += busy;
  record.measure_seconds = clock_seconds() - begin;
  const bool right = !status && record.outcome == CUGEN_OUTCOME_OK;
  if (right && !(record.energy > 0))
    status =
        error_set(err, CUGEN_ERROR_DEVICE,
                  "the energy counter of %s stands still, so objective \"%s\" cannot be measured",
                  run->target->device->name, run->target->config->objective->text);
  if (right && !status)
    status = run_records_store_again(e->records, record_of(e, c), &record, c->candidate, err);
  if (right && !status) {
    note_energy(e, &record);
    run->result->energies++;
    if (c->record) {
      status = run_records_keep(e->records, &record, (struct hash){{0}}, err);
    } else {
      cache_record_free(&e->records->own[c->at]);
      e->records->own[c->at] = record;
    }
  }
  if (status || !right) cache_record_free(&record);
  return status ? status
                : worker_usable(worker_pool_at(run->bench.workers, run->bench.worker), err);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Compiles contenders side by side, and measures those that can still win. */
static int measure_some(struct energies *e, struct contender *from, size_t count,
                        cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    if (can_win(e, &from[i]))
      status = run_records_rebuild(e->records, record_of(e, &from[i]), &from[i].candidate, err);
  for (size_t i = 0; i < count && !status && !e->run->interrupted && clock_seconds() < e->until;
       i++)
    if (from[i].candidate && can_win(e, &from[i])) status = measure_contender(e, &from[i], err);
  for (size_t i = 0; i < count; i++) candidate_close(&e->run->bench, from[i].candidate);
  return status;
}

int energies_measure(struct run_records *records, cugen_error *err) {
  struct tuner_run *run = records->run;
  struct energies e = {.run = run,
                       .records = records,
                       .fastest = (double)INFINITY,
                       .power = (double)INFINITY,
                       .cost = (double)INFINITY};
  if (!objective_needs_energy(run->target->config->objective) || run->interrupted) return CUGEN_OK;
  const double now = clock_seconds(),
               most = now + fmax(least_seconds, share_of_search * (now - run->begin));
  e.until = run->budget > 0 ? run->begin + run->budget * (1 - energies_race) : most;
  bench_lift_limit(&run->bench);
  e.all = calloc(records->count + records->known_count + 1, sizeof *e.all);
  if (!e.all) return error_memory(err);
  for (size_t i = 0; i < records->count; i++) add_contender(&e, NULL, i);
  for (size_t i = 0; i < records->known_count; i++)
    if (!run_records_has(records, records->known[i].variant))
      add_contender(&e, &records->known[i], 0);
  qsort(e.all, e.count, sizeof *e.all, contenders_by_seconds);
  int status = CUGEN_OK;
  for (size_t i = 0; i < e.count && !status && !run->interrupted && clock_seconds() < e.until;
       i += AHEAD)
    status = measure_some(&e, &e.all[i], e.count - i < AHEAD ? e.count - i : AHEAD, err);
  free(e.all);
  return status == CUGEN_ERROR_INTERRUPTED ? CUGEN_OK : status;
}
