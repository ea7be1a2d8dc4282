/* Finds the best record that is still valid and whose variant is not known to fail. */
#include <string.h>

#include "lookup.h"

struct search {
  struct lookup *lookup;
  const struct space *space;
  struct best_record *best;
  bool predicted;
  double least;                 /* the smallest cost among current records */
  const char *variant;          /* NULL: records of any variant */
  const cugen_outputs *outputs; /* NULL: records with any outputs */
  struct failures *failures;    /* failed variants, whose records are skipped; NULL: none */
};

void api_best_free(struct best_record *best) {
  cache_record_free(&best->record);
  kernel_spec_free(&best->spec);
}

/* Looks at one record. Records come by rising cost. A record that cannot win is not expanded. If
   two config files each have a prediction for one variant, the verified prediction counts. */
static int best_consider(void *context, struct cache_record *record, bool *stop, cugen_error *err) {
  struct search *search = context;
  struct best_record *best = search->best;
  struct kernel_spec spec;
  uint64_t at;
  bool current;
  cugen_error ignored;
  const struct objective *objective = search->lookup->config->objective;
  double cost = cache_record_cost(record, objective);
  *stop = false;
  if (search->variant && strcmp(record->variant, search->variant) != 0) return CUGEN_OK;
  if (search->outputs && !cache_record_gave(record, search->outputs)) return CUGEN_OK;
  *stop = best->found && !cache_leads(search->least, UINT64_MAX, cost, 0);
  if (*stop) return CUGEN_OK;
  int status = space_find_one(search->space, record->variant, &at, &ignored);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  const struct cache_record *failed = NULL;
  if (!status) {
    const int failing = failures_find(search->failures, record->variant, &failed, err);
    if (failing || failed) return failing;
  }
  const uint64_t order = status ? 0 : cache_record_order(record, at, objective);
  const bool again = best->found && search->predicted && best->record.verdict == CACHE_NOT_RUN &&
                     record->verdict != CACHE_NOT_RUN &&
                     strcmp(best->record.variant, record->variant) == 0;
  if (status ||
      (best->found && !again && !cache_leads(search->least, best->record.order, cost, order)))
    return CUGEN_OK;
  status = api_check_current(search->lookup, search->predicted, record, &current, &spec, err);
  if (current && !best->found) search->least = cost;
  if (current && (!again || record->verdict != CACHE_NOT_RUN)) {
    api_best_free(best);
    *best = (struct best_record){.found = true, .index = at, .record = *record, .spec = spec};
    record->variant = record->reason = NULL; /* *best owns both strings now */
    return status;
  }
  kernel_spec_free(&spec);
  return status;
}

static int best_find_best(struct search *search, const struct cache_key *key, cugen_error *err) {
  struct lookup *l = search->lookup;
  struct best_record *out = search->best;
  struct cache *cache;
  *out = (struct best_record){0};
  int status = lookup_prepare(l, err);
  if (!status) status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_fastest(cache, key, best_consider, search, err);
  if (status) {
    api_best_free(out);
    *out = (struct best_record){0};
  }
  return status;
}

int api_best_under(struct lookup *l, const struct cache_key *key, bool predicted,
                   const struct space *space, struct failures *failures, struct best_record *out,
                   cugen_error *err) {
  struct search search = {
      .lookup = l, .space = space, .best = out, .predicted = predicted, .failures = failures};
  return best_find_best(&search, key, err);
}

int api_best_giving(struct lookup *l, const struct cache_key *key, const char *variant,
                    const cugen_outputs *outputs, struct best_record *out, cugen_error *err) {
  struct search search = {.lookup = l, .best = out, .variant = variant, .outputs = outputs};
  *out = (struct best_record){0};
  int status = lookup_space(l, err);
  search.space = l->space;
  return status ? status : best_find_best(&search, key, err);
}

int api_best(struct lookup *l, struct best_record *out, cugen_error *err) {
  const struct cache_key key = lookup_key(l);
  struct failures *failures = NULL;
  *out = (struct best_record){0};
  int status = lookup_space(l, err);
  /* measured variants have run, so only predictions need the failures */
  if (!status && l->predicted) status = failures_open(l, &failures, err);
  if (!status) status = api_best_under(l, &key, l->predicted, l->space, failures, out, err);
  failures_close(failures);
  return status;
}
