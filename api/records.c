/* The records of a kernel: those that a look-up uses, and all that the cache holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/key.h"
#include "records.h"

/* ---- Records for the caller ----------------------------------------------------------------- */

static bool is_verified(const cugen_kernel *k, const struct cache_record *r) {
  if (!config_proves(k->lookup.config)) return false;
  if (r->outcome == CUGEN_OUTCOME_OK) return !k->lookup.predicted || r->verdict == CACHE_RIGHT;
  return r->outcome == CUGEN_OUTCOME_WRONG;
}

static const char *why_unverified(const cugen_kernel *k, const struct cache_record *r,
                                  bool verified) {
  if (verified || r->outcome != CUGEN_OUTCOME_OK) return "";
  if (!config_proves(k->lookup.config)) return "the config has reference \"none\"";
  return r->verdict == CACHE_NOT_VERIFIABLE ? r->unverified : "it is predicted and was not run";
}

void api_publish(cugen_kernel *k, const struct cache_record *r, cugen_record *out) {
  *out = (cugen_record){.variant = r->variant,
                        .reason = r->reason,
                        .outcome = r->outcome,
                        .samples = r->samples,
                        .seconds = r->seconds,
                        .seconds_min = r->seconds_min,
                        .seconds_p20 = r->seconds_p20,
                        .seconds_p80 = r->seconds_p80,
                        .compile_seconds = r->compile_seconds,
                        .measure_seconds = r->measure_seconds,
                        .cost = cache_record_cost(r, k->lookup.config->objective),
                        .flops = r->flops,
                        .bytes = r->bytes,
                        .requested = r->requested,
                        .error = r->error,
                        .registers = r->resources.registers,
                        .threads = r->threads,
                        .shared_bytes = r->resources.static_shared + r->dynamic_shared,
                        .dynamic_shared_bytes = r->dynamic_shared,
                        .constant_bytes = r->resources.constant_bytes,
                        .local_bytes = r->resources.local_bytes,
                        .spill_bytes = r->resources.spill_bytes,
                        .occupancy = r->occupancy,
                        .limiter = r->limiter,
                        .cluster_blocks = r->cluster_blocks,
                        .active_clusters = r->active_clusters,
                        .clock_mhz = r->clock_mhz,
                        .power_watts = r->power_watts,
                        .throttle = r->throttle};
  out->measured_at = r->measured_at;
  out->run_began = r->run_began;
  out->run_seconds = r->run_seconds;
  out->order = r->order;
  out->energy = r->energy;
  out->energy_resolution = r->energy_resolution;
  out->non_dominated = r->non_dominated;
  out->outputs = r->outputs;
  out->predicted = k->lookup.predicted;
  out->verified = is_verified(k, r);
  out->unverified = why_unverified(k, r, out->verified);
  out->verified_on =
      out->verified && r->outcome == CUGEN_OUTCOME_OK && k->lookup.predicted ? r->unverified : "";
  out->roofline = api_roofline(k, r->flops, r->bytes, r->seconds, &out->roofline_measured);
}

/* ---- The best ------------------------------------------------------------------------------- */

size_t api_best_of(const cugen_record *const *records, size_t count) {
  double least = INFINITY;
  size_t best = count;
  if (!records) return count;
  for (size_t i = 0; i < count; i++)
    if (records[i]->outcome == CUGEN_OUTCOME_OK) least = fmin(least, records[i]->cost);
  for (size_t i = 0; i < count; i++)
    if (records[i]->outcome == CUGEN_OUTCOME_OK &&
        (best == count
             ? records[i]->cost <= least * CUGEN_TIE
             : cache_leads(least, records[best]->order, records[i]->cost, records[i]->order)))
      best = i;
  return best;
}

/* ---- Current records ------------------------------------------------------------------------ */

/* Moves the correct records with the bits that the last tuning asked for to the front. Both groups
   stay ordered by cost. */
static int put_equal_first(cugen_kernel *k, size_t *count, cugen_error *err) {
  struct cache_record *all = k->records, *others = calloc(k->record_count + 1, sizeof *others);
  size_t equal = 0, other = 0, right = 0;
  if (!others) return error_memory(err);
  for (; right < k->record_count && all[right].outcome == CUGEN_OUTCOME_OK; right++)
    if (cache_record_gave(&all[right], &k->outputs))
      all[equal++] = all[right];
    else
      others[other++] = all[right];
  memcpy(&all[equal], others, other * sizeof *others);
  free(others);
  *count = equal;
  return CUGEN_OK;
}

