/* Variants that are remembered to have failed. What is chosen without a measurement of its own is none of these, as long as its source is the
   one that failed: applications launch without verifying. Records are sorted by variant, and one is judged when it is first asked for. */
#include <stdlib.h>
#include <string.h>

#include "lookup.h"

struct failure {
  struct cache_record record;
  bool of_check; /* it is of the check problem */
  enum { FAILURE_UNKNOWN, FAILURE_HOLDS, FAILURE_STALE } state;
};

struct failures {
  struct lookup *lookup; /* borrowed */
  struct failure *all;
  size_t count;
};

void failures_close(struct failures *failures) {
  if (!failures) return;
  for (size_t i = 0; i < failures->count; i++) cache_record_free(&failures->all[i].record);
  free(failures->all);
  free(failures);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

/* A launch that the check problem's sizes forbid may be possible with others. */
static bool is_failure(const struct cache_record *record, bool of_check) {
  if (record->outcome == CUGEN_OUTCOME_OK || record->outcome == CUGEN_OUTCOME_UNPREDICTED) return false;
  return !of_check || record->outcome != CUGEN_OUTCOME_LAUNCH;
}

/* Takes those that are failures; frees the others. */
static int take(struct failures *f, struct cache_record *records, size_t count, bool of_check, cugen_error *err) {
  struct failure *all = count ? realloc(f->all, (f->count + count) * sizeof *all) : f->all;
  if (all) f->all = all;
  for (size_t i = 0; i < count; i++)
    if (all && is_failure(&records[i], of_check))
      all[f->count++] = (struct failure){.record = records[i], .of_check = of_check};
    else
      cache_record_free(&records[i]);
  free(records);
  return all || !count ? CUGEN_OK : error_memory(err);
}

static int load(struct failures *f, const struct lookup *l, bool of_check, cugen_error *err) {
  const struct cache_key key = lookup_measured_key(l);
  struct cache_record *records = NULL;
  struct cache *cache;
  size_t count = 0;
  int status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_load(cache, &key, &records, &count, err);
  return status ? status : take(f, records, count, of_check, err);
}

static int load_other(struct failures *f, const struct lookup *l, const struct problem *problem, cugen_error *err) {
  struct lookup other = {0};
  int status = lookup_for_problem(l, problem, &other, err);
  const bool same = !status && strcmp(text_get(&other.problem_text), text_get(&l->problem_text)) == 0;
  other.origin = l->origin;
  if (!status && !same) status = load(f, &other, true, err);
  lookup_close(&other);
  return status;
}

/* *same: none does. */
static bool only_sizes_differ(const struct problem *a, const struct problem *b, bool *same) {
  *same = true;
  for (size_t i = 0; i < a->count; i++) {
    if (value_equal(a->values[i], b->values[i])) continue;
    *same = false;
    if (a->values[i].type != VALUE_INT || b->values[i].type != VALUE_INT) return false;
  }
  return true;
}

/* What is tuned on the cpu device has the check problem's sizes where none were set. What fails with all of its sizes is wrong
   for those that were set, too: tuning them would try it first. */
static int load_check(struct failures *f, const struct lookup *l, cugen_error *err) {
  struct problem unset = {0}, check = {0};
  bool same;
  if (l->device.facts.is_gpu || !l->settings) return CUGEN_OK;
  int status = problem_set(l->config, l->settings, l->setting_count, true, &unset, err);
  if (!status) status = load_other(f, l, &unset, err);
  if (!status) status = problem_check(l->config, &unset, &check, err);
  if (!status && only_sizes_differ(&unset, &check, &same) && !same) status = load_other(f, l, &check, err);
  problem_free(&check);
  problem_free(&unset);
  return status;
}

static int by_variant(const void *left, const void *right) {
  const struct failure *a = left, *b = right;
  const int order = strcmp(a->record.variant, b->record.variant);
  return order ? order : a->of_check - b->of_check;
}

int failures_open(struct lookup *l, struct failures **out, cugen_error *err) {
  struct failures *f = *out = calloc(1, sizeof *f);
  if (!f) return error_memory(err);
  f->lookup = l;
  int status = load(f, l, false, err);
  if (!status) status = load_check(f, l, err);
  if (f->count) qsort(f->all, f->count, sizeof *f->all, by_variant);
  if (status || f->count) return status;
  failures_close(f);
  *out = NULL;
  return CUGEN_OK;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------- */

static bool holds(const struct failure *failure, const struct judgement *judgement) {
  if (!failure->of_check) return judgement->how == JUDGED_CURRENT;
  const bool expands = judgement->how == JUDGED_CURRENT || judgement->how == JUDGED_CHANGED;
  return expands && *failure->record.source_hash.hex &&
         strcmp(failure->record.source_hash.hex, judgement->now.source_hash.hex) == 0;
}

static int judge(struct lookup *l, struct failure *failure, cugen_error *err) {
  struct judgement judgement;
  if (failure->state != FAILURE_UNKNOWN) return CUGEN_OK;
  int status = lookup_space(l, err);
  if (!status) status = lookup_expander(l, err);
  if (!status) status = api_judge(l, &failure->record, &judgement, err);
  if (!status) failure->state = holds(failure, &judgement) ? FAILURE_HOLDS : FAILURE_STALE;
  return status;
}

/* The first of that variant, or of a later one. */
static size_t find_first(const struct failures *f, const char *variant) {
  size_t low = 0, high = f->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (strcmp(f->all[middle].record.variant, variant) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int failures_find(struct failures *f, const char *variant, const struct cache_record **out, cugen_error *err) {
  int status = CUGEN_OK;
  *out = NULL;
  for (size_t i = f ? find_first(f, variant) : 0; f && i < f->count && !status && !*out; i++) {
    if (strcmp(f->all[i].record.variant, variant) != 0) break;
    status = judge(f->lookup, &f->all[i], err);
    if (!status && f->all[i].state == FAILURE_HOLDS) *out = &f->all[i].record;
  }
  return status;
}
