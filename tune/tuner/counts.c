/* Keeps the counts that are under way; see counts.h. */
#include "counts.h"

#include <string.h>

#include "base/system.h"

/* Number of variants that are not counted after a count was given up. */
enum { PAUSE = 8 };
/* Seconds that the run waits at the end for the count of the best variant, and for other counts. */
static const double last = 1, last_others = 0.25;

void counts_begin(struct counts *n, struct candidate *c) {
  if (n->left_out == 0)
    candidate_count(&n->run->bench, c);
  else
    n->left_out--;
}

static void drop_count(struct counts *n, size_t place) {
  candidate_close(&n->run->bench, n->all[place].candidate);
  memmove(&n->all[place], &n->all[place + 1], (--n->count - place) * sizeof *n->all);
}

static bool is_best(const struct counts *n, size_t record) {
  return n->best->variant && strcmp(n->best->variant, n->records->own[record].variant) == 0;
}

int counts_close_candidate(struct counts *n, struct candidate *c, cugen_error *err) {
  const size_t record = n->records->count - 1;
  int status = CUGEN_OK;
  if (is_best(n, record) && !(n->records->own[record].requested > 0)) {
    candidate_count(&n->run->bench, c);
    status = candidate_want_ptx(&n->run->bench, c, err);
  }
  if (!c->counting && !c->ptx_build) {
    candidate_close(&n->run->bench, c);
    return status;
  }
  if (n->count == COUNTS_MOST) { /* give up the oldest count of a variant that is not the best */
    size_t place = 0;
    while (is_best(n, n->all[place].record)) place++;
    drop_count(n, place);
    n->left_out = PAUSE;
  }
  n->all[n->count++] = (struct counted){c, record};
  return status;
}

/* Stores the count in the record, and in the records of variants with the same image, which share
   its times. */
static int store_count(struct counts *n, size_t from, cugen_error *err) {
  const struct tune_target *target = n->run->target;
  const struct hash *images = n->records->images;
  const double requested = n->records->own[from].requested;
  int status = CUGEN_OK;
  for (size_t i = from; i < n->records->count && !status; i++) {
    struct cache_record *record = &n->records->own[i];
    if (i > from && (record->outcome != CUGEN_OUTCOME_OK || record->requested > 0 ||
                     !images[i].hex[0] || strcmp(images[i].hex, images[from].hex) != 0))
      continue;
    record->requested = requested;
    status = cache_store(target->cache, &target->key, record, err);
  }
  return status;
}

int counts_store(struct counts *n, bool wait, cugen_error *err) {
  const double begin = wait ? clock_seconds() : 0;
  int status = CUGEN_OK;
  for (size_t i = n->count; i-- > 0 && !status && !n->run->interrupted;) {
    const struct counted one = n->all[i];
    const double patience =
        wait ? begin + (is_best(n, one.record) ? last : last_others) - clock_seconds() : 0;
    if (!candidate_counted(&n->run->bench, one.candidate, patience,
                           &n->records->own[one.record].requested))
      continue;
    drop_count(n, i);
    status = store_count(n, one.record, err);
  }
  return status;
}

void counts_drop(struct counts *n) {
  while (n->count) drop_count(n, 0);
}
