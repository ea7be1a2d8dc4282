/* The leaders again, in turn; see tuner_run.h. */
#include "tuner_run.h"

#include <stdlib.h>

#include "base/system.h"

enum { LEADERS = 4, LEADER_ROUNDS = 3 };

static int by_cost(const void *a, const void *b, void *context) {
  const struct cache_record *x = *(const struct cache_record *const *)a, *y = *(const struct cache_record *const *)b;
  double x_cost = tuner_cost(context, x), y_cost = tuner_cost(context, y);
  bool x_ok = x->outcome == CUGEN_OUTCOME_OK, y_ok = y->outcome == CUGEN_OUTCOME_OK;
  if (x_ok != y_ok) return y_ok - x_ok;
  return (x_cost > y_cost) - (x_cost < y_cost);
}

struct leader {
  struct candidate *candidate;
  struct cache_record rounds[LEADER_ROUNDS];
  int count;
  double seconds; /* that the rounds took */
};

static int measure_leader(struct tuner *t, struct leader *leader, cugen_error *err) {
  const struct measure_options measure = {.seconds = 0.3, .samples = 21};
  double busy, begin = clock_seconds();
  struct cache_record *record = &leader->rounds[leader->count];
  int status =
      candidate_run(&t->bench, leader->candidate, false, &measure, tuner_variant_timeout, record, &busy, err);
  if (status) {
    cache_record_free(record);
    return status;
  }
  t->result->measuring += busy;
  leader->seconds += clock_seconds() - begin;
  leader->count++;
  return CUGEN_OK;
}

static int by_seconds(const void *a, const void *b) {
  const struct cache_record *x = a, *y = b;
  return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The round with the median time represents the leader; what it cost before counts, too. */
static int store_leader(struct tuner *t, struct leader *leader, const struct cache_record *before, cugen_error *err) {
  for (int i = 0; i < leader->count; i++)
    if (leader->rounds[i].outcome != CUGEN_OUTCOME_OK) return CUGEN_OK;
  if (leader->count < LEADER_ROUNDS) return CUGEN_OK;
  qsort(leader->rounds, LEADER_ROUNDS, sizeof *leader->rounds, by_seconds);
  struct cache_record *record = &leader->rounds[LEADER_ROUNDS / 2];
  record->error = before->error;
  record->requested = before->requested;
  record->compile_seconds = before->compile_seconds;
  record->measure_seconds = before->measure_seconds + leader->seconds;
  tuner_stamp(t, record);
  int status = cache_store(t->target->cache, &t->target->key, record, err);
  return status ? status : candidate_keep_image(&t->bench, leader->candidate, err);
}

static int open_leader(struct tuner *t, const char *variant, struct leader *leader, cugen_error *err) {
  uint64_t index;
  int status = space_find(t->target->space, variant, &index, err);
  if (!status) status = candidate_open(&t->bench, index, &leader->candidate, err);
  if (!status) status = candidate_build(&t->bench, leader->candidate, err);
  if (!status) candidate_finish(&t->bench, leader->candidate);
  return status;
}

static void close_leader(struct tuner *t, struct leader *leader) {
  for (int i = 0; i < leader->count; i++) cache_record_free(&leader->rounds[i]);
  candidate_close(&t->bench, leader->candidate);
}

static int play_off(struct tuner *t, struct cache_record **sorted, size_t count, cugen_error *err) {
  struct leader leaders[LEADERS] = {0};
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++) status = open_leader(t, sorted[i]->variant, &leaders[i], err);
  for (int round = 0; round < LEADER_ROUNDS && !status; round++)
    for (size_t i = 0; i < count && !status; i++) status = measure_leader(t, &leaders[i], err);
  for (size_t i = 0; i < count && !status; i++) status = store_leader(t, &leaders[i], sorted[i], err);
  for (size_t i = 0; i < count; i++) close_leader(t, &leaders[i]);
  return status == CUGEN_ERROR_INTERRUPTED ? CUGEN_OK : status;
}

/* Single measurements of a thousand variants favour the lucky; the best few are measured again, interleaved. */
int tuner_settle_leaders(struct tuner *t, cugen_error *err) {
  if (t->record_count == 0 || t->interrupted || !t->target->device->facts.is_gpu || t->target->predicted)
    return CUGEN_OK;
  bench_lift_limit(&t->bench);
  struct cache_record **sorted = calloc(t->record_count, sizeof *sorted);
  if (!sorted) return error_memory(err);
  for (size_t i = 0; i < t->record_count; i++) sorted[i] = &t->records[i];
  qsort_r(sorted, t->record_count, sizeof *sorted, by_cost, t);
  size_t count = 0;
  while (count < LEADERS && count < t->record_count && sorted[count]->outcome == CUGEN_OUTCOME_OK) count++;
  int status = count > 1 ? play_off(t, sorted, count, err) : CUGEN_OK;
  free(sorted);
  return status;
}
