/* The best record so far; see best.h. */
#include "best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A kernel that runs on a GPU cannot be interrupted. So the variants of an implementation wait if
   its best so far costs more than many_times as much as the best of all and takes more than
   worth_waiting seconds. */
static const double many_times = 8, worth_waiting = 0.02;

int best_open(struct best *best, const struct tuner_run *run, cugen_error *err) {
  size_t count;
  space_implementations(run->target->space, &count);
  best->fastest = calloc(count + 1, sizeof *best->fastest);
  best->beaten = (double)INFINITY;
  if (!best->fastest) return error_memory(err);
  for (size_t i = 0; i <= count; i++) best->fastest[i].cost = (double)INFINITY;
  return CUGEN_OK;
}

void best_close(struct best *best) {
  free(best->fastest);
  free(best->variant);
  free(best->costs);
}

void best_note(struct best *best, const struct tuner_run *run, uint64_t index,
               const struct cache_record *record) {
  struct fastest *own = &best->fastest[run_implementation(run, index)];
  const double cost = run_search_cost(run, record);
  if (!run_accepts(run, record)) return;
  if (cost < own->cost) *own = (struct fastest){cost, record->seconds};
  if (cost * CUGEN_TIE < best->beaten) {
    best->beaten = cost;
    best->beaten_at = run->result->tried;
  }
  if (ARRAY_ROOM(best->costs, best->cost_count)) best->costs[best->cost_count++] = cost;
  if (best->variant && !(cost < best->cost)) return;
  char *copy = strdup(record->variant);
  if (!copy) return;
  free(best->variant);
  best->variant = copy;
  best->seconds = record->seconds;
  best->cost = cost;
  best->flops = record->flops;
  best->bytes = record->bytes;
}

bool best_is_settled(const struct best *best, const struct tuner_run *run) {
  return run->patience && best->variant && run->result->tried - best->beaten_at >= run->patience;
}

enum { GAIN_LEAST = 8 }; /* from fewer costs no gain is estimated */

/* The least of a random half of n sorted costs is number i with the probability
   C(n - 1 - i, half - 1) / C(n, half). */
double best_gain(struct best *best) {
  const size_t n = best->cost_count, half = n / 2;
  if (n < GAIN_LEAST || !(best->cost > 0)) return (double)NAN;
  array_sort_doubles(best->costs, n);
  double chance = (double)half / (double)n, expected = 0;
  for (size_t i = 0; i + half <= n; i++) {
    expected += chance * best->costs[i];
    chance *= (double)(n - i - half) / (double)(n - 1 - i);
  }
  return expected / best->costs[0] - 1;
}

bool best_lets_wait(const struct best *best, const struct tuner_run *run, uint64_t index) {
  const struct fastest *own = &best->fastest[run_implementation(run, index)];
  return best->variant && isfinite(own->cost) && own->cost > many_times * best->cost &&
         own->seconds > worth_waiting;
}
