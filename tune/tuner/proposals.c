/* The variants that the strategy proposes; see proposals.h. */
#include "proposals.h"

#include <math.h>
#include <stdlib.h>

#include "tune/search/population.h"

/* ---- Opening -------------------------------------------------------------------------------- */

/* Names the requirement that the device does not meet, or the rule that removed most
   combinations. */
static int explain_one(const struct space_implementation *one, cugen_error *err) {
  const struct config_implementation *impl = one->implementation;
  const struct space_rule *most = one->rules;
  if (one->unmet)
    return error_set_at(err, CUGEN_ERROR_EMPTY, one->unmet->line.path, one->unmet->line.number,
                        "implementation '%s' requires \"%s\", which this device does not meet",
                        impl->name, one->unmet->text);
  for (size_t i = 1; i < one->rule_count; i++)
    if (one->rules[i].removed > most->removed) most = &one->rules[i];
  if (!one->rule_count || !most->removed)
    return error_set_at(err, CUGEN_ERROR_EMPTY, impl->line.path, impl->line.number,
                        "implementation '%s' has no variant", impl->name);
  struct text rule = {0};
  space_rule_print(most, &rule);
  error_set(err, CUGEN_ERROR_EMPTY,
            "implementation '%s' has no valid variant: %s rules out %llu of %llu combinations",
            impl->name, text_get(&rule), (unsigned long long)most->removed,
            (unsigned long long)one->cartesian);
  text_free(&rule);
  return CUGEN_ERROR_EMPTY;
}

static int nothing_to_try(const struct tuner_run *run, cugen_error *err) {
  size_t count;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  for (size_t i = 0; i < count && run->options->implementation; i++)
    if (run_wants(run, &all[i])) return explain_one(&all[i], err);
  return space_explain_empty(run->target->space, err);
}

/* Lists the variants to try before the strategy's own: the TUNE_LEADERS remembered ones of least
   cost, then target->listed or, without a list, the libraries' kernels, which are few and need no
   compile. */
static size_t find_firsts(const struct proposals *p, uint64_t *out) {
  const struct tune_target *target = p->run->target;
  struct population best = {0};
  uint64_t index;
  size_t count = 0, implementations;
  for (size_t i = 0; i < p->records->known_count; i++)
    if (p->records->known[i].outcome == CUGEN_OUTCOME_OK &&
        space_look_up(target->space, p->records->known[i].variant, &index))
      population_add(&best, index, run_search_cost(p->run, &p->records->known[i]));
  while (count < best.count && count < TUNE_LEADERS)
    out[count] = best.members[count].index, count++;
  for (size_t i = 0; i < target->listed_count; i++) out[count++] = target->listed[i];
  const struct space_implementation *all = space_implementations(target->space, &implementations);
  for (size_t i = 0; i < implementations && !target->listed; i++)
    for (uint64_t k = 0; all[i].implementation->library && k < all[i].valid; k++)
      out[count++] = all[i].first + k;
  return count;
}

int proposals_open(struct proposals *p, uint64_t seed, cugen_error *err) {
  struct tuner_run *run = p->run;
  const struct tune_target *target = run->target;
  const char *only = run->options->implementation;
  int status = only ? space_list_check(target->config, only, err) : CUGEN_OK;
  if (!status) status = best_open(&p->best, run, err);
  if (status) return status;
  struct strategy_space space = {.seed = run->options->seed ^ seed};
  const struct space_implementation *all = space_implementations(target->space, &space.span_count);
  size_t most_firsts = TUNE_LEADERS + target->listed_count;
  for (size_t i = 0; i < space.span_count; i++)
    if (all[i].implementation->library) most_firsts += all[i].valid;
  uint64_t *firsts = calloc(most_firsts, sizeof *firsts);
  struct strategy_span *spans = calloc(space.span_count + 1, sizeof *spans);
  p->axes = axes_open(target->space);
  if (firsts && spans && p->axes) {
    for (size_t i = 0; i < space.span_count; i++) {
      spans[i] = (struct strategy_span){all[i].first, run_wants(run, &all[i]) ? all[i].valid : 0};
      run->result->valid += spans[i].count;
    }
    space.spans = spans;
    space.firsts = firsts, space.first_count = find_firsts(p, firsts);
    if (target->priors)
      space.priors = target->priors->all, space.prior_count = target->priors->count;
    axes_describe(p->axes, &space);
    p->strategy = p->ops->open(&space);
  }
  free(firsts);
  free(spans);
  if (!p->strategy) return error_memory(err);
  return run->result->valid ? CUGEN_OK : nothing_to_try(run, err);
}

void proposals_close(struct proposals *p) {
  if (p->strategy) p->ops->close(p->strategy);
  axes_close(p->axes);
  best_close(&p->best);
  free(p->alike.diagnostic);
}

/* ---- What results show ---------------------------------------------------------------------- */

static bool is_library(const struct tuner_run *run, uint64_t index) {
  size_t count;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  const size_t i = run_implementation(run, index);
  return i < count && all[i].implementation->library;
}

void proposals_tell(struct proposals *p, uint64_t index, const struct cache_record *record) {
  alike_note(&p->alike, p->axes, index, record);
  best_note(&p->best, p->run, index, record);
  /* The strategy does not hear how fast libraries' kernels are, because it would then drop its
     priors, which are about templates. */
  if (is_library(p->run, index)) return;
  p->ops->report(p->strategy, index,
                 run_accepts(p->run, record) ? run_search_cost(p->run, record) : (double)INFINITY,
                 record->compile_seconds + record->measure_seconds);
}

void proposals_meet(struct proposals *p, uint64_t index, const struct cache_record *record) {
  p->run->result->remembered++;
  p->records->sound |= record->outcome == CUGEN_OUTCOME_OK;
  if (!p->wrong && cache_record_is_refuted(record)) p->wrong = record;
  proposals_tell(p, index, record);
}

void proposals_count_prior(struct proposals *p, uint64_t index) {
  struct tune_priors *priors = p->run->target->priors;
  for (size_t i = 0; priors && p->ops->takes_firsts && i < priors->count; i++) {
    if (priors->all[i].index != index) continue;
    priors->tried[priors->all[i].source]++;
    p->run->result->leaders++;
  }
}
