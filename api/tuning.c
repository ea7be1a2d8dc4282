/* Tuning, running, and what is remembered. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "tune/candidate.h"
#include "tune/search/strategy.h"
#include "tune/trial.h"

/* A size that no variant can have, such as 0 or 2^63 - 1, is the problem's fault and no variant's. Where tunables shape
   arguments each variant answers for itself, unless the first and the last fail both. */
static int check_shapes(cugen_kernel *k, cugen_error *err) {
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  cugen_error ignored;
  uint64_t valid = space_valid(k->space);
  int status = valid ? api_arguments(k, 0, arguments, err) : CUGEN_OK;
  if (!status || !k->config->shared_tunable_count) return status;
  return api_arguments(k, valid - 1, arguments, &ignored) ? status : CUGEN_OK;
}

static int make_target(cugen_kernel *k, struct tune_target *out, cugen_error *err) {
  struct cache *cache;
  int status = CUGEN_OK;
  if (!k->device.facts.is_gpu) status = cugen_kernel_use_check(k, err);
  if (!status) status = api_space(k, err);
  if (!status) status = check_shapes(k, err);
  if (!status) status = api_cache(k->lib, &cache, err);
  if (status) return status;
  *out = (struct tune_target){.config = k->config,
                              .problem = &k->problem,
                              .space = k->space,
                              .filter = api_filter(k),
                              .sources = &k->sources,
                              .ops = k->ops,
                              .device = &k->device,
                              .arch = k->arch,
                              .toolkit = k->lib->toolkit,
                              .toolkit_options = k->lib->toolkit_options,
                              .compilers = k->lib->compilers,
                              .worker = k->lib->worker,
                              .worker_places = text_get(&k->lib->worker_places),
                              .cache = cache,
                              .key = api_key(k),
                              .nvrtc_version = k->nvrtc_version,
                              .problem_is_check = k->on_check && k->setting_count == 0,
                              .predicted = k->predicted};
  return CUGEN_OK;
}

/* ---- Records ---- */

void api_forget_records(cugen_kernel *k) {
  for (size_t i = 0; i < k->record_count; i++) cache_record_free(&k->records[i]);
  free(k->records);
  k->records = NULL;
  k->record_count = 0;
  k->records_loaded = false;
  k->ceilings = (cugen_ceilings){0};
}

struct cache_key api_key(const cugen_kernel *k) {
  return (struct cache_key){k->predicted ? text_get(&k->predicted_device) : k->device.fingerprint,
                            k->config->name,
                            text_get(&k->problem_text),
                            text_get(k->predicted ? &k->predicted_options : &k->key_options),
                            text_get(&k->origin),
                            k->config->objective,
                            text_get(&k->problem_settings)};
}

void cugen_kernel_key(const cugen_kernel *k, const char **device, const char **options) {
  const struct cache_key key = k ? api_key(k) : (struct cache_key){"", "", "", "", "", OBJECTIVE_TIME, NULL};
  if (device) *device = key.device;
  if (options) *options = key.options;
}

/* A record counts only while its variant still expands to the kernel that was measured: a changed template makes it
   stale. */
