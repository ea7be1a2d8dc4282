/* The best record so far; see best.h. */
#include "best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One run of a naive product may take as long as a hundred runs of a fast one, and nothing that
   runs on a GPU can be interrupted. So variants of an implementation wait whose best so far costs
   this many times as much as the best of all, unless they take fewer seconds than these. */
static const double many_times = 8, worth_waiting = 0.02;

int best_open(struct best *best, const struct tuner_run *run, cugen_error *err) {
  size_t count;
  space_implementations(run->target->space, &count);
  best->fastest = calloc(count + 1, sizeof *best->fastest);
  if (!best->fastest) return error_memory(err);
  for (size_t i = 0; i < count; i++) best->fastest[i].cost = (double)INFINITY;
  return CUGEN_OK;
}

void best_close(struct best *best) {
  free(best->fastest);
  free(best->variant);
}

static struct fastest *implementation_of(const struct best *best, const struct tuner_run *run,
                                         uint64_t index) {
  size_t count, i = 0;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  while (i + 1 < count && (index < all[i].first || index - all[i].first >= all[i].valid)) i++;
  return &best->fastest[i];
}

void best_note(struct best *best, const struct tuner_run *run, uint64_t index,
               const struct cache_record *record) {
  struct fastest *own = implementation_of(best, run, index);
  const double cost = run_search_cost(run, record);
  if (!run_accepts(run, record)) return;
  if (cost < own->cost) *own = (struct fastest){cost, record->seconds};
  if (best->variant && !(cost < best->cost)) return;
  char *copy = strdup(record->variant);
  if (!copy) return;
  free(best->variant);
  *best = (struct best){copy, record->seconds, cost, record->flops, record->bytes, best->fastest};
}

bool best_lets_wait(const struct best *best, const struct tuner_run *run, uint64_t index) {
  const struct fastest *own = implementation_of(best, run, index);
  return best->variant && isfinite(own->cost) && own->cost > many_times * best->cost &&
         own->seconds > worth_waiting;
}
