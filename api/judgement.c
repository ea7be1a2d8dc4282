/* Judges whether records are still valid for a kernel: whether a record's variant expands to the
   kernel that was measured. */
#include <string.h>

#include "tune/candidate.h"
#include "verdict.h"

static void judgement_compare(const struct cache_record *record, const struct kernel_spec *spec,
                              const struct objective *objective, bool predicted,
                              struct judgement *out) {
  const bool current = cache_record_is_of(record, spec, objective, predicted);
  cache_record_take_hashes(&out->now, spec);
  out->now.flops = spec->flops, out->now.bytes = spec->bytes;
  out->passed = kernel_spec_passed(spec);
  out->how = current ? JUDGED_CURRENT : JUDGED_CHANGED;
  out->proof_changed = !cache_record_is_same(record, spec);
  out->proof = out->proof_changed ? kernel_spec_proof_without(spec, record->lacks, false)
                                  : record->proof_hash;
  out->whole = out->proof_changed ? spec->hash : record->hash;
}

/* Judges one record. Free *spec also after a failure. */
static int judgement_judge(struct lookup *l, const struct cache_record *record, bool predicted,
                           struct judgement *out, struct kernel_spec *spec, cugen_error *err) {
  uint64_t index;
  *out = (struct judgement){.how = JUDGED_GONE, .order = UINT64_MAX};
  *spec = (struct kernel_spec){0};
  int status = space_find_one(l->space, record->variant, &index, &out->why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  out->order = cache_record_order(record, index, l->config->objective);
  status = lookup_expand(l, index, spec, &out->why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  /* A variant that does not expand has no source. Its record is valid as long as the reason is the
     same. */
  struct hash refusal = {""};
  bool refused = expand_refuses(status) && record->outcome == CUGEN_OUTCOME_LAUNCH;
  if (refused) refusal = candidate_refusal(record->variant, out->why.message);
  out->how = refused && strcmp(refusal.hex, record->hash.hex) == 0 ? JUDGED_CURRENT : JUDGED_BROKEN;
  if (status) return CUGEN_OK;

  /* A prediction without a verdict has been compared with nothing. */
  const bool verdict = record->verdict != CACHE_NOT_RUN || cache_record_is_refuted(record);
  if (!predicted) status = lookup_add_check(l, index, spec, err);
  if (predicted && verdict) status = api_hash_verdict(l, spec, err);
  if (!status) judgement_compare(record, spec, l->config->objective, predicted, out);
  return status;
}

int api_judge_as(struct lookup *l, bool predicted, const struct cache_record *record,
                 struct judgement *out, cugen_error *err) {
  struct kernel_spec spec;
  int status = judgement_judge(l, record, predicted, out, &spec, err);
  kernel_spec_free(&spec);
  return status;
}

int api_judge(struct lookup *l, const struct cache_record *record, struct judgement *out,
              cugen_error *err) {
  return api_judge_as(l, l->predicted, record, out, err);
}

/* Drops a verdict whose verification had another reference or other tolerances. */
int api_check_current(struct lookup *l, bool predicted, struct cache_record *record, bool *current,
                      struct kernel_spec *spec, cugen_error *err) {
  struct judgement judgement;
  int status = judgement_judge(l, record, predicted, &judgement, spec, err);
  *current = !status && judgement.how == JUDGED_CURRENT;
  record->order = judgement.order;
  if (*current && judgement.proof_changed) record->verdict = CACHE_NOT_RUN;
  return status;
}

int api_drop_stale(struct lookup *l, struct cache_record *records, size_t *count, bool only_others,
                   cugen_error *err) {
  size_t kept = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < *count; i++) {
    struct kernel_spec spec = {0};
    bool current = only_others && !records[i].elsewhere;
    if (!status && !current)
      status = api_check_current(l, l->predicted, &records[i], &current, &spec, err);
    kernel_spec_free(&spec);
    if (current)
      records[kept++] = records[i];
    else
      cache_record_free(&records[i]);
  }
  *count = kept;
  return status;
}
