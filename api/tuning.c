/* Tuning a kernel, and running one variant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "bitwise.h"
#include "emulator/check/left_out.h"
#include "kernel.h"
#include "priors.h"
#include "records.h"
#include "runtime/compile/toolkit.h"
#include "tune/portfolio/learn.h"
#include "tune/search/strategy.h"
#include "tune/trial.h"
#include "tune/worker/energy.h"
#include "tuning.h"

int api_prepare_tuning(cugen_kernel *k, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  cugen_error ignored;
  int status = CUGEN_OK;
  if (!l->device.facts.is_gpu)
    status = api_kernel_use_check(k, err);
  else /* otherwise each variant would be recorded as one that does not compile */
    status = api_check_target(l->lib, &l->device, err);
  if (!status) status = lookup_space(l, err);
  if (status) return status;

  /* The problem, and not a variant, is blamed for a size that no variant can have, such as 0 or
     2^63 - 1. If tunables influence arguments, the problem is blamed only if both the first and the
     last variant fail. */
  const uint64_t valid = space_valid(l->space);
  status = valid ? api_arguments(k, 0, arguments, err) : CUGEN_OK;
  if (!status || !l->config->shared_tunable_count) return status;
  return api_arguments(k, valid - 1, arguments, &ignored) ? status : CUGEN_OK;
}

static int tuning_make_target(cugen_kernel *k, struct tune_target *out, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct cache *cache, *images;
  int status = api_prepare_tuning(k, err);
  if (!status) status = api_cache(l->lib, &cache, err);
  if (!status) status = api_images(l->lib, &images, err);
  if (status) return status;
  *out = lookup_target(l);
  out->filter = l->filter;
  out->compilers = l->lib->compilers;
  out->looked = &l->lib->looked;
  out->cache = cache;
  out->with_ptx = l->lib->with_ptx;
  out->images = images;
  out->key = lookup_key(l);
  out->nvrtc_version = l->nvrtc_version;
  out->problem_is_check = k->on_check && k->setting_count == 0;
  out->measure = l->measure;
  out->predicted = l->predicted;
  return CUGEN_OK;
}

/* ---- Tuning and running --------------------------------------------------------------------- */

enum { most_threads = 4096 };

int api_check_tune_options(const cugen_tune_options *options, cugen_error *err) {
  if (API_SIZE(err, cugen_tune_options, CUGEN_TUNE_OPTIONS_INIT, options)) return CUGEN_ERROR_USAGE;
  if (options->flags & ~(unsigned)CUGEN_TUNE_IN_PROCESS)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.flags: 0x%x is no flag",
                     options->flags & ~(unsigned)CUGEN_TUNE_IN_PROCESS);
  if (options->cuda_context && !options->flags)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_tune_options.cuda_context goes with CUGEN_TUNE_IN_PROCESS");
  if (!(options->compile_timeout >= 0) || !(options->compile_timeout <= 1e6))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_tune_options.compile_timeout is %g, should be 0 to 1e6",
                     options->compile_timeout);
  if (isnan(options->budget_seconds))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_tune_options.budget_seconds is %g, should be a number",
                     options->budget_seconds);
  if (!(options->variant_timeout >= 0) || !(options->variant_timeout <= 1e6))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_tune_options.variant_timeout is %g, should be 0 to 1e6",
                     options->variant_timeout);
  if (options->portfolio > PORTFOLIO_MOST)
    return error_set(err, CUGEN_ERROR_USAGE, "a portfolio of %zu variants: 1 to %d are possible",
                     options->portfolio, PORTFOLIO_MOST);
  if (options->bitwise && options->portfolio)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "cugen_tune_options.bitwise and cugen_tune_options.portfolio: a portfolio's variants are "
        "measured for all sizes, whatever bits they give; ask for one of them");
  if (options->baseline && options->portfolio)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "cugen_tune_options.baseline and cugen_tune_options.portfolio: a portfolio is not compared "
        "with a function; tune with the baseline first, then learn the portfolio");
  if (options->threads < 0 || options->threads > most_threads)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.threads is %d, should be 0 to %d",
                     options->threads, most_threads);
  return CUGEN_OK;
}