/* Moves the best of the first `count` records, which are ordered by cost, to the front. */
static void settle_ties(cugen_kernel *k, size_t count) {
  const struct cache_record *all = k->records;
  const struct objective *objective = k->lookup.config->objective;
  size_t best = 0;
  for (size_t i = 1; i < count && all[i].outcome == CUGEN_OUTCOME_OK; i++)
    if (cache_leads(cache_record_cost(&all[0], objective), all[best].order,
                    cache_record_cost(&all[i], objective), all[i].order))
      best = i;
  if (best == 0) return;
  struct cache_record leader = k->records[best];
  memmove(&k->records[1], &k->records[0], best * sizeof leader);
  k->records[0] = leader;
}

int api_load_records(cugen_kernel *k, cugen_error *err) {
  struct lookup *l = &k->lookup;
  if (k->records_loaded) return CUGEN_OK;
  int status = lookup_prepare(l, err);
  if (status) return status;
  api_forget_records(k); /* the record of api_kernel_run, if it was called last */
  const struct cache_key key = lookup_key(l);
  status = lookup_records(l, &key, &k->records, &k->record_count, err);
  if (!status) status = api_drop_stale(l, k->records, &k->record_count, false, err);
  if (!status) status = failures_mark(l, k->records, &k->record_count, err);
  if (!status) status = cache_records_mark(k->records, k->record_count, err);
  size_t first = k->record_count;
  if (!status && k->outputs.known) status = put_equal_first(k, &first, err);
  if (status) {
    api_forget_records(k);
    return status;
  }
  settle_ties(k, first);
  k->records_loaded = true;
  return CUGEN_OK;
}

const struct cache_record *api_known_record(cugen_kernel *k, const struct cache_record *record) {
  cugen_error ignored;
  if (api_load_records(k, &ignored)) return NULL;
  for (size_t i = 0; i < k->record_count; i++)
    if (strcmp(k->records[i].variant, record->variant) == 0 &&
        strcmp(k->records[i].hash.hex, record->hash.hex) == 0)
      return &k->records[i];
  return NULL;
}

const cugen_record *api_records(cugen_kernel *k, size_t *count) {
  cugen_error ignored;
  *count = 0;
  if (api_load_records(k, &ignored)) return NULL;
  if (!k->published) {
    k->published = calloc(k->record_count + 1, sizeof *k->published);
    for (size_t i = 0; k->published && i < k->record_count; i++) {
      api_publish(k, &k->records[i], &k->published[i]);
      k->published[i].from_cache = k->tuned_at == 0 || k->records[i].measured_at < k->tuned_at;
    }
  }
  if (k->published) *count = k->record_count;
  return k->published;
}

/* ---- All records ---------------------------------------------------------------------------- */

struct stored {
  struct cache_record *records, *history; /* own the strings of `out` */
  size_t record_count, history_count;
  const struct cache_record **current; /* pointers to the current records, sorted by variant */
  size_t current_count;
  cugen_stored_record *out;
};

static void clear_stored(void *data) {
  struct stored *list = data;
  records_free(list->records, list->record_count);
  records_free(list->history, list->history_count);
  free(list->current);
  free(list->out);
}

static int records_by_variant(const void *a, const void *b) {
  return strcmp((*(const struct cache_record *const *)a)->variant,
                (*(const struct cache_record *const *)b)->variant);
}

/* Decides the state of a superseded record from the current record of its variant, which is faster
   than expanding the variant. Returns false if the record must be judged. */
static bool records_is_told(const cugen_kernel *k, const struct stored *list,
                            const struct cache_record *record, struct judgement *out) {
  const struct cache_record **found =
      list->current_count
          ? bsearch(&record, list->current, list->current_count, sizeof record, records_by_variant)
          : NULL;
  if (!found || record->lacks || (*found)->lacks) return false;
  if (record->outcome == CUGEN_OUTCOME_OK && (*found)->outcome == CUGEN_OUTCOME_OK &&
      (record->flops != (*found)->flops || record->bytes != (*found)->bytes))
    return false;
  out->order = (*found)->order;
  bool same = strcmp(record->hash.hex, (*found)->hash.hex) == 0;
  out->how = same ? JUDGED_CURRENT : JUDGED_CHANGED;
  return same || !k->lookup.predicted;
}

