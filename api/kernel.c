/* Kernels: a config for one problem on one device, with the space and the arguments. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "base/capability.h"
#include "gen/config/evaluate.h"
#include "gen/template/mentions.h"
#include "kernel.h"
#include "runtime/devices.h"

/* ---- Opening -------------------------------------------------------------------------------- */

static int find_devices(cugen_kernel *k, const char *text, struct found_device *out,
                        cugen_error *err) {
  struct device_list *list = &k->devices;
  int status = api_list_devices(k->lookup.lib, text, list, err);
  if (status) return status;
  if (list->count > TUNE_MOST_DEVICES)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%zu devices are listed: %d at most can share a search", list->count,
                     TUNE_MOST_DEVICES);
  k->device_ids = calloc(list->count, sizeof *k->device_ids);
  if (!k->device_ids) return error_memory(err);
  for (size_t i = 0; i < list->count; i++) {
    const struct found_device *first = list->all, *one = &list->all[i];
    k->device_ids[i] = one->description.id;
    if (!api_devices_are_alike(first, one))
      return error_set(err, CUGEN_ERROR_USAGE,
                       "%s (%s) and %s (%s) are no GPUs of one model: each has records of its own. "
                       "Name one, or open cugen for each",
                       first->name, first->description.name, one->name, one->description.name);
  }
  *out = list->all[0];
  return CUGEN_OK;
}

static int choose_device(cugen_kernel *k, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct found_device found = {0};
  const char *device = l->lib->device;
  int status = device && device_parse(device).kind == CUGEN_DEVICE_LIST
                   ? find_devices(k, device, &found, err)
                   : api_find_device(l->lib, device, &found, &k->fallback, err);
  l->ops = found.ops;
  l->device = found.description;
  l->described = found.described;
  if (!status && found.predicted) status = lookup_use_predictions(l, err);
  if (!status && l->ops == &cuda_device_ops) l->nvrtc_version = api_nvrtc_version(l->lib);
  return status;
}

static int kernel_refuse_arch(const char *arch, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_USAGE, "'%s' is not an architecture; one is written sm_90a",
                   arch);
}

/* Chooses the architecture to compile for, such as "sm_90a", and the compute capability that
   configs see with it. */
static int kernel_choose_arch(struct lookup *l, cugen_error *err) {
  const char *arch = l->lib->arch ? l->lib->arch : l->device.arch;
  if (strlen(arch) >= sizeof l->arch) return kernel_refuse_arch(arch, err);
  int status = lookup_set_arch(l, arch, err);
  if (status || !l->lib->arch) return status;
  struct arch parsed;
  if (!arch_parse(arch, &parsed) || parsed.capability < GPU_OLDEST_TARGET_12)
    return kernel_refuse_arch(arch, err);
  l->device.facts.compute_capability = parsed.capability;
  l->device.facts.architecture_specific = parsed.suffix == 'a';
  return CUGEN_OK;
}

/* Refuses two different settings of one name, of which the last would silently win. */
static int check_once(const char *const *settings, size_t count, cugen_error *err) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++) {
      const size_t length = strcspn(settings[i], "=") + 1;
      if (strncmp(settings[i], settings[k], length) == 0 && strcmp(settings[i], settings[k]) != 0)
        return error_set(err, CUGEN_ERROR_USAGE, "settings '%s' and '%s': give one of them",
                         settings[k], settings[i]);
    }
  return CUGEN_OK;
}

static int keep_settings(cugen_kernel *k, const char *const *settings, size_t count,
                         cugen_error *err) {
  k->settings = calloc(count + 1, sizeof *k->settings);
  if (!k->settings) return error_memory(err);
  for (size_t i = 0; i < count; i++) {
    k->settings[i] = strdup(settings[i]);
    if (!k->settings[i]) return error_memory(err);
    k->setting_count++;
  }
  return CUGEN_OK;
}

void api_forget_records(cugen_kernel *k) {
  records_free(k->records, k->record_count);
  free(k->published);
  k->records = NULL;
  k->published = NULL;
  k->record_count = 0;
  k->records_loaded = false;
  k->ceilings = (cugen_ceilings){0};
}