/* Notes what the sizes at which predictions are verified cannot show. */
static int tell_unchecked(cugen_kernel *k, cugen_tune_result *result, cugen_error *err) {
  const struct lookup *l = &k->lookup;
  struct text why = {0};
  int status = check_left_wide(l->config, l->problem, &l->device.facts, &why, err);
  text_restart(&k->unchecked);
  if (!status && why.length) {
    text_addf(&k->unchecked, "%s: %s", check_left_wide_name, text_get(&why));
    if (k->unchecked.failed) status = error_memory(err);
    result->unchecked = text_get(&k->unchecked);
  }
  text_free(&why);
  return status;
}

/* Reports how the fastest prediction was verified; fails if every predicted variant was wrong. */
static int tuning_conclude(cugen_kernel *k, cugen_tune_result *result, cugen_error *err) {
  struct best_record best;
  int status = api_best(&k->lookup, &best, err);
  if (status) return status;
  if (!best.found)
    return result->refuted
               ? error_set(err, CUGEN_ERROR_WRONG,
                           "not one of %zu predicted variants came out right", result->refuted)
               : CUGEN_OK;
  if (best.record.verdict == CACHE_NOT_VERIFIABLE) {
    text_restart(&k->unverified);
    text_add(&k->unverified, best.record.unverified);
  }
  if (best.record.verdict == CACHE_RIGHT)
    status = tell_unchecked(k, result, err);
  else
    result->unverified = text_get(&k->unverified);
  api_best_free(&best);
  return !status && k->unverified.failed ? error_memory(err) : status;
}

/* Checks that the device can measure the energy that the objective needs. */
static int check_energy(const struct lookup *l, cugen_error *err) {
  const struct objective *objective = l->config->objective;
  cugen_error why = {0};
  int status = CUGEN_OK;
  if (!objective_needs_energy(objective)) return CUGEN_OK;
  if (l->described)
    status = error_set(&why, CUGEN_ERROR_DEVICE, "it is described and not here");
  else if (!l->ops->energy_check)
    status = error_set(&why, CUGEN_ERROR_DEVICE, "it has no energy counter");
  else
    status = l->ops->energy_check(l->lib->toolkit, &l->device, &why);
  if (!status) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "objective \"%s\" needs energy, which cannot be measured on %s: %s. "
                   "cugen_options.objective \"time\" ranks by time",
                   objective->text, l->ops->energy_check ? l->device.name : "the cpu device",
                   why.message);
}

int api_tune_device(cugen_kernel *k, cugen_error *err) {
  const struct lookup *l = &k->lookup;
  if (l->lib->arch && !l->device.facts.is_gpu) /* otherwise records would be of a device that does
                                                  not exist */
    return error_set(err, CUGEN_ERROR_USAGE,
                     "the cpu device has no architecture: tune there without arch '%s'",
                     l->lib->arch);
  int status = check_energy(l, err);
  if (!status && l->described) status = api_kernel_use_predictions(k, err);
  if (status) return status;
  if (!l->predicted) return measure_check(l->ops, l->lib->toolkit, l->measure, err);
  /* For predictions a way of measuring in the config is ignored, but an option is an error. */
  if (l->lib->measure == MEASURE_WAYS) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "times for %s are predicted, not measured: leave out cugen_options.measure %s",
                   l->device.name, measure_way_names[l->lib->measure]);
}

static int refuse_baseline(int status, const char *given, const char *why, cugen_error *err) {
  return error_set(err, status, "cugen_tune_options.baseline '%s': %s", given, why);
}

/* Splits "./libmine.so:function" and finds the file, whose path the caller frees. */
static int take_baseline(cugen_kernel *k, const char *given, bool several,
                         struct tune_baseline *out, char **path, cugen_error *err) {
  const char *colon = given ? strrchr(given, ':') : NULL;
  if (!given) return CUGEN_OK;
  if (k->lookup.predicted)
    return refuse_baseline(CUGEN_ERROR_USAGE, given,
                           "times are predicted here, so there is nothing to compare it with; it "
                           "runs on a GPU of this machine, and with cugen_options.device cpu",
                           err);
  if (!colon || colon == given || !colon[1] || strpbrk(colon, " /"))
    return refuse_baseline(CUGEN_ERROR_USAGE, given,
                           "a shared library and a function in it are expected, "
                           "./libmine.so:function",
                           err);
  char *name = strndup(given, (size_t)(colon - given));
  *path = name ? realpath(name, NULL) : NULL;
  free(name);
  if (!name) return error_memory(err);
  if (!*path) return refuse_baseline(CUGEN_ERROR_MISSING, given, "there is no such file", err);
  if (cache_text_wrong(*path, ""))
    return refuse_baseline(CUGEN_ERROR_USAGE, given,
                           "its path is not UTF-8 without control characters: rename it", err);
  text_restart(&k->baseline);
  *out = (struct tune_baseline){several, *path, colon + 1, &k->baseline};
  return CUGEN_OK;
}

