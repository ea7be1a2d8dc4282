/* Counting what variants ask of memory, beside their measuring; see tuner_run.h. It can take a second and more of a processor, many
   times what a variant costs otherwise, and nobody waits for it. It begins with the measuring and goes on while the next ones are
   measured. Too many of them at once are too slow: the oldest is given up, and some variants are not counted at all. The best are:
   they are waited for at the end, a while. What is not counted is not known (0). */
#include "tuner_run.h"

#include <math.h>
#include <string.h>

#include "base/system.h"

/* Variants that are not counted after one was given up. */
enum { PAUSE = 8 };
/* Seconds at the end, for the best and for all others. */
static const double last = 1, last_others = 0.25;

void tuner_begin_count(struct tuner *t, struct candidate *c) {
  if (t->uncounted == 0)
    candidate_count(&t->bench, c);
  else
    t->uncounted--;
}

void tuner_take_count(struct tuner *t, struct candidate *c, struct cache_record *record) {
  if (c->counting && record->outcome == CUGEN_OUTCOME_OK) candidate_counted(&t->bench, c, 0, &record->requested);
}

static void drop(struct tuner *t, size_t place) {
  candidate_close(&t->bench, t->counted[place].candidate);
  memmove(&t->counted[place], &t->counted[place + 1], (--t->counted_count - place) * sizeof *t->counted);
}

static bool is_best(const struct tuner *t, const struct cache_record *record) {
  return t->best && strcmp(t->best, record->variant) == 0;
}

/* There is one that is not the best. */
static void give_up_oldest(struct tuner *t) {
  size_t place = 0;
  while (is_best(t, &t->records[t->counted[place].record])) place++;
  drop(t, place);
  t->uncounted = PAUSE;
}

/* Of the candidate of the last record: if it is the best it is counted, also where that was not begun. */
static int count_best(struct tuner *t, struct candidate *c, cugen_error *err) {
  const struct cache_record *record = &t->records[t->record_count - 1];
  if (!is_best(t, record) || record->requested > 0) return CUGEN_OK;
  candidate_count(&t->bench, c);
  return candidate_want_ptx(&t->bench, c, err);
}

int tuner_close_candidate(struct tuner *t, struct candidate *c, cugen_error *err) {
  int status = count_best(t, c, err);
  if (!c->counting && !c->ptx_build) {
    candidate_close(&t->bench, c);
    return status;
  }
  if (t->counted_count == TUNER_COUNTED) give_up_oldest(t);
  t->counted[t->counted_count++] = (struct counted){c, t->record_count - 1};
  return status;
}

/* Also of the variants with the same image, which have its times. */
static int keep_count(struct tuner *t, size_t from, cugen_error *err) {
  const double requested = t->records[from].requested;
  int status = CUGEN_OK;
  for (size_t i = from; i < t->record_count && !status; i++) {
    struct cache_record *record = &t->records[i];
    const bool equal = i == from || (record->outcome == CUGEN_OUTCOME_OK && !(record->requested > 0) &&
                                     t->images[i].hex[0] && strcmp(t->images[i].hex, t->images[from].hex) == 0);
    if (!equal) continue;
    record->requested = requested;
    status = cache_store(t->target->cache, &t->target->key, record, err);
  }
  return status;
}

/* begin: of waiting for them; 0: nobody does. */
static int take_counts(struct tuner *t, double begin, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = t->counted_count; i-- > 0 && !status && !t->interrupted;) {
    const struct counted one = t->counted[i];
    struct cache_record *record = &t->records[one.record];
    const double patience = begin > 0 ? begin + (is_best(t, record) ? last : last_others) - clock_seconds() : 0;
    if (!candidate_counted(&t->bench, one.candidate, patience, &record->requested)) continue;
    drop(t, i);
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
  while (t->counted_count) drop(t, 0);
}