int api_judge(cugen_kernel *k, const struct cache_record *record, struct judgement *out, cugen_error *err) {
  uint64_t index;
  struct variant variant;
  struct kernel_spec spec;
  *out = (struct judgement){.how = JUDGED_GONE};
  int status = space_find(k->space, record->variant, &index, &out->why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  space_variant(k->space, index, &variant, k->values);
  status = expand_variant(k->expander, k->config, &k->problem, &k->device.facts, &variant, &spec, &out->why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  /* A launch that the config describes but no device accepts has no source; its record stands while the reason does. */
  struct hash refusal = {""};
  bool refused = expand_refuses(status) && record->outcome == CUGEN_OUTCOME_LAUNCH;
  if (refused) refusal = candidate_refusal(record->variant, out->why.message);
  out->how = refused && strcmp(refusal.hex, record->hash.hex) == 0 ? JUDGED_CURRENT : JUDGED_BROKEN;
  if (status) return CUGEN_OK;
  cache_record_take_hashes(&out->now, &spec);
  out->now.flops = spec.flops, out->now.bytes = spec.bytes;
  out->how = cache_record_is_of(record, &spec, k->predicted) ? JUDGED_CURRENT : JUDGED_CHANGED;
  out->proof_changed = !cache_record_is_same(record, &spec);
  out->proof = kernel_spec_proof_without(&spec, record->lacks);
  out->whole = out->proof_changed ? spec.hash : record->hash;
  kernel_spec_free(&spec);
  return CUGEN_OK;
}

/* A verdict is about what its result was held against. */
static int check_current(cugen_kernel *k, struct cache_record *record, bool *current, cugen_error *err) {
  struct judgement judgement;
  int status = api_judge(k, record, &judgement, err);
  *current = !status && judgement.how == JUDGED_CURRENT;
  if (*current && judgement.proof_changed) record->verdict = CACHE_NOT_RUN;
  return status;
}

/* only_others: own ones stay whatever they are. */
static int drop_stale(cugen_kernel *k, struct cache_record *records, size_t *count, bool only_others,
                      cugen_error *err) {
  size_t kept = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < *count; i++) {
    bool current = only_others && !records[i].elsewhere;
    if (!status && !current) status = check_current(k, &records[i], &current, err);
    if (current)
      records[kept++] = records[i];
    else
      cache_record_free(&records[i]);
  }
  *count = kept;
  return status;
}

int api_drop_others(cugen_kernel *k, struct cache_record *records, size_t *count, cugen_error *err) {
  return drop_stale(k, records, count, true, err);
}

static double cost_of(const cugen_kernel *k, const struct cache_record *record) {
  return cache_record_cost(record, k->config->objective);
}

static void settle_ties(cugen_kernel *k) {
  size_t best = 0;
  uint64_t best_index = UINT64_MAX;
  for (size_t i = 0; i < k->record_count && k->records[i].outcome == CUGEN_OUTCOME_OK; i++) {
    uint64_t index;
    cugen_error ignored;
    if (cost_of(k, &k->records[i]) > cost_of(k, &k->records[0]) * CACHE_TIE) break;
    if (space_find(k->space, k->records[i].variant, &index, &ignored) == CUGEN_OK && index < best_index)
      best = i, best_index = index;
  }
  if (best == 0) return;
  struct cache_record leader = k->records[best];
  memmove(&k->records[1], &k->records[0], best * sizeof leader);
  k->records[0] = leader;
}

int api_records(cugen_kernel *k, cugen_error *err) {
  if (k->records_loaded) return CUGEN_OK;
  struct cache *cache;
  int status = api_space(k, err);
  if (!status) status = api_expander(k, err);
  if (!status) status = api_cache_to_read(k->lib, &cache, err);
  if (status) return status;
  const struct cache_key key = api_key(k);
  status = cache_load(cache, &key, &k->records, &k->record_count, err);
  if (!status) status = drop_stale(k, k->records, &k->record_count, false, err);
  if (status) {
    api_forget_records(k);
    return status;
  }
  settle_ties(k);
  k->records_loaded = true;
  return CUGEN_OK;
}

struct search {
  cugen_kernel *kernel;
  const struct space *space;
  struct cache_record *best;
  uint64_t *index;
  bool found;
  double limit; /* what costs more cannot win */
};

/* Records come by cost, and only those that can still win are expanded. */
static int consider(void *context, struct cache_record *record, bool *stop, cugen_error *err) {
  struct search *search = context;
  uint64_t at;
  bool current;
  cugen_error ignored;
  double cost = cost_of(search->kernel, record);
  *stop = cost > search->limit;
  if (*stop) return CUGEN_OK;
  int status = space_find(search->space, record->variant, &at, &ignored);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  if (status || (search->found && at > *search->index)) return CUGEN_OK;
  status = check_current(search->kernel, record, &current, err);
  if (status || !current) return status;
  if (!search->found) search->limit = cost * CACHE_TIE;
  cache_record_free(search->best);
  *search->best = *record;
  record->variant = record->reason = NULL;
  *search->index = at;
  search->found = true;
  return CUGEN_OK;
}

int api_best(cugen_kernel *k, const struct space *space, struct cache_record *record, uint64_t *index, bool *found,
             cugen_error *err) {
  struct cache *cache;
  struct search search = {.kernel = k, .space = space, .best = record, .index = index, .limit = INFINITY};
  *found = false;
  *record = (struct cache_record){0};
  int status = api_space(k, err);
  if (!status) status = api_expander(k, err);
  if (!status) status = api_cache_to_read(k->lib, &cache, err);
  if (status) return status;
  const struct cache_key key = api_key(k);
  status = cache_fastest(cache, &key, consider, &search, err);
  if (status) {
    cache_record_free(record);
    return status;
  }
  *found = search.found;
  return CUGEN_OK;
}

size_t cugen_kernel_records(cugen_kernel *k) {
  cugen_error ignored;
  return !k || api_records(k, &ignored) ? 0 : k->record_count;
}

static bool is_verified(const cugen_kernel *k, const struct cache_record *r) {
  if (!config_proves(k->config)) return false;
  if (r->outcome == CUGEN_OUTCOME_OK) return !k->predicted || r->verdict == CACHE_RIGHT;
  return r->outcome == CUGEN_OUTCOME_WRONG;
}

static const char *why_unverified(const cugen_kernel *k, const struct cache_record *r, bool verified) {
  if (verified || r->outcome != CUGEN_OUTCOME_OK) return "";
  if (!config_proves(k->config)) return "the config has reference \"none\"";
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
                        .cost = cache_record_cost(r, k->config->objective),
                        .flops = r->flops,
                        .bytes = r->bytes,
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
  out->predicted = k->predicted;
  out->verified = is_verified(k, r);
  out->unverified = why_unverified(k, r, out->verified);
  out->roofline = api_roofline(k, r->flops, r->bytes, r->seconds, &out->roofline_measured);
}

int cugen_kernel_record(cugen_kernel *k, size_t index, cugen_record *out, cugen_error *error) {
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  int status = api_records(k, error);
  if (status) return status;
  if (index >= k->record_count)
    return error_set(error, CUGEN_ERROR_USAGE, "record %zu: there are %zu", index, k->record_count);
  api_publish(k, &k->records[index], out);
  out->from_cache = k->tuned_at == 0 || k->records[index].measured_at < k->tuned_at;
  return CUGEN_OK;
}

/* ---- Tuning and running ---- */

int api_context(const cugen_kernel *k, void *given, void **out, cugen_error *err) {
  *out = given;
  if (!k->ops->current_context && given)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "a context was given, and this kernel is for the %s device, which has none", k->ops->kind);
  return given || !k->ops->current_context ? CUGEN_OK : k->ops->current_context(k->lib->toolkit, out, err);
}