/* Sets the problem and drops the records and the space of the old one. */
static int set_problem(cugen_kernel *k, bool check, cugen_error *err) {
  struct problem problem = {0};
  const struct config *config = k->opened.config;
  int status =
      problem_set(config, (const char *const *)k->settings, k->setting_count, check, &problem, err);
  if (status) return status;
  problem_free(&k->problem);
  k->problem = problem;
  k->on_check = check;
  text_restart(&k->problem_short);
  problem_print_short(config, &k->problem, &k->problem_short);
  api_forget_records(k);
  status = lookup_set_problem(&k->lookup, &k->problem, err);
  return k->problem_short.failed ? error_memory(err) : status;
}

static int kernel_open_parts(cugen_kernel *k, const char *config, const char *const *settings,
                             size_t count, cugen_error *err) {
  struct lookup *l = &k->lookup;
  int status = opened_config_open(l->lib, config, &k->opened, err);
  l->opened = &k->opened;
  l->config = k->opened.config;
  l->origin = text_get(&k->opened.origin);
  if (!status) l->measure = l->lib->measure < MEASURE_WAYS ? l->lib->measure : l->config->measure;
  l->asked = count > 0;
  if (!status) status = check_once(settings, count, err);
  if (!status) status = keep_settings(k, settings, count, err);
  l->settings = (const char *const *)k->settings;
  l->setting_count = k->setting_count;
  if (!status) status = set_problem(k, false, err);
  if (!status) status = choose_device(k, err);
  if (!status && l->described)
    status = api_check_facts(l->config, l->problem, &l->device, l->device.name, err);
  if (!status) status = kernel_choose_arch(l, err);
  if (status) return status;
  policy_print(l->config, &k->policy);
  api_device_info(l->lib, &l->device, &k->device_info);
  return k->policy.failed ? error_memory(err) : CUGEN_OK;
}

int cugen_kernel_open(cugen *lib, const char *config, const char *const *settings, size_t count,
                      cugen_kernel **out, cugen_error *error) {
  if (!out) return API_NEEDS(error, "out", out);
  *out = NULL;
  if (API_NEEDS(error, "lib, config, settings", lib, config,
                count ? (const void *)settings : config))
    return CUGEN_ERROR_USAGE;
  for (size_t i = 0; i < count; i++)
    if (!settings[i])
      return error_set(error, CUGEN_ERROR_USAGE, "cugen_kernel_open: settings[%zu] is NULL", i);
  cugen_kernel *k = calloc(1, sizeof *k);
  if (!k) return error_memory(error);
  k->lookup.lib = lib;
  int status = kernel_open_parts(k, config, settings, count, error);
  if (status)
    cugen_kernel_close(k);
  else
    *out = k;
  return status;
}

/* Sets a problem that was printed, with a setting for each parameter. */
static int set_printed(cugen_kernel *k, const char *problem, cugen_error *err) {
  const size_t most = k->lookup.config->problem_count;
  char *copy = strdup(problem);
  const char **settings = calloc(most + 1, sizeof *settings);
  int status = copy && settings ? CUGEN_OK : error_memory(err);
  if (!status) status = keep_settings(k, settings, settings_cut(copy, settings, most), err);
  free(settings);
  free(copy);
  if (status) return status;
  k->lookup.settings = (const char *const *)k->settings;
  k->lookup.setting_count = k->setting_count;
  status =
      problem_set(k->lookup.config, k->lookup.settings, k->setting_count, false, &k->problem, err);
  return status ? status : lookup_set_problem(&k->lookup, &k->problem, err);
}

