/* Chooses what a run tries first, or explains why there is nothing to try; see tuner_run.h. */
#include "tuner_run.h"

#include <stdlib.h>

bool tuner_wants(const struct tuner *t, const struct space_implementation *one) {
  return !t->options->implementation ||
         space_list_means(t->options->implementation, one->implementation->name);
}

bool tuner_wants_index(const struct tuner *t, uint64_t index) {
  size_t count;
  const struct space_implementation *all = space_implementations(t->target->space, &count);
  for (size_t i = 0; i < count; i++)
    if (index >= all[i].first && index - all[i].first < all[i].valid)
      return tuner_wants(t, &all[i]);
  return false;
}

/* Names the rule that removed most combinations, which is the first to look at. */
static int explain_one(const struct space_implementation *one, cugen_error *err) {
  const struct config_implementation *impl = one->implementation;
  const struct space_rule *most = one->rules;
  if (one->unmet)
    return error_set_at(err, CUGEN_ERROR_EMPTY, one->unmet->line.path, one->unmet->line.number,
                        "implementation '%s' requires \"%s\", which this device does not meet",
                        impl->name, expr_text(one->unmet->expr));
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

static int nothing_to_try(const struct tuner *t, cugen_error *err) {
  size_t count;
  const struct space_implementation *all = space_implementations(t->target->space, &count);
  const char *only = t->options->implementation;
  for (size_t i = 0; i < count && only; i++)
    if (tuner_wants(t, &all[i])) return explain_one(&all[i], err);
  return space_explain_empty(t->target->space, err);
}

/* The best of this problem's records come first, then the variants that are to be tried. */
static size_t find_firsts(const struct tuner *t, uint64_t *out) {
  size_t count = 0;
  for (size_t i = 0; i < t->known_count && count < TUNE_LEADERS; i++) /* best first */
    if (t->known[i].outcome == CUGEN_OUTCOME_OK)
      count += space_look_up(t->target->space, t->known[i].variant, &out[count]);
  for (size_t i = 0; i < t->target->listed_count; i++) out[count++] = t->target->listed[i];
  return count;
}

/* Sets the spans of the implementations that are asked for. */
static void fill_spans(struct tuner *t, const struct space_implementation *all, size_t count,
                       struct strategy_span *spans) {
  for (size_t i = 0; i < count; i++) {
    bool wanted = tuner_wants(t, &all[i]);
    spans[i] = (struct strategy_span){all[i].first, wanted ? all[i].valid : 0};
    t->result->valid += spans[i].count;
  }
}

static int open_with(struct tuner *t, uint64_t *firsts, cugen_error *err) {
  struct strategy_space space = {.firsts = firsts,
                                 .first_count = find_firsts(t, firsts),
                                 .seed = t->options->seed ^ t->sharing.seed};
  if (t->target->priors)
    space.priors = t->target->priors->all, space.prior_count = t->target->priors->count;
  const struct space_implementation *all =
      space_implementations(t->target->space, &space.span_count);
  const char *only = t->options->implementation;
  int status = only ? space_list_check(t->target->config, only, err) : CUGEN_OK;
  if (status) return status;
  struct strategy_span *spans = calloc(space.span_count + 1, sizeof *spans);
  t->axes = axes_open(t->target->space);
  if (!spans || !t->axes) {
    free(spans);
    return error_memory(err);
  }
  axes_describe(t->axes, &space);
  fill_spans(t, all, space.span_count, spans);
  space.spans = spans;
  t->strategy = t->strategy_ops->open(&space);
  free(spans);
  if (!t->strategy) return error_memory(err);
  return t->result->valid ? CUGEN_OK : nothing_to_try(t, err);
}

int tuner_open_strategy(struct tuner *t, cugen_error *err) {
  uint64_t *firsts = calloc(TUNE_LEADERS + t->target->listed_count, sizeof *firsts);
  if (!firsts) return error_memory(err);
  int status = open_with(t, firsts, err);
  free(firsts);
  return status;
}
