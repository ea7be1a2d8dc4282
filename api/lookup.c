/* Look-ups: a config for one problem on one device, with the space, the sources, and the key of the
   records. */
#include "lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gen/config/evaluate.h"
#include "runtime/devices.h"
#include "runtime/plan.h"
#include "tune/target.h"

/* ---- The config ----------------------------------------------------------------------------- */

/* The origin of a config file is its real path. The origin of a config in memory or a shipped
   config is "memory:" or "shipped:" and the name. */
int api_origin(const struct sources *sources, const struct config *config, struct text *out,
               cugen_error *err) {
  const bool memory = sources_holds(sources->files, config->path);
  char *real = memory || config->shipped ? NULL : realpath(config->path, NULL);
  if (!real) text_add(out, memory ? "memory:" : "shipped:");
  text_add(out, real ? real : config->path);
  free(real);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

int opened_config_open(const cugen *lib, const char *name, struct opened_config *out,
                       cugen_error *err) {
  *out = (struct opened_config){.sources = lib->sources};
  int status = config_open(&out->sources, name, &out->config, err);
  /* The library's options objective and prefer take precedence over the config's. */
  if (!status && lib->objective) {
    if (config_set_objective(out->config, lib->objective, err))
      return error_prefix(err, "%s, cugen_options.objective", out->config->path), CUGEN_ERROR_USAGE;
    out->config->objective_line = (struct config_line){"cugen_options.objective", 1};
  }
  if (!status && lib->prefer) status = config_prefer(out->config, lib->preference, err);
  return status ? status : api_origin(&out->sources, out->config, &out->origin, err);
}

void opened_config_close(struct opened_config *opened) {
  expander_close(opened->expander);
  config_close(opened->config);
  text_free(&opened->origin);
}

/* ---- The problem ---------------------------------------------------------------------------- */

void lookup_drop_space(struct lookup *l) {
  space_close(l->space);
  l->space = NULL;
}

void lookup_drop_libraries(struct lookup *l) {
  memset(l->device.facts.libraries, 0, sizeof l->device.facts.libraries);
  lookup_drop_space(l);
}

int lookup_drop_variant(struct lookup *l, const char *variant, cugen_error *err) {
  return array_add_text(&l->uncompiled, &l->uncompiled_count, variant) ? CUGEN_OK
                                                                       : error_memory(err);
}

void lookup_forget_dropped(struct lookup *l) {
  array_free_texts(l->uncompiled, l->uncompiled_count);
  l->uncompiled = NULL, l->uncompiled_count = 0;
}

int lookup_set_problem(struct lookup *l, const struct problem *problem, cugen_error *err) {
  lookup_drop_space(l);
  lookup_forget_dropped(l);
  l->problem = problem;
  text_restart(&l->problem_text);
  problem_print(l->config, problem, &l->problem_text);
  l->may_lack = problem_may_lack(l->config, problem);
  return l->problem_text.failed ? error_memory(err) : CUGEN_OK;
}

int lookup_for_problem(const struct lookup *from, const struct problem *problem, struct lookup *out,
                       cugen_error *err) {
  *out = (struct lookup){.lib = from->lib,
                         .opened = from->opened,
                         .config = from->config,
                         .ops = from->ops,
                         .device = from->device,
                         .described = from->described,
                         .nvrtc_version = from->nvrtc_version,
                         .measure = from->measure};
  int status = lookup_set_arch(out, from->arch, err);
  return status ? status : lookup_set_problem(out, problem, err);
}

void lookup_close(struct lookup *l) {
  space_close(l->space);
  free(l->values);
  lookup_forget_dropped(l);
  text_free(&l->options);
  text_free(&l->problem_text);
  api_prediction_key_free(&l->predictions);
  *l = (struct lookup){0};
}

bool api_same_problem(const struct problem *a, const struct problem *b) {
  for (size_t i = 0; i < a->count; i++)
    if (!value_equal(a->values[i], b->values[i])) return false;
  return true;
}

bool api_same_class(const struct config *config, const struct problem *a, const struct problem *b) {
  for (size_t i = 0; i < config->problem_count; i++)
    if (!config_is_size(config, i) && !value_equal(a->values[i], b->values[i])) return false;
  return true;
}

int api_parse_problem(const struct config *config, const char *text, struct problem *out,
                      cugen_error *err) {
  const size_t most = config->problem_count;
  char *copy = strdup(text);
  const char **settings = calloc(most + 1, sizeof *settings);
  const int status =
      copy && settings
          ? problem_set(config, settings, settings_cut(copy, settings, most), false, out, err)
          : error_memory(err);
  free(settings);
  free(copy);
  return status;
}

int api_read_problem(const struct config *config, const char *text, struct problem *out,
                     bool *known, cugen_error *err) {
  cugen_error why;
  *known = false;
  int status = api_parse_problem(config, text, out, &why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;

  struct text printed = {0};
  uint64_t lacks;
  problem_print(config, out, &printed);
  const struct cache_key key = {.problem = text_get(&printed),
                                .may_lack = problem_may_lack(config, out)};
  *known = !printed.failed && cache_lacks(&key, text, &lacks);
  if (printed.failed) status = error_memory(err);
  text_free(&printed);
  if (!*known) problem_free(out);
  return status;
}

/* ---- The device ----------------------------------------------------------------------------- */

int lookup_set_arch(struct lookup *l, const char *arch, cugen_error *err) {
  struct record_options options = {.kind = OPTIONS_MEASURED, .measure = l->measure};
  snprintf(l->arch, sizeof l->arch, "%s", arch);
  snprintf(options.arch, sizeof options.arch, "%s", arch);
  text_restart(&l->options);
  record_options_print(&options, &l->options);
  return l->options.failed ? error_memory(err) : CUGEN_OK;
}

int lookup_check_predictable(struct lookup *l, cugen_error *err) {
  struct device_description known;
  if (l->predicted) return CUGEN_OK;
  /* A driver reports neither rates nor latencies, so a description gives both. */
  if (l->device.rates.l2_bytes_per_clock <= 0 &&
      api_described(l->lib, l->device.fingerprint, &known))
    l->device.rates = known.rates;
  return api_check_predictable(l->lib, &l->device, err);
}

uint64_t lookup_lent(const struct lookup *l, uint64_t index) {
  size_t count;
  const struct space_implementation *all = space_implementations(l->space, &count);
  for (size_t i = 0; i < count; i++)
    if (all[i].implementation->library && index >= all[i].first &&
        index - all[i].first < all[i].valid)
      return all[i].first;
  return index;
}

int lookup_use_predictions(struct lookup *l, cugen_error *err) {
  if (l->predicted) return CUGEN_OK;
  int status = lookup_check_predictable(l, err);
  if (status) return status;
  api_prediction_key_free(&l->predictions); /* left by an attempt that ran out of memory */
  status = api_key_predictions(l->lib, &l->device, l->lib->arch ? l->lib->arch : l->device.arch,
                               &l->predictions, err);
  l->predicted = !status;
  if (l->predicted) lookup_drop_libraries(l); /* the model cannot predict libraries' kernels */
  return status;
}

bool lookup_predicts(const struct lookup *l) {
  cugen_error ignored;
  return l->described && !api_check_predictable(l->lib, &l->device, &ignored);
}

int lookup_check_present(const struct lookup *l, cugen_error *err) {
  if (!l->described) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "%s is described and not here: nothing can run on it; %sthe cpu device runs the "
                   "variants here",
                   l->device.name, lookup_predicts(l) ? "'cugen tune' predicts for it, " : "");
}

int lookup_context(const struct lookup *l, void *given, void **out, cugen_error *err) {
  *out = given;
  if (!l->ops->current_context && given)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "a context was given, and this kernel is for the %s device, which has none",
                     l->ops->kind);
  return given || !l->ops->current_context ? CUGEN_OK
                                           : l->ops->current_context(l->lib->toolkit, out, err);
}

