/* Whether records still say something of a kernel, and which of them is the best. A record counts only while its variant still
   expands to the kernel that was measured: a changed template makes it stale. */
#include <math.h>
#include <string.h>

#include "lookup.h"
#include "tune/candidate.h"

/* ---- One record -------------------------------------------------------------------------------------------------- */

/* Against what its variant expands to. */
static void compare(const struct cache_record *record, const struct kernel_spec *spec,
                    const struct objective *objective, bool predicted, struct judgement *out) {
  cache_record_take_hashes(&out->now, spec);
  out->now.flops = spec->flops, out->now.bytes = spec->bytes;
  out->how = cache_record_is_of(record, spec, objective, predicted) ? JUDGED_CURRENT : JUDGED_CHANGED;
  out->proof_changed = !cache_record_is_same(record, spec);
  out->proof = kernel_spec_proof_without(spec, record->lacks);
  out->whole = out->proof_changed ? spec->hash : record->hash;
}

/* *spec is to be freed whatever comes back. */
static int judge(struct lookup *l, const struct cache_record *record, bool predicted, struct judgement *out,
                 struct kernel_spec *spec, cugen_error *err) {
  uint64_t index;
  *out = (struct judgement){.how = JUDGED_GONE, .order = UINT64_MAX};
  *spec = (struct kernel_spec){0};
  int status = space_find_one(l->space, record->variant, &index, &out->why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  out->order = cache_record_order(record, index, l->config->objective);
  const struct variant variant = lookup_variant(l, index);
  status = lookup_expand(l, &variant, spec, &out->why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  /* A launch that the config describes but no device accepts has no source; its record stands while the reason does. */
  struct hash refusal = {""};
  bool refused = expand_refuses(status) && record->outcome == CUGEN_OUTCOME_LAUNCH;
  if (refused) refusal = candidate_refusal(record->variant, out->why.message);
  out->how = refused && strcmp(refusal.hex, record->hash.hex) == 0 ? JUDGED_CURRENT : JUDGED_BROKEN;
  if (!status) compare(record, spec, l->config->objective, predicted, out);
  return CUGEN_OK;
}

int api_judge(struct lookup *l, const struct cache_record *record, struct judgement *out, cugen_error *err) {
  struct kernel_spec spec;
  int status = judge(l, record, l->predicted, out, &spec, err);
  kernel_spec_free(&spec);
  return status;
}

/* A verdict is about what its result was held against. *spec is to be freed whatever comes back. */
int api_check_current(struct lookup *l, bool predicted, struct cache_record *record, bool *current,
                      struct kernel_spec *spec, cugen_error *err) {
  struct judgement judgement;
  int status = judge(l, record, predicted, &judgement, spec, err);
  *current = !status && judgement.how == JUDGED_CURRENT;
  record->order = judgement.order;
  if (*current && judgement.proof_changed) record->verdict = CACHE_NOT_RUN;
  return status;
}

/* ---- Many -------------------------------------------------------------------------------------------------------- */

/* only_others: own ones stay whatever they are. */
static int drop_stale(struct lookup *l, struct cache_record *records, size_t *count, bool only_others,
                      cugen_error *err) {
  size_t kept = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < *count; i++) {
    struct kernel_spec spec = {0};
    bool current = only_others && !records[i].elsewhere;
    if (!status && !current) status = api_check_current(l, l->predicted, &records[i], &current, &spec, err);
    kernel_spec_free(&spec);
    if (current)
      records[kept++] = records[i];
    else
      cache_record_free(&records[i]);
  }
  *count = kept;
  return status;
}

int api_drop_stale(struct lookup *l, struct cache_record *records, size_t *count, cugen_error *err) {
  return drop_stale(l, records, count, false, err);
}

int api_drop_others(struct lookup *l, struct cache_record *records, size_t *count, cugen_error *err) {
  return drop_stale(l, records, count, true, err);
}

/* ---- The best ---------------------------------------------------------------------------------------------------- */

struct search {
  struct lookup *lookup;
  const struct space *space;
  struct best_record *best;
  bool predicted;
  double least;                 /* of the costs of those that are current */
  const char *variant;          /* only this one's, */
  const cugen_outputs *outputs; /* only what gave these; NULL: any */
};

static bool is_asked(const struct search *search, const struct cache_record *record) {
  return (!search->variant || strcmp(record->variant, search->variant) == 0) &&
         (!search->outputs || cache_record_gave(record, search->outputs));
}

void api_best_free(struct best_record *best) {
  cache_record_free(&best->record);
  kernel_spec_free(&best->spec);
}

/* Takes the record's strings over. */
static void take_best(struct best_record *best, struct cache_record *record, uint64_t index,
                      struct kernel_spec *spec) {
  api_best_free(best);
  *best = (struct best_record){.found = true, .index = index, .record = *record, .spec = *spec};
  record->variant = record->reason = NULL;
  *spec = (struct kernel_spec){0};
}

/* Records come by cost, and only those that can still win are expanded. */
static int consider(void *context, struct cache_record *record, bool *stop, cugen_error *err) {
  struct search *search = context;
  struct best_record *best = search->best;
  struct kernel_spec spec;
  uint64_t at;
  bool current;
  cugen_error ignored;
  const struct objective *objective = search->lookup->config->objective;
  double cost = cache_record_cost(record, objective);
  *stop = false;
  if (!is_asked(search, record)) return CUGEN_OK;
  *stop = best->found && !cache_leads(search->least, UINT64_MAX, cost, 0);
  if (*stop) return CUGEN_OK;
  int status = space_find_one(search->space, record->variant, &at, &ignored);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  const uint64_t order = status ? 0 : cache_record_order(record, at, objective);
  if (status || (best->found && !cache_leads(search->least, best->record.order, cost, order))) return CUGEN_OK;
  status = api_check_current(search->lookup, search->predicted, record, &current, &spec, err);
  if (current && !best->found) search->least = cost;
  if (current) take_best(best, record, at, &spec);
  kernel_spec_free(&spec);
  return status;
}

static int find_best(struct search *search, const struct cache_key *key, cugen_error *err) {
  struct lookup *l = search->lookup;
  struct best_record *out = search->best;
  struct cache *cache;
  *out = (struct best_record){0};
  int status = lookup_space(l, err);
  if (!status) status = lookup_expander(l, err);
  if (!status) status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_fastest(cache, key, consider, search, err);
  if (status) {
    api_best_free(out);
    *out = (struct best_record){0};
  }
  return status;
}

int api_best_under(struct lookup *l, const struct cache_key *key, bool predicted, const struct space *space,
                   struct best_record *out, cugen_error *err) {
  struct search search = {.lookup = l, .space = space, .best = out, .predicted = predicted};
  return find_best(&search, key, err);
}

int api_best_giving(struct lookup *l, const struct cache_key *key, const char *variant, const cugen_outputs *outputs,
                    struct best_record *out, cugen_error *err) {
  struct search search = {.lookup = l, .best = out, .variant = variant, .outputs = outputs};
  *out = (struct best_record){0};
  int status = lookup_space(l, err);
  search.space = l->space;
  return status ? status : find_best(&search, key, err);
}

int api_best(struct lookup *l, struct best_record *out, cugen_error *err) {
  const struct cache_key key = lookup_key(l);
  *out = (struct best_record){0};
  int status = lookup_space(l, err);
  return status ? status : api_best_under(l, &key, l->predicted, l->space, out, err);
}