/* The variants to try: a list, or a search with its leaders. */
struct beginning {
  const struct api_part *part;
  uint64_t *indices; /* indices of the part's variants, if it lists some */
  struct priors priors;
};

static int tuning_list_variants(struct lookup *l, struct beginning *b, struct tune_target *target,
                                cugen_error *err) {
  b->indices = calloc(b->part->count + 1, sizeof *b->indices);
  if (!b->indices) return error_memory(err);
  for (size_t i = 0; i < b->part->count; i++)
    target->listed_count +=
        space_look_up(l->space, b->part->variants[i], &b->indices[target->listed_count]);
  target->listed = b->indices;
  return CUGEN_OK;
}

static int tuning_find_failure(void *context, const char *variant, const struct cache_record **out,
                               cugen_error *err) {
  return failures_find(context, variant, out, err);
}

/* Reserves a quarter of a given budget for verifying predictions, and loads the failures. */
static int expect_verification(struct lookup *l, const cugen_tune_options *options,
                               struct tune_target *target, struct failures **failures,
                               cugen_error *err) {
  const bool verifies =
      options->verify_seconds >= 0 && config_proves(l->config) && !target->in_process;
  if (verifies && options->budget_seconds > 0) target->kept = 0.25 * options->budget_seconds;
  int status = lookup_expander(l, err);
  if (!status) status = failures_open(l, failures, err);
  target->find_failure = tuning_find_failure;
  target->failures = *failures;
  return status;
}

static int tuning_run(cugen_kernel *k, const cugen_tune_options *options,
                      struct beginning *beginning, cugen_tune_result *result, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct tune_target target;
  cugen_tune_options own = *options;
  struct failures *failures = NULL;
  struct tune_baseline baseline = {.path = NULL};
  char *path = NULL;
  const bool listed = beginning->part && beginning->part->variants;
  int status = api_tune_device(k, err);
  if (!status) status = tuning_make_target(k, &target, err);
  if (!status) target.priors = listed ? NULL : &beginning->priors.kept;
  if (!status)
    status = listed ? tuning_list_variants(l, beginning, &target, err)
                    : priors_gather(l, target.cache, &beginning->priors, err);
  /* no listed variant is valid for this problem */
  if (!status && listed && !target.listed_count) return CUGEN_OK;
  if (!status && listed && (!own.budget_count || own.budget_count > target.listed_count))
    own.budget_count = target.listed_count;
  if (listed) own.strategy = NULL;
  options = &own;
  target.devices = k->device_ids;
  target.device_count = k->devices.count;
  target.lost = &k->lost;
  target.unsupported = &k->not_run;
  target.in_process = options->flags & CUGEN_TUNE_IN_PROCESS;
  if (!status && target.in_process && target.device_count > 1)
    status = error_set(
        err, CUGEN_ERROR_USAGE,
        "CUGEN_TUNE_IN_PROCESS is for one device, and %zu are listed: name one, or leave it out",
        target.device_count);
  if (!status && target.in_process)
    status = lookup_context(l, options->cuda_context, &target.cuda_context, err);
  if (!status && l->predicted) status = expect_verification(l, options, &target, &failures, err);
  if (!status && options->bitwise) status = bitwise_begin(k, options, &target, err);
  if (!status && !listed)
    status = take_baseline(k, options->baseline, beginning->part, &baseline, &path, err);
  if (path) target.baseline = &baseline;
  if (!status) status = tune_run(&target, options, result, err);
  free(path);
  failures_close(failures);
  if (!status && l->predicted) status = api_verify_predictions(k, options, result, err);
  if (status == CUGEN_ERROR_INTERRUPTED && l->predicted) result->unverified = "it was interrupted";
  return status || !l->predicted ? status : tuning_conclude(k, result, err);
}

const char *api_strategy(size_t index, const char **what) {
  const struct strategy_ops *ops = strategy_at(index);
  if (what) *what = ops ? ops->what : NULL;
  return ops ? ops->name : NULL;
}