static int records_describe(cugen_kernel *k, const struct stored *list, struct cache_record *record,
                            bool superseded, cugen_stored_record *out, cugen_error *err) {
  struct judgement judgement = {.how = JUDGED_GONE, .order = UINT64_MAX};
  int status = superseded && records_is_told(k, list, record, &judgement)
                   ? CUGEN_OK
                   : api_judge(&k->lookup, record, &judgement, err);
  *out = (cugen_stored_record){.current = judgement.how == JUDGED_CURRENT,
                               .superseded = superseded,
                               .measured_at = record->measured_at,
                               .driver_version = record->driver_version,
                               .nvrtc_version = record->nvrtc_version};
  if (judgement.proof_changed) record->verdict = CACHE_NOT_RUN;
  record->order = judgement.order;
  api_publish(k, record, &out->record);
  out->record.from_cache = 1;
  return status;
}

/* Sorts the current records by variant. `out` must describe all of `records`. */
static bool sort_current(struct stored *list) {
  list->current = calloc(list->record_count + 1, sizeof *list->current);
  for (size_t i = 0; list->current && i < list->record_count; i++)
    if (list->out[i].current) list->current[list->current_count++] = &list->records[i];
  if (list->current && list->current_count)
    qsort(list->current, list->current_count, sizeof *list->current, records_by_variant);
  return list->current != NULL;
}

static int records_load(cugen_kernel *k, bool history, struct stored *list, cugen_error *err) {
  struct lookup *l = &k->lookup;
  const struct cache_key key = lookup_key(l);
  struct cache *cache;
  int status = lookup_prepare(l, err);
  if (!status) status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_load(cache, &key, &list->records, &list->record_count, err);
  if (!status) status = api_drop_stale(l, list->records, &list->record_count, true, err);
  if (!status) status = failures_mark(l, list->records, &list->record_count, err);
  if (!status) status = cache_records_mark(list->records, list->record_count, err);
  if (!status && history)
    status = cache_history(cache, &key, &list->history, &list->history_count, err);
  size_t count = list->record_count + list->history_count;
  if (!status) list->out = calloc(count + 1, sizeof *list->out);
  if (!status && !list->out) status = error_memory(err);
  for (size_t i = 0; !status && i < count; i++) {
    bool old = i >= list->record_count;
    if (i == list->record_count && !sort_current(list)) return error_memory(err);
    struct cache_record *record = old ? &list->history[i - list->record_count] : &list->records[i];
    status = records_describe(k, list, record, old, &list->out[i], err);
  }
  return status;
}

int api_kernel_stored(cugen_kernel *k, int history, const cugen_stored_record **out, size_t *count,
                      cugen_error *error) {
  *out = NULL, *count = 0;
  struct stored *list = kept_renew(&k->stored, sizeof *list, clear_stored, error);
  if (!list) return CUGEN_ERROR_MEMORY;
  int status = records_load(k, history != 0, list, error);
  if (status) return status;
  *out = list->out;
  *count = list->record_count + list->history_count;
  return CUGEN_OK;
}

/* ---- The user's own function ---------------------------------------------------------------- */

/* A comparison has two records of one run: of the user's function, whose text begins with the path
   of its library, and of the best variant. Finds the last record of a function, or of a variant;
   run 0: of any run. */
static const struct cache_record *last_compared(const struct cache_record *records, size_t count,
                                                bool function, int64_t run) {
  const struct cache_record *last = NULL;
  for (size_t i = 0; i < count; i++)
    if ((records[i].variant[0] == '/') == function && (!run || records[i].run_began == run) &&
        (!last || records[i].run_began > last->run_began))
      last = &records[i];
  return last;
}

int api_kernel_baseline(cugen_kernel *k, cugen_baseline_result *out, cugen_error *error) {
  const struct objective *objective = k->lookup.config->objective;
  struct cache_key key = lookup_measured_key(&k->lookup);
  struct cache_record *records = NULL;
  struct text options = {0};
  struct cache *cache;
  size_t count = 0;
  *out = (cugen_baseline_result){.function = NULL};
  record_options_baseline(key.options, &options);
  key.options = text_get(&options);
  int status = api_cache_to_read(k->lookup.lib, &cache, error);
  if (!status && !k->lookup.predicted) status = cache_load(cache, &key, &records, &count, error);
  const struct cache_record *own = last_compared(records, count, true, 0);
  const struct cache_record *best =
      own ? last_compared(records, count, false, own->run_began) : NULL;
  if (best) {
    text_restart(&k->baseline);
    text_add(&k->baseline, own->variant);
    *out = (cugen_baseline_result){.function = text_get(&k->baseline),
                                   .seconds = own->seconds,
                                   .best_seconds = best->seconds,
                                   .ratio = cache_record_cost(own, objective) /
                                            cache_record_cost(best, objective)};
  }
  records_free(records, count);
  text_free(&options);
  return status;
}
