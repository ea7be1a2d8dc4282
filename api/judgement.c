/* Whether records still say something of a kernel. A record counts only while its variant still expands to the kernel that was measured: a
   changed template makes it stale. */
#include <string.h>

#include "lookup.h"
#include "tune/candidate.h"

/* ---- One record -------------------------------------------------------------------------------------------------- */

/* Against what its variant expands to. */
static void compare(const struct cache_record *record, const struct kernel_spec *spec,
                    const struct objective *objective, bool predicted, struct judgement *out) {
  cache_record_take_hashes(&out->now, spec);
  out->now.flops = spec->flops, out->now.bytes = spec->bytes;
  out->passed = kernel_spec_passed(spec);
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