/* ---- Space and sources ---------------------------------------------------------------------- */

/* Returns whether the arguments are valid when parameter i has its default. */
static bool fits_without(const struct lookup *l, size_t i) {
  struct problem problem = {.count = l->problem->count,
                            .values = calloc(l->problem->count, sizeof *problem.values)};
  cugen_error ignored;
  if (!problem.values) return false;
  memcpy(problem.values, l->problem->values, problem.count * sizeof *problem.values);
  problem.values[i] = l->config->problems[i].values[0];
  const int status = config_check_sizes(l->config, &problem, &l->device.facts, &ignored);
  free(problem.values);
  return !status;
}

/* Blames a setting for an invalid argument if the default in place of the setting makes the
   argument valid. */
static int blame_setting(const struct lookup *l, const cugen_error *why, cugen_error *err) {
  struct text setting = {0};
  for (size_t i = 0; i < l->problem->count && !setting.length; i++) {
    const struct config_problem *p = &l->config->problems[i];
    const struct value value = l->problem->values[i];
    if (value_equal(value, p->values[0]) || value_equal(value, p->check) || !fits_without(l, i))
      continue;
    setting_print(p->name, value, &setting);
  }
  int status = error_copy(err, why);
  if (setting.length && !setting.failed)
    status =
        error_set(err, CUGEN_ERROR_USAGE, "setting '%.200s': %s", text_get(&setting), why->message);
  text_free(&setting);
  return status;
}