int api_tune(cugen_kernel *k, const cugen_tune_options *options, const struct api_part *part,
             cugen_tune_result *result, cugen_error *err) {
  int64_t begin = clock_unix();
  const bool on_check = k->on_check;
  *result = (cugen_tune_result){0};
  text_restart(&k->lost);
  text_restart(&k->not_run);
  text_restart(&k->equal_to);
  k->outputs = (cugen_outputs){0};
  text_restart(&k->began);
  struct beginning beginning = {.part = part};
  int status = tuning_run(k, options, &beginning, result, err);
  priors_print(&beginning.priors, &k->began);
  priors_free(&beginning.priors);
  free(beginning.indices);
  if (k->outputs.known) result->equal_to = text_get(&k->equal_to), result->outputs = k->outputs;
  if (k->lost.length && !k->lost.failed) result->lost = text_get(&k->lost);
  if (k->not_run.length && !k->not_run.failed) result->not_run = text_get(&k->not_run);
  if (k->began.length && !k->began.failed) result->began = text_get(&k->began);
  k->tuned_at = result->tried ? begin : 0;
  k->tunings++;
  api_forget_records(k);
  return api_restore_problem(k, on_check, status, err);
}

int api_kernel_tune(cugen_kernel *k, const cugen_tune_options *options, cugen_tune_result *result,
                    cugen_error *error) {
  static const cugen_tune_options defaults = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result ignored;
  if (!options) options = &defaults;
  int status = api_check_tune_options(options, error);
  return status ? status : api_tune(k, options, NULL, result ? result : &ignored, error);
}

void api_kernel_watch_run(cugen_kernel *k, cugen_progress_callback progress, void *context) {
  if (!k) return;
  k->watch = progress;
  k->watch_context = context;
}

static int tuning_run_once(cugen_kernel *k, const struct tune_target *target, uint64_t index,
                           double timeout, struct cache_record *out, cugen_error *err) {
  const bool energy = objective_needs_energy(target->config->objective);
  const struct measure_options measure = {.seconds = 0.5,
                                          .samples = target->device->facts.is_gpu ? 21 : 5,
                                          .way = target->measure,
                                          .load = measure_load_limit(timeout),
                                          .energy = energy ? energy_window : 0};
  struct trial_watch run = {.progress = {.planned = 1,
                                         .valid = 1,
                                         .remaining = -1,
                                         .problem = text_get(&k->lookup.problem_text),
                                         .problems = 1},
                            .callback = k->watch,
                            .context = k->watch_context,
                            .begin = clock_seconds()};
  const struct trial_options options = {.seed = 1, .interrupted = trial_poll, .context = &run};
  int status = measure_check(target->ops, target->toolkit, target->measure, err);
  if (!status) status = trial_open(target, &options, &run.trial, err);
  if (status) return status;
  status = trial_run(run.trial, index, timeout, &measure, out, err);
  text_restart(&k->printed);
  trial_printed(run.trial, status || out->outcome != CUGEN_OUTCOME_OK, &k->printed);
  trial_close(run.trial);
  return status;
}

const char *api_kernel_printed(const cugen_kernel *k) {
  return k ? text_get(&k->printed) : "";
}

int api_kernel_run(cugen_kernel *k, const char *variant, double timeout, cugen_record *out,
                   cugen_error *error) {
  const bool on_check = k->on_check;
  struct tune_target target;
  uint64_t index = 0;
  struct cache_record *record = calloc(1, sizeof *record);
  if (!record) return error_memory(error);
  int status = lookup_check_present(&k->lookup, error);
  if (!status) status = tuning_make_target(k, &target, error);
  if (!status) status = api_find_variant(k, variant, &index, error);
  if (!status) status = tuning_run_once(k, &target, index, timeout, record, error);
  if (!status) {
    record->order = index;
    /* The requested memory is counted in the PTX, which a cached image lacks, so an earlier record
       tells it. */
    const struct cache_record *known = record->requested > 0 ? NULL : api_known_record(k, record);
    if (known) record->requested = known->requested;
    /* before the problem is restored, because the ceilings depend on its types */
    api_publish(k, record, out);
  }
  status = api_restore_problem(k, on_check, status, error);
  if (status) {
    cache_record_free(record);
    free(record);
    return status;
  }
  /* The kernel keeps the record, because the strings in *out must outlive this function. */
  api_forget_records(k);
  k->records = record;
  k->record_count = 1;
  return CUGEN_OK;
}
