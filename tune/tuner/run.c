/* The variants that a run's options ask for, and its ranking of records; see run.h. */
#include "run.h"

double run_latest_end(const struct tuner_run *run) {
  return run->begin + run->budget + fmax(1, 0.1 * run->budget);
}

bool run_wants(const struct tuner_run *run, const struct space_implementation *one) {
  return !run->options->implementation ||
         space_list_means(run->options->implementation, one->implementation->name);
}

size_t run_implementation(const struct tuner_run *run, uint64_t index) {
  size_t count, i = 0;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  while (i < count && (index < all[i].first || index - all[i].first >= all[i].valid)) i++;
  return i;
}

bool run_find(const struct tuner_run *run, const char *variant, uint64_t *index) {
  size_t count;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  return space_look_up(run->target->space, variant, index) &&
         run_wants(run, &all[run_implementation(run, *index)]);
}

double run_timeout(const struct tuner_run *run) {
  return run->options->variant_timeout > 0 ? run->options->variant_timeout : run_variant_timeout;
}

int run_open(struct tuner_run *run, const char *variant, struct candidate **out, cugen_error *err) {
  uint64_t index;
  *out = NULL;
  return run_find(run, variant, &index) ? candidate_open(&run->bench, index, out, err) : CUGEN_OK;
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