enum { most_threads = 4096 };

static int check_options(const cugen_tune_options *options, cugen_error *err) {
  if (API_SIZE(err, cugen_tune_options, CUGEN_TUNE_OPTIONS_INIT, options)) return CUGEN_ERROR_USAGE;
  if (options->flags & ~(unsigned)CUGEN_TUNE_IN_PROCESS)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.flags: 0x%x is no flag",
                     options->flags & ~(unsigned)CUGEN_TUNE_IN_PROCESS);
  if (options->cuda_context && !options->flags)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.cuda_context goes with CUGEN_TUNE_IN_PROCESS");
  if (!(options->compile_timeout >= 0) || !(options->compile_timeout <= 1e6))
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.compile_timeout is %g, should be 0 to 1e6",
                     options->compile_timeout);
  if (isnan(options->budget_seconds) || !(options->variant_timeout >= 0) || !(options->variant_timeout <= 1e6))
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "cugen_tune_options: budget_seconds is %g, should be a number; variant_timeout is %g, should be 0 "
        "to 1e6",
        options->budget_seconds, options->variant_timeout);
  if (options->threads < 0 || options->threads > most_threads)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.threads is %d, should be 0 to %d", options->threads,
                     most_threads);
  return CUGEN_OK;
}

/* By the one that is fastest now; none: not one of those that were predicted is right. */
static int conclude(cugen_kernel *k, cugen_tune_result *result, cugen_error *err) {
  struct cache_record best;
  uint64_t index;
  bool found;
  int status = api_best(k, k->space, &best, &index, &found, err);
  if (status) return status;
  if (!found)
    return result->refuted ? error_set(err, CUGEN_ERROR_WRONG, "not one of %zu predicted variants came out right",
                                       result->refuted)
                           : CUGEN_OK;
  if (best.verdict == CACHE_NOT_VERIFIABLE) {
    text_restart(&k->unverified);
    text_add(&k->unverified, best.unverified);
  }
  if (best.verdict != CACHE_RIGHT) result->unverified = text_get(&k->unverified);
  cache_record_free(&best);
  return k->unverified.failed ? error_memory(err) : CUGEN_OK;
}