int api_kernel_for_problem(cugen_kernel *from, const char *problem, cugen_kernel **out,
                           cugen_error *err) {
  cugen_kernel *k = *out = calloc(1, sizeof *k);
  if (!k) return error_memory(err);
  int status = lookup_for_problem(&from->lookup, &from->problem, &k->lookup, err);
  k->lookup.asked = true;
  if (!status) status = set_printed(k, problem, err);
  if (!status) {
    problem_print_short(k->lookup.config, &k->problem, &k->problem_short);
    policy_print(k->lookup.config, &k->policy);
    if (k->problem_short.failed || k->policy.failed) status = error_memory(err);
  }
  if (status) cugen_kernel_close(k), *out = NULL;
  return status;
}

void cugen_kernel_close(cugen_kernel *k) {
  if (!k) return;
  api_forget_records(k);
  struct kept *kept[] = {&k->choice, &k->stored,     &k->why,   &k->check, &k->launches,
                         &k->learnt, &k->portfolios, &k->space, &k->seen};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) kept_close(kept[i]);
  lookup_close(&k->lookup);
  problem_free(&k->problem);
  opened_config_close(&k->opened);
  array_free_texts(k->settings, k->setting_count);
  free(k->filter);
  free(k->device_ids);
  api_device_list_free(&k->devices);
  struct text *texts[] = {&k->fallback,   &k->problem_short, &k->problem_values,
                          &k->policy,     &k->variant_text,  &k->source,
                          &k->ptx,        &k->export_notes,  &k->export_name,
                          &k->unverified, &k->printed,       &k->lost,
                          &k->not_run,    &k->equal_to,      &k->began,
                          &k->baseline,   &k->unchecked,     &k->json};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) text_free(texts[i]);
  free(k);
}

int api_kernel_use_check(cugen_kernel *k, cugen_error *error) {
  return k->on_check ? CUGEN_OK : set_problem(k, true, error);
}

int api_restore_problem(cugen_kernel *k, bool on_check, int status, cugen_error *err) {
  cugen_error why;
  if (k->on_check == on_check || !set_problem(k, on_check, &why)) return status;
  return status ? status : error_copy(err, &why);
}

int api_kernel_has_check(const cugen_kernel *k) {
  const struct config *config = k ? k->opened.config : NULL;
  if (!config) return 0;
  for (size_t i = 0; i < config->problem_count; i++)
    if (config->problems[i].check.type != VALUE_NIL) return 1;
  for (size_t i = 0; i < config->implementation_count; i++)
    if (config->implementations[i].check) return 1;
  return 0;
}

int api_kernel_use_predictions(cugen_kernel *k, cugen_error *error) {
  if (!k->lookup.predicted) api_forget_records(k);
  return lookup_use_predictions(&k->lookup, error);
}

bool api_agrees(const cugen_kernel *k, const struct problem *problem, bool sizes) {
  const struct config *config = k->lookup.config;
  for (size_t i = 0; i < k->setting_count; i++)
    for (size_t p = 0; p < problem->count; p++)
      if (setting_is_named(k->settings[i], config->problems[p].name) &&
          (sizes || !config_is_size(config, p)) &&
          !value_equal(problem->values[p], k->problem.values[p]))
        return false;
  return true;
}

int api_kernel_predictable(cugen_kernel *k) {
  cugen_error ignored;
  return k && lookup_check_predictable(&k->lookup, &ignored) == CUGEN_OK;
}

void api_kernel_key(const cugen_kernel *k, const char **device, const char **options) {
  const struct cache_key key =
      k ? lookup_key(&k->lookup) : (struct cache_key){.device = "", .options = ""};
  if (device) *device = key.device;
  if (options) *options = key.options;
}

const char *cugen_kernel_name(const cugen_kernel *k) {
  return k ? k->lookup.config->name : "";
}

const char *cugen_kernel_problem(const cugen_kernel *k) {
  return k ? text_get(&k->lookup.problem_text) : "";
}

const char *api_kernel_problem_short(const cugen_kernel *k) {
  return k ? text_get(&k->problem_short) : "";
}