int lookup_space(struct lookup *l, cugen_error *err) {
  cugen_error why;
  if (l->space) return CUGEN_OK;
  int status = config_check_sizes(l->config, l->problem, &l->device.facts, &why);
  if (status == CUGEN_ERROR_CONFIG && l->asked) return blame_setting(l, &why, err);
  status = status ? error_copy(err, &why)
                  : space_open_within(l->config, l->problem, &l->device.facts, l->filter,
                                      api_stop(l->lib), &l->space, err);
  if (status) return status;
  struct value *values = calloc(space_max_tunables(l->space) + 1, sizeof *values);
  if (!values) {
    lookup_drop_space(l); /* an open space has room for values */
    return error_memory(err);
  }
  free(l->values);
  l->values = values;
  return CUGEN_OK;
}

int lookup_expander(struct lookup *l, cugen_error *err) {
  struct opened_config *opened = l->opened;
  return opened->expander ? CUGEN_OK : expander_open(&opened->sources, &opened->expander, err);
}

int lookup_prepare(struct lookup *l, cugen_error *err) {
  int status = lookup_space(l, err);
  return status ? status : lookup_expander(l, err);
}

struct variant lookup_variant(const struct lookup *l, uint64_t index) {
  struct variant variant;
  space_variant(l->space, index, &variant, l->values);
  return variant;
}

void lookup_print(const struct lookup *l, uint64_t index, struct text *out) {
  const struct variant variant = lookup_variant(l, index);
  variant_print(&variant, out);
}

int lookup_expand(const struct lookup *l, uint64_t index, struct kernel_spec *out,
                  cugen_error *err) {
  const struct variant variant = lookup_variant(l, index);
  return expand_variant(l->opened->expander, l->config, l->problem, &l->device.facts, &variant, out,
                        err);
}

int lookup_add_check(const struct lookup *l, uint64_t index, struct kernel_spec *spec,
                     cugen_error *err) {
  const struct variant variant = lookup_variant(l, index);
  return expand_add_check(l->opened->expander, l->config, l->problem, &l->device.facts, &variant,
                          spec, err);
}

int lookup_expand_known(const struct lookup *l, uint64_t index, struct kernel_spec *out,
                        cugen_error *err) {
  const char *text = l->device.fingerprint[0] ? l->device.fingerprint : l->arch;
  int status = lookup_expand(l, index, out, err);
  if (status) return status;
  status = api_check_read_facts(l->config, l->opened->expander, &l->device, text, err);
  if (status) kernel_spec_free(out);
  return status;
}

struct tune_target lookup_target(const struct lookup *l) {
  return (struct tune_target){.config = l->config,
                              .problem = l->problem,
                              .space = l->space,
                              .sources = &l->opened->sources,
                              .ops = l->ops,
                              .device = &l->device,
                              .arch = l->arch,
                              .toolkit = l->lib->toolkit,
                              .toolkit_options = l->lib->toolkit_options,
                              .worker = l->lib->worker,
                              .worker_places = text_get(&l->lib->worker_places)};
}

/* ---- The key of the records ----------------------------------------------------------------- */

static struct cache_key key_under(const struct lookup *l, const char *device, const char *options) {
  return (struct cache_key){.device = device,
                            .config = l->config->name,
                            .problem = text_get(&l->problem_text),
                            .options = options,
                            .origin = l->origin,
                            .objective = l->config->objective,
                            .may_lack = l->may_lack};
}

struct cache_key lookup_measured_key(const struct lookup *l) {
  return key_under(l, l->device.fingerprint, text_get(&l->options));
}

struct cache_key lookup_predicted_key(const struct lookup *l, const struct prediction_key *key) {
  return key_under(l, text_get(&key->device), text_get(&key->options));
}

struct cache_key lookup_key(const struct lookup *l) {
  return l->predicted ? lookup_predicted_key(l, &l->predictions) : lookup_measured_key(l);
}

