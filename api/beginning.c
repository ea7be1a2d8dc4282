/* Gathers the variants with which tuning begins; see priors.h. The sources are asked in the order
   of enum prior_source. Imports from other autotuners have TUNE_LEADERS places of their own. The
   sources that follow share TUNE_LEADERS places; the config's own suggestions are added even if
   all places are taken. */
#include <stdlib.h>

#include "priors.h"

static int add_suggestions(const struct lookup *l, struct priors *out, cugen_error *err) {
  uint64_t *tries = calloc(config_tries(l->config) + 1, sizeof *tries);
  if (!tries) return error_memory(err);
  const size_t count = space_tries(l->space, tries);
  for (size_t i = 0; i < count; i++) priors_add_index(out, tries[i]);
  free(tries);
  return CUGEN_OK;
}

static int beginning_ask(struct lookup *l, struct cache *cache, enum prior_source source,
                         struct priors *out, cugen_error *err) {
  out->source = source;
  if (source == PRIOR_CONFIG) return add_suggestions(l, out, err);
  if (priors_full(out)) return CUGEN_OK;
  if (source == PRIOR_FOREIGN)
    return l->predicted ? CUGEN_OK : api_foreign_leaders(l, cache, out, err);
  if (source == PRIOR_SIZES) return api_near_leaders(l, cache, out, err);
  if (l->predicted || !l->device.facts.is_gpu) return CUGEN_OK;
  if (source == PRIOR_GPUS) return api_other_gpu_leaders(l, out, err);
  if (source == PRIOR_SHIPPED) return portfolio_shipped_leaders(l, out, err);
  return api_predicted_leaders(l, cache, out, err);
}

int priors_gather(struct lookup *l, struct cache *cache, struct priors *out, cugen_error *err) {
  *out = (struct priors){.space = l->space};
  out->all = calloc(2 * TUNE_LEADERS + config_tries(l->config), sizeof *out->all);
  int status = out->all ? CUGEN_OK : error_memory(err);
  size_t foreign = 0;
  for (unsigned source = 0; source < PRIOR_SOURCES && !status; source++) {
    if (source == PRIOR_FOREIGN + 1) foreign = out->count;
    out->most = foreign + TUNE_LEADERS;
    status = beginning_ask(l, cache, (enum prior_source)source, out, err);
  }
  if (!status && (out->gpus.failed || out->shipped.failed)) status = error_memory(err);
  out->kept = (struct tune_priors){.all = out->all, .count = out->count};
  return status;
}
