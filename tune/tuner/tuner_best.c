/* The best so far, what the strategy is told, and how a candidate begins; see tuner_run.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner_run.h"

static bool is_fastest(const struct tuner *t, const struct cache_record *record) {
  return tuner_is_wanted(t, record) && (!t->best || tuner_search_cost(t, record) < t->best_cost);
}

void tuner_note_best(struct tuner *t, const struct cache_record *record) {
  if (!is_fastest(t, record)) return;
  char *copy = strdup(record->variant);
  if (!copy) return;
  free(t->best);
  t->best = copy;
  t->best_seconds = record->seconds;
  t->best_cost = tuner_search_cost(t, record);
  t->flops = record->flops;
  t->bytes = record->bytes;
}

void tuner_tell_strategy(struct tuner *t, uint64_t index, const struct cache_record *record) {
  tuner_note_end(t, index, record);
  tuner_note_fastest(t, index, record);
  bool right = tuner_is_wanted(t, record);
  t->strategy_ops->report(t->strategy, index,
                          right ? tuner_search_cost(t, record) : (double)INFINITY,
                          record->compile_seconds + record->measure_seconds);
}

void tuner_meet_known(struct tuner *t, uint64_t index, const struct cache_record *record) {
  t->skipped++;
  t->sound |= record->outcome == CUGEN_OUTCOME_OK;
  t->result->remembered++;
  if (!t->wrong && cache_record_is_refuted(record)) t->wrong = record;
  tuner_note_best(t, record);
  tuner_tell_strategy(t, index, record);
}

static void count_prior(struct tuner *t, uint64_t index) {
  struct tune_priors *priors = t->target->priors;
  for (size_t i = 0; priors && t->strategy_ops->takes_firsts && i < priors->count; i++) {
    if (priors->all[i].index != index) continue;
    priors->tried[priors->all[i].source]++;
    t->result->leaders++;
  }
}

int tuner_begin(struct tuner *t, struct candidate *c, cugen_error *err) {
  int status = candidate_build(&t->bench, c, err);
  if (status) {
    candidate_close(&t->bench, c);
    return status;
  }
  t->given++;
  count_prior(t, c->index);
  t->pending[t->pending_count++] = c;
  return CUGEN_OK;
}
