/* Counts what variants request from memory while they are measured; see tuner_run.h. Counting can
   take more than a second of a processor, many times what a variant costs otherwise, and no
   measurement waits for it. It begins with the variant's measurement and goes on while the next
   ones are measured. If too many counts run at once, the oldest is given up, and the next variants
   are not counted at all. The best variant is always counted, and the run waits for it for a while
   at the end. A count that is not known is 0. */
#include "tuner_run.h"

#include <math.h>
#include <string.h>

#include "base/system.h"

/* Number of variants that are not counted after a count was given up. */
enum { PAUSE = 8 };
/* Seconds to wait at the end, for the count of the best and for those of all others. */
static const double last = 1, last_others = 0.25;

void tuner_begin_count(struct tuner *t, struct candidate *c) {
  if (t->uncounted == 0)
    candidate_count(&t->run.bench, c);
  else
    t->uncounted--;
}

void tuner_take_count(struct tuner *t, struct candidate *c, struct cache_record *record) {
  if (c->counting && record->outcome == CUGEN_OUTCOME_OK)
    candidate_counted(&t->run.bench, c, 0, &record->requested);
}

static void tuner_counting_drop(struct tuner *t, size_t place) {
  candidate_close(&t->run.bench, t->counted[place].candidate);
  memmove(&t->counted[place], &t->counted[place + 1],
          (--t->counted_count - place) * sizeof *t->counted);
}

static bool is_best(const struct tuner *t, const struct cache_record *record) {
  return t->proposals.best.variant && strcmp(t->proposals.best.variant, record->variant) == 0;
}

/* Gives up the oldest count of a variant that is not the best. */
static void give_up_oldest(struct tuner *t) {
  size_t place = 0;
  while (is_best(t, &t->records.own[t->counted[place].record])) place++;
  tuner_counting_drop(t, place);
  t->uncounted = PAUSE;
}

/* If the last record is the best, counts its candidate even if that was not begun before. */
static int count_best(struct tuner *t, struct candidate *c, cugen_error *err) {
  const struct cache_record *record = &t->records.own[t->records.count - 1];
  if (!is_best(t, record) || record->requested > 0) return CUGEN_OK;
  candidate_count(&t->run.bench, c);
  return candidate_want_ptx(&t->run.bench, c, err);
}

int tuner_close_candidate(struct tuner *t, struct candidate *c, cugen_error *err) {
  int status = count_best(t, c, err);
  if (!c->counting && !c->ptx_build) {
    candidate_close(&t->run.bench, c);
    return status;
  }
  if (t->counted_count == TUNER_COUNTED) give_up_oldest(t);
  t->counted[t->counted_count++] = (struct counted){c, t->records.count - 1};
  return status;
}

/* Stores the count in the record, and in the records of variants with the same image, which share
   its times. */
static int keep_count(struct tuner *t, size_t from, cugen_error *err) {
  const double requested = t->records.own[from].requested;
  int status = CUGEN_OK;
  for (size_t i = from; i < t->records.count && !status; i++) {
    struct cache_record *record = &t->records.own[i];
    const bool equal =
        i == from || (record->outcome == CUGEN_OUTCOME_OK && !(record->requested > 0) &&
                      t->records.images[i].hex[0] &&
                      strcmp(t->records.images[i].hex, t->records.images[from].hex) == 0);
    if (!equal) continue;
    record->requested = requested;
    status = cache_store(t->run.target->cache, &t->run.target->key, record, err);
  }
  return status;
}

/* begin: when the waiting began; 0: do not wait. */
static int take_counts(struct tuner *t, double begin, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = t->counted_count; i-- > 0 && !status && !t->run.interrupted;) {
    const struct counted one = t->counted[i];
    struct cache_record *record = &t->records.own[one.record];
    const double patience =
        begin > 0 ? begin + (is_best(t, record) ? last : last_others) - clock_seconds() : 0;
    if (!candidate_counted(&t->run.bench, one.candidate, patience, &record->requested)) continue;
    tuner_counting_drop(t, i);
    status = keep_count(t, one.record, err);
  }
  return status;
}

int tuner_keep_counts(struct tuner *t, cugen_error *err) {
  return take_counts(t, 0, err);
}

int tuner_settle_counts(struct tuner *t, cugen_error *err) {
  return take_counts(t, clock_seconds(), err);
}

void tuner_drop_counts(struct tuner *t) {
  while (t->counted_count) tuner_counting_drop(t, 0);
}