/* Takes the latest predictions for the key's device, config and problem (an empty problem means any
   problem), from whatever description, because the figures of a GPU without a description are
   unknown. */
static int take_latest(const struct lookup *l, struct prediction_key *out, cugen_error *err) {
  const struct cache_key key = lookup_predicted_key(l, out);
  const struct record_options ours = record_options_parse(key.options);
  const struct cache_space *found = NULL;
  struct cache_space *spaces;
  struct cache *cache;
  size_t count;
  int status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_spaces(cache, &spaces, &count, err);
  if (status) return status;
  for (size_t i = 0; i < count; i++) {
    const struct cache_space *s = &spaces[i];
    const struct record_options theirs = record_options_parse(s->options);
    uint64_t lacks;
    const bool meant = !strcmp(s->device, key.device) && !strcmp(s->config, key.config) &&
                       (!*key.problem || cache_lacks(&key, s->problem, &lacks)) &&
                       theirs.kind == OPTIONS_PREDICTED && theirs.model == ours.model &&
                       !strcmp(theirs.arch, ours.arch);
    if (meant && s->records && (!found || s->measured_at > found->measured_at)) found = s;
  }
  if (found) {
    text_restart(&out->options);
    text_add(&out->options, found->options);
    if (out->options.failed) status = error_memory(err);
  }
  cache_spaces_free(spaces, count);
  return status;
}

/* Decides which predictions a look-up finds: those made from the description of the look-up's
   device or, for a GPU known only by its text, the latest. */
int api_find_predictions(const struct lookup *l, struct prediction_key *out, cugen_error *err) {
  struct device_description known;
  const char *arch = l->predicted && !l->lib->arch ? l->device.arch : l->arch;
  int status = api_key_predictions(l->lib, &l->device, arch, out, err);
  const bool described = device_parse(l->device.id).kind == CUGEN_DEVICE_MODEL ||
                         (api_described(l->lib, l->device.fingerprint, &known) && known.id[0]);
  return status || described ? status : take_latest(l, out, err);
}

int lookup_records(const struct lookup *l, const struct cache_key *key,
                   struct cache_record **records, size_t *count, cugen_error *err) {
  struct cache *cache;
  *records = NULL, *count = 0;
  int status = api_cache_to_read(l->lib, &cache, err);
  return status ? status : cache_load(cache, key, records, count, err);
}

void records_free(struct cache_record *records, size_t count) {
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
}

/* ---- Images --------------------------------------------------------------------------------- */

int lookup_find_image(struct cache *cache, const struct kernel_spec *spec, const char *key,
                      struct compiled *out, bool *found, cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  *found = false;
  int status = cache_image_load(cache, key, out, found, err);
  if (status || !*found || out->entry_count == plan_entries(spec, entries)) return status;
  compiled_free(out);
  *found = false;
  return CUGEN_OK;
}

void lookup_drop_image(const struct device *device, struct compiled *image,
                       struct kernel_spec *spec) {
  if (image && device->ops->capabilities & DEVICE_EXECUTES_ON_GPU) compiled_free(image);
  free(spec->source);
  spec->source = NULL;
}

static struct compile_request request_for(const struct lookup *l, const struct kernel_spec *spec,
                                          const char *arch,
                                          const char *entries[KERNEL_MAX_ENTRIES]) {
  return (struct compile_request){.toolkit = l->lib->toolkit,
                                  .compilers = l->lib->compilers,
                                  .name = spec->variant,
                                  .source = spec->source,
                                  .options = spec->options,
                                  .arch = arch,
                                  .entries = entries,
                                  .entry_count = plan_entries(spec, entries)};
}

int lookup_compile(const struct lookup *l, const struct kernel_spec *spec, bool keep_ptx,
                   struct compiled *out, cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct compile_request request = request_for(l, spec, l->arch, entries);
  request.keep_ptx = keep_ptx;
  return l->ops->compile(&request, out, err);
}

/* Compiles to PTX, so that ptxas is not run, for an architecture that every supported NVRTC
   knows. */
int lookup_accepts(const struct lookup *l, const struct kernel_spec *spec, cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct compiled compiled = {0};
  const struct compile_request request = request_for(l, spec, "compute_90", entries);
  if (!toolkit_nvrtc_major(l->lib->toolkit)) return CUGEN_OK;
  const int status = cuda_device_ops.compile(&request, &compiled, err);
  compiled_free(&compiled);
  return status == CUGEN_ERROR_COMPILE ? status : CUGEN_OK;
}
