/* The race of the leaders; see leaders.h and race.h. A search that measures each of a thousand
   variants once favours the lucky ones. So the best few are timed again, in turn, until it is known
   which is the fastest, or that the differences do not matter, or the time is over. */
#include "leaders.h"

#include <math.h>
#include <stdlib.h>

#include "base/system.h"
#include "energies.h"
#include "race.h"
#include "tune/worker/energy.h"

/* All races together may take a tenth of the search's time, within these limits in seconds; if the
   objective needs energy, most_energy_seconds. */
static const double least_seconds = 1, most_seconds = 4, most_energy_seconds = 10;

/* Variants take part if single measurements say that they are at most `near` times as slow as the
   best. The races end early when all variants within `too_near` have raced. */
static const double near = 1.03, too_near = 1.01;

/* Used instead of `near` after a search on several devices: devices of one model differ by some
   percent. */
static const double near_of_several = 1.1;

/* For MEASURE_SUSTAINED: seconds of load of each measurement, few because the preceding variant has
   loaded the board already; and the limit of all races. */
static const double load_between = 0.5, most_seconds_loaded = 15;

/* Most variants in a race if the objective needs energy. */
enum { MOST_ENERGY = 3 };

/* A variant that may take part in races, from this run or remembered. */
struct entrant {
  const struct cache_record *record; /* points into records->own or records->known */
  /* Cost in the record, or in the race once the variant has raced. */
  double cost;
  bool raced;
};

static int leaders_by_cost(const void *a, const void *b) {
  const struct entrant *x = a, *y = b;
  return (x->cost > y->cost) - (x->cost < y->cost);
}

/* A variant in a race: its candidate, and the records of its rounds. */
struct leader {
  /* NULL: run_records_open gives none. */
  struct candidate *candidate;
  struct cache_record rounds[RACE_ROUNDS];
  double seconds; /* time that the rounds took */
  bool failed;    /* a round failed */
};

/* ---- One race ------------------------------------------------------------------------------- */

struct measure_options leaders_measure(const struct tuner_run *run) {
  const bool energy = objective_needs_energy(run->target->config->objective);
  return (struct measure_options){.seconds = 0.05,
                                  .samples = 11,
                                  .few = true,
                                  .way = run->target->measure,
                                  .load = load_between,
                                  .energy = energy ? energy_window : 0};
}

static int measure_leader(struct tuner_run *run, struct race *race, size_t runner,
                          struct leader *leader, cugen_error *err) {
  const struct measure_options measure = leaders_measure(run);
  const double begin = clock_seconds();
  double busy;
  struct cache_record *record = &leader->rounds[race->runners[runner].rounds];
  int status =
      candidate_run(&run->bench, leader->candidate, false, &measure,
                    fmax(run_variant_timeout, run->options->variant_timeout), record, &busy, err);
  if (!status) {
    run->result->measuring += busy;
    leader->seconds += clock_seconds() - begin;
    leader->failed = record->outcome != CUGEN_OUTCOME_OK || !run_knows_cost(run, record);
    if (!leader->failed) return race_note(race, runner, run_cost(run, record)), CUGEN_OK;
    race->runners[runner].state = RACE_SLOWER;
    return CUGEN_OK; /* the record says how the round failed */
  }
  cache_record_free(record);
  *record = (struct cache_record){0};
  return status;
}

/* The order alternates from round to round, so that no variant always runs behind the same one. */
static int run_rounds(struct tuner_run *run, struct race *race, struct leader *leaders,
                      double until, cugen_error *err) {
  bool over = false;
  for (int round = 0; round < RACE_ROUNDS && !over; round++) {
    for (size_t n = 0; n < race->count; n++) {
      const size_t i = round % 2 ? race->count - 1 - n : n;
      if (race->runners[i].state == RACE_SLOWER) continue;
      int status = measure_leader(run, race, i, &leaders[i], err);
      if (status) return status; /* the round is incomplete */
    }
    over =
        race_judge(race, CUGEN_TIE) || (round + 1 >= RACE_LEAST_ROUNDS && clock_seconds() > until);
  }
  return CUGEN_OK;
}

/* Returns the round whose cost is nearest to the median, or NULL if the leader failed or had too
   few rounds. */
static struct cache_record *median_round(const struct race_runner *runner, struct leader *leader) {
  size_t middle = 0;
  if (leader->failed || runner->rounds < RACE_LEAST_ROUNDS) return NULL;
  for (int i = 1; i < runner->rounds; i++)
    if (fabs(runner->times[i] - runner->median) < fabs(runner->times[middle] - runner->median))
      middle = (size_t)i;
  return &leader->rounds[middle];
}

static void free_rounds(struct leader *leader) {
  for (size_t i = 0; i < RACE_ROUNDS; i++) cache_record_free(&leader->rounds[i]);
}