static int tune(cugen_kernel *k, const cugen_tune_options *options, cugen_tune_result *result, cugen_error *err) {
  struct tune_target target;
  if (k->lib->arch && !k->device.facts.is_gpu) /* its records would be of a device that there is not */
    return error_set(err, CUGEN_ERROR_USAGE, "the cpu device has no architecture: tune there without arch '%s'",
                     k->lib->arch);
  int status = k->described ? cugen_kernel_use_predictions(k, err) : CUGEN_OK;
  if (!status) status = make_target(k, &target, err);
  if (!status) status = api_near_leaders(k, target.cache, target.leaders, TUNE_LEADERS, &target.leader_count, err);
  target.in_process = options->flags & CUGEN_TUNE_IN_PROCESS;
  if (!status && target.in_process) status = api_context(k, options->cuda_context, &target.cuda_context, err);
  if (!status) status = tune_run(&target, options, result, err);
  if (!status && k->predicted) status = api_verify_predictions(k, options, result, err);
  return status || !k->predicted ? status : conclude(k, result, err);
}

const char *cugen_strategy(size_t index, const char **what) {
  const struct strategy_ops *ops = strategy_at(index);
  if (what) *what = ops ? ops->what : NULL;
  return ops ? ops->name : NULL;
}

int cugen_kernel_tune(cugen_kernel *k, const cugen_tune_options *options, cugen_tune_result *result,
                      cugen_error *error) {
  static const cugen_tune_options defaults = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result ignored;
  if (!options) options = &defaults;
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  int status = check_options(options, error);
  if (status) return status;
  int64_t begin = clock_unix();
  if (!result) result = &ignored;
  *result = (cugen_tune_result){0};
  status = tune(k, options, result, error);
  k->tuned_at = result->tried ? begin : 0;
  api_forget_records(k);
  return status;
}

static int run_once(const struct tune_target *target, uint64_t index, double timeout, struct cache_record *out,
                    struct text *printed, cugen_error *err) {
  const struct measure_options measure = {.seconds = 0.5, .samples = target->device->facts.is_gpu ? 21 : 5};
  const struct trial_options options = {.seed = 1};
  struct trial *trial;
  int status = trial_open(target, &options, &trial, err);
  if (status) return status;
  status = trial_run(trial, index, timeout, &measure, out, err);
  text_restart(printed);
  trial_printed(trial, status || out->outcome != CUGEN_OUTCOME_OK, printed);
  trial_close(trial);
  return status;
}

const char *cugen_kernel_printed(const cugen_kernel *k) {
  return k ? text_get(&k->printed) : "";
}

int cugen_kernel_run(cugen_kernel *k, const char *variant, double timeout, cugen_record *out, cugen_error *error) {
  struct tune_target target;
  struct cache_record record;
  uint64_t index = 0;
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  int status = api_check_present(k, error);
  if (!status) status = make_target(k, &target, error);
  if (!status) status = api_find_variant(k, variant, &index, error);
  if (!status) status = run_once(&target, index, timeout, &record, &k->printed, error);
  if (status) return status;
  /* The strings handed out live with the kernel: the record becomes its only one in hand. */
  api_forget_records(k);
  k->records = malloc(sizeof *k->records);
  if (!k->records) {
    cache_record_free(&record);
    return error_memory(error);
  }
  k->records[0] = record;
  k->record_count = 1;
  api_publish(k, &k->records[0], out);
  return CUGEN_OK;
}
