/* Counting what variants ask of memory, beside their measuring; see tuner_run.h. It can take a second and more of a processor, many
   times what a variant costs otherwise. So it is waited for as long as it tends to be short, then given up, and goes on for the
   best alone. What is not counted is not known (0). */
#include "tuner_run.h"

#include <math.h>
#include <string.h>

#include "base/system.h"

/* Seconds: at first and while it ends in that time; once it does not; for all of the best together, at the end. */
static const double usual = 0.1, least = 1e-3, last = 1;

void tuner_take_count(struct tuner *t, struct candidate *c, struct cache_record *record) {
  if (!c->counting || record->outcome != CUGEN_OUTCOME_OK) return;
  if (!(t->patience > 0)) t->patience = usual; /* the first of this run */
  const bool soon = candidate_counted(&t->bench, c, t->patience, &record->requested);
  t->patience = soon ? fmin(2 * t->patience, usual) : fmax(t->patience / 4, least);
}

static void drop_first(struct tuner *t) {
  candidate_close(&t->bench, t->counted[0].candidate);
  memmove(t->counted, t->counted + 1, --t->counted_count * sizeof *t->counted);
}

int tuner_close_candidate(struct tuner *t, struct candidate *c, cugen_error *err) {
  int status = CUGEN_OK;
  const bool best = t->best && strcmp(t->best, c->real.variant) == 0;
  if (best && !(t->records[t->record_count - 1].requested > 0)) status = candidate_want_ptx(&t->bench, c, err);
  if (!best || !(c->counting || c->ptx_build)) {
    candidate_close(&t->bench, c);
    return status;
  }
  if (t->counted_count == TUNER_COUNTED) drop_first(t);
  t->counted[t->counted_count++] = (struct counted){c, t->record_count - 1};
  return status;
}

int tuner_settle_counts(struct tuner *t, cugen_error *err) {
  const double until = clock_seconds() + last;
  int status = CUGEN_OK;
  for (size_t i = t->counted_count; i-- > 0 && !status && !t->interrupted;) {
    struct cache_record *record = &t->records[t->counted[i].record];
    if (candidate_counted(&t->bench, t->counted[i].candidate, until - clock_seconds(), &record->requested))
      status = cache_store(t->target->cache, &t->target->key, record, err);
  }
  return status;
}

void tuner_drop_counts(struct tuner *t) {
  while (t->counted_count) drop_first(t);
}