/* Stores the round of median time as the entrant's record. The record keeps the compile time of the
   earlier record, and its measure time includes that of the earlier record and of all rounds. */
static int store_leader(struct run_records *records, const struct race_runner *runner,
                        struct leader *leader, struct entrant *entrant, cugen_error *err) {
  struct cache_record *record = median_round(runner, leader);
  if (leader->failed) entrant->cost = (double)INFINITY;
  if (!record) return CUGEN_OK;
  entrant->cost = run_cost(records->run, record);
  record->measure_seconds = leader->seconds;
  return run_records_store_again(records, entrant->record, record, leader->candidate, err);
}

/* Counts the variants, other than the leader, that were not found to be slower than the leader, and
   finds the largest relative difference between their mean times and the leader's. */
static void count_ties(cugen_tune_result *result, const struct race *race) {
  result->tied = 0;
  result->tied_within = 0;
  for (size_t i = 0; i < race->count; i++) {
    const struct race_runner *r = &race->runners[i];
    if (i == race->leader || r->state == RACE_SLOWER || r->rounds < RACE_LEAST_ROUNDS) continue;
    result->tied++;
    result->tied_within = fmax(result->tied_within, fabs(r->behind - 1));
  }
}

static int run_race(struct run_records *records, struct entrant *const *entrants, size_t count,
                    double until, cugen_error *err) {
  struct leader *leaders = calloc(count, sizeof *leaders);
  struct race race = {.count = count};
  int status = leaders ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < count && !status; i++) {
    entrants[i]->raced = true;
    status = run_records_rebuild(records, entrants[i]->record, &leaders[i].candidate, err);
    leaders[i].failed = !leaders[i].candidate;
    if (leaders[i].failed) race.runners[i].state = RACE_SLOWER;
  }
  for (size_t i = 0; i < count && !status; i++)
    if (leaders[i].candidate) candidate_finish(&records->run->bench, leaders[i].candidate);
  if (!status) status = run_rounds(records->run, &race, leaders, until, err);
  if (status == CUGEN_ERROR_INTERRUPTED) status = CUGEN_OK; /* the rounds that are complete count */
  for (size_t i = 0; i < count && !status; i++)
    status = store_leader(records, &race.runners[i], &leaders[i], entrants[i], err);
  if (!status) count_ties(records->run->result, &race);
  for (size_t i = 0; leaders && i < count; i++) {
    free_rounds(&leaders[i]);
    candidate_close(&records->run->bench, leaders[i].candidate);
  }
  free(leaders);
  return status;
}

int leaders_time_both(struct tuner_run *run, struct candidate *const candidates[2],
                      struct cache_record out[2], cugen_error *err) {
  struct leader leaders[2] = {{.candidate = candidates[0]}, {.candidate = candidates[1]}};
  struct race race = {.count = 2};
  int status = run_rounds(run, &race, leaders, clock_seconds() + least_seconds, err);
  for (size_t i = 0; i < 2; i++) {
    struct leader *leader = &leaders[i];
    struct cache_record *record = leader->failed ? &leader->rounds[race.runners[i].rounds]
                                                 : median_round(&race.runners[i], leader);
    out[i] = record ? *record : (struct cache_record){.variant = NULL};
    if (record) *record = (struct cache_record){.variant = NULL};
    free_rounds(leader);
  }
  return status;
}

/* ---- All races ------------------------------------------------------------------------------ */

static double most_of_race(const struct tuner_run *run) {
  return run->target->measure == MEASURE_SUSTAINED ? most_seconds_loaded : most_seconds;
}

/* Chooses entrants for a race: the fastest, those near it that have not raced (at least one, if
   any), and then those that have raced and are tied with it. Returns their number. */
static size_t leaders_choose(struct entrant *sorted, size_t count, size_t most, double margin,
                             struct entrant *chosen[RACE_MOST]) {
  size_t number = 0;
  chosen[number++] = &sorted[0];
  for (size_t i = 1; i < count && number < most; i++)
    if (!sorted[i].raced && (number < 2 || sorted[i].cost <= sorted[0].cost * margin))
      chosen[number++] = &sorted[i];
  for (size_t i = 1; i < count && number < most; i++)
    if (sorted[i].raced && sorted[i].cost <= sorted[0].cost * CUGEN_TIE)
      chosen[number++] = &sorted[i];
  return number;
}

/* Returns true if the fastest and all within `too_near` of it have raced. */
static bool leaders_is_settled(const struct entrant *sorted, size_t count) {
  size_t i = 0;
  while (i < count && sorted[i].raced && sorted[i].cost <= sorted[0].cost * too_near) i++;
  return i > 0 && (i == count || sorted[i].cost > sorted[0].cost * too_near);
}