const char *api_kernel_problem_values(cugen_kernel *k, const char *name) {
  if (!k || !name) return "";
  text_restart(&k->problem_values);
  const struct config *config = k->lookup.config;
  for (size_t i = 0; i < config->problem_count; i++) {
    const struct config_problem *problem = &config->problems[i];
    for (size_t j = 0;
         problem->listed && strcmp(problem->name, name) == 0 && j < problem->value_count; j++) {
      if (j > 0) text_add(&k->problem_values, " ");
      value_print(problem->values[j], &k->problem_values);
    }
  }
  return text_get(&k->problem_values);
}

const char *api_kernel_problem_set(const cugen_kernel *k, size_t index) {
  return k && index < k->lookup.config->problem_set_count ? k->lookup.config->problem_sets[index]
                                                          : NULL;
}

const char *api_kernel_summary(const cugen_kernel *k) {
  return k->lookup.config->summary;
}

const char *api_kernel_policy(const cugen_kernel *k) {
  return k ? text_get(&k->policy) : "";
}

int api_kernel_takes_portfolio(const cugen_kernel *k) {
  return k && k->lookup.config->policy.kind == POLICY_PORTFOLIO;
}

enum objective_kind api_kernel_objective(const cugen_kernel *k) {
  return k ? objective_kind_of(k->lookup.config->objective) : OBJECTIVE_TIME;
}

const char *api_kernel_objective_text(const cugen_kernel *k) {
  return k && k->lookup.config->objective ? k->lookup.config->objective->text
                                          : objective_names[OBJECTIVE_TIME];
}

int api_kernel_needs_energy(const cugen_kernel *k) {
  return k && objective_needs_energy(k->lookup.config->objective);
}

const char *api_kernel_measure(const cugen_kernel *k) {
  return k && !k->lookup.predicted ? measure_way_names[k->lookup.measure] : NULL;
}

const cugen_device_info *cugen_kernel_device(const cugen_kernel *k) {
  return k ? &k->device_info : NULL;
}

int api_kernel_predicted(const cugen_kernel *k) {
  return k && k->lookup.predicted;
}

const char *cugen_kernel_fallback(const cugen_kernel *k) {
  return k && k->fallback.length ? text_get(&k->fallback) : NULL;
}

/* ---- The space ------------------------------------------------------------------------------ */

struct listed_space {
  cugen_implementation_info *implementations;
  cugen_restriction_info *restrictions;
};

static void clear_space(void *data) {
  struct listed_space *listed = data;
  free(listed->implementations);
  free(listed->restrictions);
}

/* Lists the restrictions. Limits, filters and heuristics that remove nothing are not listed.
   Returns false if memory is out. */
static bool list_restrictions(const struct space_implementation *of, struct listed_space *to,
                              size_t *count) {
  bool good = true;
  for (size_t i = 0; i < of->rule_count && good; i++) {
    const struct space_rule *rule = &of->rules[i];
    const cugen_restriction_info one = {.implementation = of->implementation->name,
                                        .text = rule->text,
                                        .file = rule->option ? rule->option : rule->line.path,
                                        .line = rule->line.number,
                                        .removed = rule->removed,
                                        .kind = rule->kind};
    if (rule->kind == CUGEN_RESTRICTION_WHERE || rule->removed)
      good = ARRAY_ADD(to->restrictions, *count, one);
  }
  return good;
}

int api_kernel_space(cugen_kernel *k, cugen_space_info *out, cugen_error *error) {
  size_t count;
  bool good = true;
  int status = lookup_space(&k->lookup, error);
  if (status) return status;
  struct listed_space *listed = kept_renew(&k->space, sizeof *listed, clear_space, error);
  if (!listed) return CUGEN_ERROR_MEMORY;
  *out = (cugen_space_info){.cartesian = space_cartesian(k->lookup.space),
                            .valid = space_valid(k->lookup.space)};
  const struct space_implementation *all = space_implementations(k->lookup.space, &count);
  for (size_t i = 0; i < count && good; i++) {
    const cugen_implementation_info one = {.name = all[i].implementation->name,
                                           .unavailable = all[i].unmet ? all[i].unmet->text : NULL,
                                           .cartesian = all[i].cartesian,
                                           .valid = all[i].valid};
    good = list_restrictions(&all[i], listed, &out->restrictions);
    if (good && !all[i].unlisted)
      good = ARRAY_ADD(listed->implementations, out->implementations, one);
  }
  out->implementation = listed->implementations;
  out->restriction = listed->restrictions;
  return good ? CUGEN_OK : error_memory(error);
}

