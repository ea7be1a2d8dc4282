/* What a run is asked for, and how it ranks records; see run.h. */
#include "run.h"

bool run_wants(const struct tuner_run *run, const struct space_implementation *one) {
  return !run->options->implementation ||
         space_list_means(run->options->implementation, one->implementation->name);
}

bool run_wants_index(const struct tuner_run *run, uint64_t index) {
  size_t count;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  for (size_t i = 0; i < count; i++)
    if (index >= all[i].first && index - all[i].first < all[i].valid)
      return run_wants(run, &all[i]);
  return false;
}

double run_cost(const struct tuner_run *run, const struct cache_record *record) {
  return cache_record_cost(record, run->target->config->objective);
}

bool run_knows_cost(const struct tuner_run *run, const struct cache_record *record) {
  return record->energy > 0 || !objective_needs_energy(run->target->config->objective);
}

double run_search_cost(const struct tuner_run *run, const struct cache_record *record) {
  const struct objective *objective = run->target->config->objective;
  return objective_needs_energy(objective)
             ? objective_cost_of_time(objective, record->seconds, record->flops, record->bytes)
             : run_cost(run, record);
}

bool run_accepts(const struct tuner_run *run, const struct cache_record *record) {
  return record->outcome == CUGEN_OUTCOME_OK &&
         (!run->target->outputs || cache_record_gave(record, run->target->outputs));
}