/* Returns how many variants fit into a race until `until`. A round with energy or under load
   takes long, and so does a round of a slow kernel, about as long as its measurement in the
   search. Without energy and load a race may last until run_latest_end, so that short runs have
   one, too. */
static size_t most_entrants(const struct tuner_run *run, const struct entrant *fastest,
                            double until) {
  const bool energy = objective_needs_energy(run->target->config->objective),
             loaded = run->target->measure == MEASURE_SUSTAINED;
  double round = (energy ? energy_window + 0.3 : 0) + (loaded ? load_between + 0.1 : 0);
  if (!energy && !loaded) {
    if (run->budget <= 0) return RACE_MOST;
    round = fastest->record->measure_seconds;
    until = run_latest_end(run);
  }
  const double left = until - clock_seconds(),
               fit = left > 0 ? left / (RACE_LEAST_ROUNDS * round) : 0;
  const size_t most = energy ? MOST_ENERGY : RACE_MOST;
  return fit > (double)most ? most : (size_t)fit;
}

/* Races until the fastest and all that could be as fast have raced, or the time is over, so that a
   single lucky measurement does not win. */
static int race_all(struct run_records *records, struct entrant *entrants, size_t count,
                    double until, cugen_error *err) {
  const struct tuner_run *run = records->run;
  const double margin = run->target->device_count > 1 ? near_of_several : near;
  int status = CUGEN_OK;
  struct entrant *chosen[RACE_MOST];
  for (bool first = true;
       count > 1 && !status && !run->interrupted && (first || clock_seconds() < until);
       first = false) {
    qsort(entrants, count, sizeof *entrants, leaders_by_cost);
    if (leaders_is_settled(entrants, count)) break;
    const size_t most = most_entrants(run, entrants, until);
    if (most < 2) break;
    status = run_race(records, chosen, leaders_choose(entrants, count, most, margin, chosen), until,
                      err);
  }
  return status;
}

double leaders_reserved(const struct tuner_run *run) {
  if (run->target->predicted) return run->target->kept;
  const bool races = run->target->device->facts.is_gpu && run->budget > 0;
  if (races && objective_needs_energy(run->target->config->objective))
    return run->budget * energies_share;
  return races ? fmin(run->budget * 0.1, most_of_race(run)) : 0;
}

static void add_entrant(const struct tuner_run *run, const struct cache_record *record,
                        struct entrant *all, size_t *count) {
  if (run_accepts(run, record) && run_knows_cost(run, record))
    all[(*count)++] = (struct entrant){.record = record, .cost = run_cost(run, record)};
}

/* Lists all right variants whose cost is known, also those of earlier runs, in no order. */
static int list_entrants(const struct run_records *records, struct entrant **out, size_t *count,
                         cugen_error *err) {
  const struct tuner_run *run = records->run;
  *count = 0;
  *out = calloc(records->count + records->known_count + 1, sizeof **out);
  if (!*out) return error_memory(err);
  for (size_t i = 0; i < records->count; i++) add_entrant(run, &records->own[i], *out, count);
  for (size_t i = 0; i < records->known_count; i++)
    if (!run_records_has(records, records->known[i].variant))
      add_entrant(run, &records->known[i], *out, count);
  return CUGEN_OK;
}

int leaders_open_best(const struct run_records *records, struct candidate **out, cugen_error *err) {
  struct entrant *entrants;
  size_t count;
  *out = NULL;
  int status = list_entrants(records, &entrants, &count, err);
  if (!status) qsort(entrants, count, sizeof *entrants, leaders_by_cost);
  for (size_t i = 0; i < count && !status && !*out; i++)
    status = run_records_rebuild(records, entrants[i].record, out, err);
  free(entrants);
  if (!status && *out) candidate_finish(&records->run->bench, *out);
  return status;
}

int leaders_settle(struct run_records *records, cugen_error *err) {
  struct tuner_run *run = records->run;
  if (records->count == 0 || run->interrupted || !run->target->device->facts.is_gpu ||
      run->target->predicted)
    return CUGEN_OK;
  bench_lift_limit(&run->bench);
  run->stage = CUGEN_STAGE_RACE;
  struct entrant *entrants;
  size_t count;
  if (list_entrants(records, &entrants, &count, err)) return CUGEN_ERROR_MEMORY;
  const double now = clock_seconds();
  double until = now + fmin(most_of_race(run), fmax(least_seconds, 0.1 * (now - run->begin)));
  if (objective_needs_energy(run->target->config->objective)) until = now + most_energy_seconds;
  if (run->budget > 0) until = fmin(until, run->begin + run->budget);
  int status = race_all(records, entrants, count, until, err);
  free(entrants);
  return status;
}
