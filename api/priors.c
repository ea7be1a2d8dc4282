/* Collects variants that are suggested as good; see priors.h. */
#include "priors.h"

#include <stdlib.h>

bool priors_full(const struct priors *priors) {
  return priors->count >= priors->most;
}

bool priors_add_index(struct priors *priors, uint64_t index) {
  for (size_t i = 0; i < priors->count; i++)
    if (priors->all[i].index == index) return false;
  priors->all[priors->count++] = (struct strategy_prior){index, priors->source};
  return true;
}

bool priors_add(struct priors *priors, const char *variant) {
  uint64_t index;
  return !priors_full(priors) && space_look_up(priors->space, variant, &index) &&
         priors_add_index(priors, index);
}

int priors_take(void *context, struct cache_record *record, bool *stop, cugen_error *err) {
  struct priors *priors = context;
  const struct cache_record *failed;
  int status = failures_find(priors->failures, record->variant, &failed, err);
  if (!status && !failed) priors_add(priors, record->variant);
  *stop = priors_full(priors);
  return status;
}

void priors_free(struct priors *priors) {
  free(priors->all);
  text_free(&priors->gpus);
  text_free(&priors->shipped);
}

/* ---- As text -------------------------------------------------------------------------------- */

void priors_print(const struct priors *priors, struct text *out) {
  static const char *const words[PRIOR_SOURCES] = {[PRIOR_FOREIGN] =
                                                       "that other autotuners suggest",
                                                   [PRIOR_SIZES] = "that led for other sizes",
                                                   [PRIOR_GPUS] = "that led on ",
                                                   [PRIOR_SHIPPED] = "that cugen ships, learnt on ",
                                                   [PRIOR_MODEL] = "that the model puts first",
                                                   [PRIOR_CONFIG] = "that the config suggests"};
  size_t left = 0, said = 0;
  for (unsigned i = 0; i < PRIOR_SOURCES; i++) left += priors->kept.tried[i] > 0;
  for (unsigned source = 0; source < PRIOR_SOURCES; source++) {
    const size_t tried = priors->kept.tried[source];
    size_t all = 0;
    if (!tried) continue;
    for (size_t i = 0; i < priors->count; i++) all += priors->all[i].source == source;
    if (said++) text_add(out, --left > 1 ? ", " : " and ");
    text_addf(out, "%zu ", tried);
    if (tried < all) text_addf(out, "of %zu ", all);
    text_add(out, words[source]);
    if (source == PRIOR_GPUS) text_add(out, text_get(&priors->gpus));
    if (source == PRIOR_SHIPPED) text_add(out, text_get(&priors->shipped));
  }
}