static int no_such(const char *what, size_t index, size_t count, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_USAGE, "%s %zu: there are %zu", what, index, count);
}

int api_kernel_unused(cugen_kernel *k, cugen_unused_tunable *out, size_t most, size_t *count,
                      cugen_error *error) {
  const struct lookup *l = &k->lookup;
  return mentions_unused(&l->opened->sources, l->config, out, most, count, error);
}

int api_variant_text(cugen_kernel *k, uint64_t index, const char **out, cugen_error *err) {
  text_restart(&k->variant_text);
  lookup_print(&k->lookup, index, &k->variant_text);
  *out = k->variant_text.failed ? NULL : text_get(&k->variant_text);
  return *out ? CUGEN_OK : error_memory(err);
}

int api_kernel_variant(cugen_kernel *k, uint64_t index, const char **out, cugen_error *error) {
  *out = NULL;
  int status = lookup_space(&k->lookup, error);
  if (status) return status;
  const uint64_t valid = space_valid(k->lookup.space);
  return index < valid ? api_variant_text(k, index, out, error)
                       : no_such("variant", (size_t)index, (size_t)valid, error);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

size_t cugen_kernel_arguments(const cugen_kernel *k) {
  return k ? k->lookup.config->argument_count : 0;
}

/* Fills in the slots for a valid variant; index 0 serves for what holds for all variants. *out is
   NULL if no variant is valid. */
static int open_slots(struct lookup *l, uint64_t index, struct value **out, cugen_error *err) {
  int status = lookup_space(l, err);
  *out = NULL;
  if (status || space_valid(l->space) == 0) return status;
  const struct variant variant = lookup_variant(l, index);
  struct value *slots =
      calloc(config_slot_count(l->config, variant.implementation) + 1, sizeof *slots);
  if (!slots) return error_memory(err);
  config_slots(l->config, l->problem, &l->device.facts, slots);
  memcpy(slots + l->config->first_tunable, variant.values,
         variant.implementation->tunable_count * sizeof *slots);
  *out = slots;
  return CUGEN_OK;
}

int api_arguments(cugen_kernel *k, uint64_t index, struct kernel_argument *out, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct value *slots;
  int status = open_slots(l, index, &slots, err);
  if (status) return status;
  status =
      slots ? config_arguments(l->config, slots, out, err) : space_explain_empty(l->space, err);
  free(slots);
  return status;
}

int api_products(cugen_kernel *k, const char **out, cugen_error *err) {
  const struct config *config = k->lookup.config;
  struct value *slots;
  *out = NULL;
  if (!config->products.expr) return CUGEN_OK;
  int status = open_slots(&k->lookup, 0, &slots, err);
  if (!status && slots) status = config_products(config, slots, out, err);
  free(slots);
  return status;
}

int cugen_kernel_argument(cugen_kernel const *kernel, size_t index, cugen_argument_info *out,
                          cugen_error *error) {
  /* not const, because the space is opened on first use */
  cugen_kernel *k = (cugen_kernel *)(uintptr_t)kernel;
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  if (index >= k->lookup.config->argument_count)
    return no_such("argument", index, k->lookup.config->argument_count, error);
  int status = api_arguments(k, 0, arguments, error);
  if (status) return status;
  const struct config_data *data = &k->lookup.config->arguments[index].data;
  /* a copy that outlives `arguments` */
  memcpy(k->layouts[index], arguments[index].layout, LAYOUT_WORD);
  kernel_argument_info(&arguments[index], out);
  if (*k->layouts[index]) out->layout = k->layouts[index];
  if (out->data) out->data_from = data->kind == DATA_VALUES ? expr_text(data->values) : data->file;
  return CUGEN_OK;
}
