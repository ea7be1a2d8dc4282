/* Variants that are known to be wrong or to fail. A variant without a measurement of its own must
   not be chosen if its present source failed, because applications launch without verifying.

   A failure is recorded for the problem on which the variant failed. A variant that is wrong on the
   check problem counts as wrong for all sizes, so a look-up searches several places. A record is
   valid while its variant, for the record's own problem, still expands to the kernel that failed. A
   record is judged when its variant is first looked for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lookup.h"

/* A place where failures of the look-up's variants are remembered. */
struct place {
  struct lookup *lookup; /* the look-up by which records are judged: the caller's, or `other` */
  struct problem problem;
  struct lookup other;
  bool predicted; /* the records under the place's key are predictions */
};

struct failure {
  struct cache_record record;
  struct place *place;
  enum { FAILURE_UNKNOWN, FAILURE_HOLDS, FAILURE_STALE } state;
};

struct failures {
  struct lookup *lookup; /* borrowed */
  struct prediction_key predictions;
  struct place *places;
  size_t place_count;
  struct failure *all; /* sorted by variant */
  size_t count;
};

void failures_close(struct failures *failures) {
  if (!failures) return;
  for (size_t i = 0; i < failures->count; i++) cache_record_free(&failures->all[i].record);
  for (size_t i = 0; i < failures->place_count; i++) {
    lookup_close(&failures->places[i].other);
    problem_free(&failures->places[i].problem);
  }
  api_prediction_key_free(&failures->predictions);
  free(failures->places);
  free(failures->all);
  free(failures);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Returns whether a record in a place is a failure of the look-up's variant. */
typedef bool is_failure(const struct cache_record *record);

static bool has_failed(const struct cache_record *record) {
  return record->outcome != CUGEN_OUTCOME_OK && record->outcome != CUGEN_OUTCOME_UNPREDICTED;
}

/* A launch that the check problem's sizes forbid may be possible with other sizes, so a failed
   launch is not counted. */
static bool has_failed_check(const struct cache_record *record) {
  return has_failed(record) && record->outcome != CUGEN_OUTCOME_LAUNCH;
}

static int failures_load(struct failures *f, struct place *place, bool predicted, is_failure *is,
                         cugen_error *err) {
  const struct cache_key key = predicted ? lookup_predicted_key(place->lookup, &f->predictions)
                                         : lookup_measured_key(place->lookup);
  struct cache_record *records;
  size_t count;
  place->predicted = predicted;
  int status = lookup_records(f->lookup, &key, &records, &count, err);
  for (size_t i = 0; i < count; i++) {
    const bool failure = !status && is(&records[i]);
    if (failure &&
        ARRAY_ADD(f->all, f->count, (struct failure){.record = records[i], .place = place}))
      continue;
    if (failure) status = error_memory(err);
    cache_record_free(&records[i]);
  }
  free(records);
  return status;
}

static int load_own(struct failures *f, bool predicted, cugen_error *err) {
  struct place *place = &f->places[f->place_count++];
  place->lookup = f->lookup;
  return failures_load(f, place, predicted, has_failed, err);
}

/* Adds the variants of lookup_drop_variant. */
static int load_uncompiled(struct failures *f, struct place *place, cugen_error *err) {
  for (size_t i = 0; i < f->lookup->uncompiled_count; i++) {
    const struct cache_record record = {.variant = strdup(f->lookup->uncompiled[i]),
                                        .reason = strdup("it was tried just now"),
                                        .outcome = CUGEN_OUTCOME_COMPILE};
    const struct failure failure = {.record = record, .place = place, .state = FAILURE_HOLDS};
    if (!record.variant || !record.reason || !ARRAY_ADD(f->all, f->count, failure)) {
      free(record.variant);
      free(record.reason);
      return error_memory(err);
    }
  }
  return CUGEN_OK;
}

/* Loads the failures of another problem, which the function takes over. Does nothing if the problem
   is the look-up's own or already a place. */
static int load_other(struct failures *f, struct problem *problem, bool predicted, is_failure *is,
                      cugen_error *err) {
  struct place *place = &f->places[f->place_count];
  struct lookup other = {0};
  place->problem = *problem;
  *problem = (struct problem){0};
  int status = lookup_for_problem(f->lookup, &place->problem, &other, err);
  const char *text = text_get(&other.problem_text);
  bool known = strcmp(text, text_get(&f->lookup->problem_text)) == 0;
  for (size_t i = 0; i < f->place_count && !known; i++)
    known = f->places[i].problem.values &&
            strcmp(text_get(&f->places[i].other.problem_text), text) == 0;
  place->other = other;
  place->other.origin = f->lookup->origin;
  place->lookup = &place->other;
  if (!status && !known) {
    f->place_count++;
    return failures_load(f, place, predicted, is, err);
  }
  lookup_close(&place->other);
  problem_free(&place->problem);
  *place = (struct place){0};
  return status;
}

/* ---- The places ----------------------------------------------------------------------------- */

/* A prediction is verified on the check problem of its implementation, so failures are looked for
   there. */
static int load_refuted(struct failures *f, cugen_error *err) {
  const struct config *config = f->lookup->config;
  int status = api_find_predictions(f->lookup, &f->predictions, err);
  if (!status) status = load_own(f, true, err);
  for (size_t i = 0; i <= config->implementation_count && !status; i++) {
    const struct config_implementation *own = i ? &config->implementations[i - 1] : NULL;
    struct problem check = {0};
    if (own && !own->check) continue;
    status = problem_check(config, f->lookup->problem, &check, err);
    for (size_t p = 0; own && p < check.count && !status; p++)
      if (own->check[p].type != VALUE_NIL) check.values[p] = own->check[p];
    if (!status) status = load_other(f, &check, true, cache_record_is_refuted, err);
    problem_free(&check);
  }
  return status;
}

/* Returns whether the problems differ at most in sizes; *same: the problems do not differ at
   all. */
static bool only_sizes_differ(const struct problem *a, const struct problem *b, bool *same) {
  *same = true;
  for (size_t i = 0; i < a->count; i++) {
    if (value_equal(a->values[i], b->values[i])) continue;
    *same = false;
    if (a->values[i].type != VALUE_INT || b->values[i].type != VALUE_INT) return false;
  }
  return true;
}

/* Tuning on the cpu device uses the check problem's sizes where none were set. Loads the failures
   of that problem and of the whole check problem. */
static int failures_load_check(struct failures *f, cugen_error *err) {
  const struct lookup *l = f->lookup;
  struct problem unset = {0}, check = {0};
  bool same;
  if (!l->settings) return CUGEN_OK;
  int status = problem_set(l->config, l->settings, l->setting_count, true, &unset, err);
  if (!status) status = problem_check(l->config, &unset, &check, err);
  const bool sized = !status && only_sizes_differ(&unset, &check, &same) && !same;
  if (!status) status = load_other(f, &unset, false, has_failed_check, err);
  if (sized && !status) status = load_other(f, &check, false, has_failed_check, err);
  problem_free(&check);
  problem_free(&unset);
  return status;
}

static int failures_by_variant(const void *left, const void *right) {
  const struct failure *a = left, *b = right;
  const int order = strcmp(a->record.variant, b->record.variant);
  return order ? order : (a->place > b->place) - (a->place < b->place);
}

int failures_open(struct lookup *l, struct failures **out, cugen_error *err) {
  struct failures *f = *out = calloc(1, sizeof *f);
  if (!f) return error_memory(err);
  f->lookup = l;
  /* room for the own records and the check problems */
  f->places = calloc(l->config->implementation_count + 3, sizeof *f->places);
  int status = f->places ? load_own(f, false, err) : error_memory(err);
  if (!status) status = load_uncompiled(f, &f->places[0], err);
  if (!status) status = l->device.facts.is_gpu ? load_refuted(f, err) : failures_load_check(f, err);
  if (f->count) qsort(f->all, f->count, sizeof *f->all, failures_by_variant);
  if (status || f->count) return status;
  failures_close(f);
  *out = NULL;
  return CUGEN_OK;
}

/* ---- Finding a failure ---------------------------------------------------------------------- */

/* Finds out whether the failure still holds, unless that is known. */
static int failures_judge(struct failure *failure, cugen_error *err) {
  struct lookup *l = failure->place->lookup;
  struct judgement judgement;
  if (failure->state != FAILURE_UNKNOWN) return CUGEN_OK;
  int status = lookup_prepare(l, err);
  if (!status)
    status = api_judge_as(l, failure->place->predicted, &failure->record, &judgement, err);
  if (!status) failure->state = judgement.how == JUDGED_CURRENT ? FAILURE_HOLDS : FAILURE_STALE;
  return status;
}

int failures_find(struct failures *f, const char *variant, const struct cache_record **out,
                  cugen_error *err) {
  *out = NULL;
  if (!f) return CUGEN_OK;
  size_t first = 0, behind = f->count;
  while (first < behind) {
    const size_t middle = (first + behind) / 2;
    if (strcmp(f->all[middle].record.variant, variant) < 0)
      first = middle + 1;
    else
      behind = middle;
  }
  int status = CUGEN_OK;
  for (size_t i = first; i < f->count && !status && !*out; i++) {
    struct failure *failure = &f->all[i];
    if (strcmp(failure->record.variant, variant) != 0) break;
    status = failures_judge(failure, err);
    if (!status && failure->state == FAILURE_HOLDS) *out = &failure->record;
  }
  return status;
}

int failures_find_at(struct failures *f, const struct lookup *l, uint64_t index,
                     const struct cache_record **out, cugen_error *err) {
  struct text name = {0};
  *out = NULL;
  if (!f) return CUGEN_OK;
  lookup_print(l, index, &name);
  int status = name.failed ? error_memory(err) : failures_find(f, text_get(&name), out, err);
  text_free(&name);
  return status;
}

/* ---- Marking predictions -------------------------------------------------------------------- */

/* If the record's variant, as it is now, is known to fail, makes the record a failure. */
static int api_failures_mark(struct failures *f, struct cache_record *record, cugen_error *err) {
  const struct cache_record *failed;
  struct judgement judgement;
  if (record->outcome != CUGEN_OUTCOME_OK) return CUGEN_OK;
  int status = failures_find(f, record->variant, &failed, err);
  if (status || !failed) return status;
  status = api_judge(f->lookup, record, &judgement, err);
  if (status || judgement.how != JUDGED_CURRENT) return status;
  char *reason = strdup(failed->reason);
  if (!reason) return error_memory(err);
  free(record->reason);
  record->reason = reason;
  record->outcome = failed->outcome;
  status = api_judge(f->lookup, record, &judgement, err); /* judged again, because a failure has
                                                             other hashes */
  if (status) return status;
  record->hash = judgement.now.hash; /* the variant is wrong as it is now, whatever it was verified
                                        against */
  record->proof_hash = judgement.proof;
  record->verdict = CACHE_NOT_RUN;
  record->unverified[0] = '\0';
  return CUGEN_OK;
}

/* Returns whether `other`, a record of the same variant, says at least as much as `record`: a
   failure says most, then a prediction with a verdict. */
static bool says_more(const struct cache_record *other, const struct cache_record *record) {
  const bool failed = record->outcome != CUGEN_OUTCOME_OK,
             other_failed = other->outcome != CUGEN_OUTCOME_OK;
  if (failed != other_failed) return other_failed;
  return (other->verdict != CACHE_NOT_RUN) >= (record->verdict != CACHE_NOT_RUN);
}

/* Returns whether the record comes from another config file, and this file has a prediction of the
   variant that says at least as much. */
static bool is_told_twice(const struct cache_record *records, size_t count,
                          const struct cache_record *record) {
  for (size_t i = 0; i < count && record->elsewhere; i++)
    if (!records[i].elsewhere && strcmp(records[i].variant, record->variant) == 0 &&
        says_more(&records[i], record))
      return true;
  return false;
}

/* Moves failed records behind the others, without changing their order. */
static int put_failed_last(struct cache_record *records, size_t count, cugen_error *err) {
  struct cache_record *failed = calloc(count + 1, sizeof *failed);
  size_t right = 0, wrong = 0;
  if (!failed) return error_memory(err);
  for (size_t i = 0; i < count; i++)
    if (records[i].outcome == CUGEN_OUTCOME_OK)
      records[right++] = records[i];
    else
      failed[wrong++] = records[i];
  memcpy(&records[right], failed, wrong * sizeof *failed);
  free(failed);
  return CUGEN_OK;
}

int failures_mark(struct lookup *l, struct cache_record *records, size_t *count, cugen_error *err) {
  struct failures *f = NULL;
  size_t kept = 0;
  if (!l->predicted || !*count) return CUGEN_OK;
  int status = failures_open(l, &f, err);
  if (status) {
    failures_close(f);
    return status;
  }
  for (size_t i = 0; i < *count && !status && f; i++)
    status = api_failures_mark(f, &records[i], err);
  failures_close(f);
  for (size_t i = 0; i < *count;
       i++) /* the records before i are kept or freed, those behind i are in their old places */
    if (is_told_twice(records, kept, &records[i]) ||
        is_told_twice(&records[i + 1], *count - i - 1, &records[i]))
      cache_record_free(&records[i]);
    else
      records[kept++] = records[i];
  *count = kept;
  return status ? status : put_failed_last(records, kept, err);
}
