/* Kernels: a config for one problem on one device; its arguments, space and sources. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/devices.h"

/* ---- Opening ---- */

/* One that is here, by its id, or one that is described. */
static int choose_named(cugen_kernel *k, const char *device, cugen_error *err) {
  bool described;
  int ordinal = 0, status = api_describe_device(k, device, &described, err);
  if (described || status) return status;
  status = device_find(device, &k->ops, &ordinal, err);
  return status ? status : k->ops->describe(k->lib->toolkit, ordinal, &k->device, err);
}

/* The first GPU; else the cpu device, with the reason kept. */
static int choose_default(cugen_kernel *k, cugen_error *err) {
  cugen_error why = {0};
  k->ops = &cuda_device_ops;
  if (cuda_device_ops.count(k->lib->toolkit, &why) < 1) {
    k->ops = &cpu_device_ops;
    text_add(&k->fallback, why.message);
  }
  return k->ops->describe(k->lib->toolkit, 0, &k->device, err);
}

int api_choose_device(cugen_kernel *k, const char *device, cugen_error *err) {
  int status = device ? choose_named(k, device, err) : choose_default(k, err);
  if (!status && k->ops == &cuda_device_ops) k->nvrtc_version = api_nvrtc_version(k->lib);
  return status;
}

/* "sm_90a": what is compiled for, and the compute capability that configs then see. */
static int choose_arch(cugen_kernel *k, cugen_error *err) {
  const char *arch = k->lib->arch ? k->lib->arch : k->device.arch;
  size_t length = strlen(arch);
  if (length >= sizeof k->arch)
    return error_set(err, CUGEN_ERROR_USAGE, "'%s' is not an architecture; one is written sm_90a", arch);
  memcpy(k->arch, arch, length + 1);
  if (!k->lib->arch) return CUGEN_OK;
  char *end;
  long capability = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, &end, 10) : 0;
  if (capability < 50 || (*end && strcmp(end, "a") != 0 && strcmp(end, "f") != 0))
    return error_set(err, CUGEN_ERROR_USAGE, "'%s' is not an architecture; one is written sm_90a", arch);
  k->device.facts.compute_capability = capability;
  k->device.facts.architecture_specific = *end == 'a';
  return CUGEN_OK;
}

static int keep_settings(cugen_kernel *k, const char *const *settings, size_t count, cugen_error *err) {
  k->settings = calloc(count + 1, sizeof *k->settings);
  if (!k->settings) return error_memory(err);
  for (size_t i = 0; i < count; i++) {
    k->settings[i] = strdup(settings[i]);
    if (!k->settings[i]) return error_memory(err);
    k->setting_count++;
  }
  return CUGEN_OK;
}

/* Everything that depends on the problem is dropped. */
static int set_problem(cugen_kernel *k, bool check, cugen_error *err) {
  struct problem problem = {0};
  int status = problem_set(k->config, (const char *const *)k->settings, k->setting_count, check, &problem, err);
  if (status) return status;
  problem_free(&k->problem);
  k->problem = problem;
  k->on_check = check;
  text_restart(&k->problem_short);
  status = api_print_problem(k->config, &k->problem, &k->problem_text, &k->problem_settings, err);
  problem_print_short(k->config, &k->problem, &k->problem_short);
  space_close(k->space);
  k->space = NULL;
  api_forget_records(k);
  return k->problem_short.failed ? error_memory(err) : status;
}

/* A file by its real path, so that its records stay together whatever it is called by; what is in memory or ships by its name. */
int api_origin(const struct sources *sources, const char *path, struct text *out, cugen_error *err) {
  bool memory = sources_holds(sources->files, path);
  char *real = memory ? NULL : realpath(path, NULL);
  if (!real) text_add(out, memory ? "memory:" : "shipped:");
  text_add(out, real ? real : path);
  free(real);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

static int open_parts(cugen_kernel *k, const char *config, const char *const *settings, size_t count,
                      cugen_error *err) {
  int status = config_open(&k->sources, config, &k->config, err);
  if (!status) status = api_origin(&k->sources, k->config ? k->config->path : "", &k->origin, err);
  if (!status) status = keep_settings(k, settings, count, err);
  if (!status) status = set_problem(k, false, err);
  if (!status) status = api_choose_device(k, k->lib->device, err);
  if (!status && k->described) status = api_check_facts(k, &k->problem, k->device.name, err);
  if (!status) status = choose_arch(k, err);
  if (status) return status;
  text_addf(&k->key_options, "arch %s", k->arch);
  policy_print(k->config, &k->policy);
  api_device_info(k->lib, &k->device, &k->device_info);
  return k->key_options.failed || k->policy.failed ? error_memory(err) : CUGEN_OK;
}

int cugen_kernel_open(cugen *lib, const char *config, const char *const *settings, size_t count, cugen_kernel **out,
                      cugen_error *error) {
  if (!out) return API_NEEDS(error, "out", out);
  *out = NULL;
  if (API_NEEDS(error, "lib, config, settings", lib, config, count ? (const void *)settings : config))
    return CUGEN_ERROR_USAGE;
  for (size_t i = 0; i < count; i++)
    if (!settings[i]) return error_set(error, CUGEN_ERROR_USAGE, "cugen_kernel_open: settings[%zu] is NULL", i);
  cugen_kernel *k = calloc(1, sizeof *k);
  if (!k) return error_memory(error);
  k->lib = lib;
  k->sources = lib->sources;
  int status = open_parts(k, config, settings, count, error);
  if (status)
    cugen_kernel_close(k);
  else
    *out = k;
  return status;
}

void cugen_kernel_close(cugen_kernel *k) {
  if (!k) return;
  api_forget_records(k);
  api_selection_free(&k->selection);
  api_record_list_close(k->record_list);
  api_why_close(k->why);
  api_check_close(k->check);
  api_launches_close(k->launches);
  expander_close(k->expander);
  space_close(k->space);
  problem_free(&k->problem);
  config_close(k->config);
  for (size_t i = 0; i < k->setting_count; i++) free(k->settings[i]);
  free(k->settings);
  free(k->values);
  api_filter_free(&k->filter);
  struct text *texts[] = {&k->origin,      &k->fallback,     &k->problem_text,     &k->problem_short,
                          &k->key_options, &k->policy,       &k->variant_text,     &k->source,
                          &k->export_name, &k->export_notes, &k->predicted_device, &k->predicted_options,
                          &k->unverified,  &k->printed,      &k->problem_settings};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) text_free(texts[i]);
  free(k);
}

int cugen_kernel_use_check(cugen_kernel *k, cugen_error *error) {
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  return k->on_check ? CUGEN_OK : set_problem(k, true, error);
}

const char *cugen_kernel_name(const cugen_kernel *k) {
  return k ? k->config->name : "";
}

const char *cugen_kernel_problem(const cugen_kernel *k) {
  return k ? text_get(&k->problem_text) : "";
}

const char *cugen_kernel_problem_short(const cugen_kernel *k) {
  return k ? text_get(&k->problem_short) : "";
}

const char *cugen_kernel_policy(const cugen_kernel *k) {
  return k ? text_get(&k->policy) : "";
}

const char *cugen_kernel_objective(const cugen_kernel *k) {
  return objective_names[k ? k->config->objective : OBJECTIVE_TIME];
}

const cugen_device_info *cugen_kernel_device(const cugen_kernel *k) {
  return k ? &k->device_info : NULL;
}

int cugen_kernel_predicted(const cugen_kernel *k) {
  return k && k->predicted;
}

const char *cugen_kernel_fallback(const cugen_kernel *k) {
  return k && k->fallback.length ? text_get(&k->fallback) : NULL;
}

/* ---- The space ---- */

static bool ask_stop(void *context) {
  const cugen *lib = context;
  return lib->stop(lib->stop_context) != 0;
}

struct space_stop api_stop(cugen *lib) {
  return (struct space_stop){lib->stop ? ask_stop : NULL, lib};
}

int api_space(cugen_kernel *k, cugen_error *err) {
  if (k->space) return CUGEN_OK;
  int status = config_check_sizes(k->config, &k->problem, &k->device.facts, err);
  if (!status)
    status =
        space_open_within(k->config, &k->problem, &k->device.facts, api_filter(k), api_stop(k->lib), &k->space, err);
  if (status) return status;
  free(k->values);
  k->values = calloc(space_max_tunables(k->space) + 1, sizeof *k->values);
  if (k->values) return CUGEN_OK;
  space_close(k->space); /* both or none: the next call starts anew */
  k->space = NULL;
  return error_memory(err);
}

/* Limits and filters that remove nothing would only hide the rest. NULL: there are not so many. */
static const struct space_rule *find_rule(const cugen_kernel *k, size_t at,
                                          const struct space_implementation **owner) {
  size_t count;
  const struct space_implementation *all = space_implementations(k->space, &count);
  for (size_t i = 0; i < count; i++)
    for (size_t r = 0; r < all[i].rule_count; r++) {
      const struct space_rule *rule = &all[i].rules[r];
      if ((rule->kind != CUGEN_RESTRICTION_WHERE && !rule->removed) || at-- > 0) continue;
      if (owner) *owner = &all[i];
      return rule;
    }
  return NULL;
}

int cugen_kernel_space(cugen_kernel *k, cugen_space_info *out, cugen_error *error) {
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  int status = api_space(k, error);
  if (status) return status;
  *out = (cugen_space_info){.cartesian = space_cartesian(k->space), .valid = space_valid(k->space)};
  space_implementations(k->space, &out->implementations);
  while (find_rule(k, out->restrictions, NULL)) out->restrictions++;
  return CUGEN_OK;
}

static int no_such(const char *what, size_t index, size_t count, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_USAGE, "%s %zu: there are %zu", what, index, count);
}

int cugen_kernel_implementation(cugen_kernel *k, size_t index, cugen_implementation_info *out, cugen_error *error) {
  size_t count;
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  int status = api_space(k, error);
  if (status) return status;
  const struct space_implementation *all = space_implementations(k->space, &count);
  if (index >= count) return no_such("implementation", index, count, error);
  *out = (cugen_implementation_info){.name = all[index].implementation->name,
                                     .unavailable = all[index].unmet ? expr_text(all[index].unmet->expr) : NULL,
                                     .cartesian = all[index].cartesian,
                                     .valid = all[index].valid};
  return CUGEN_OK;
}

int cugen_kernel_restriction(cugen_kernel *k, size_t index, cugen_restriction_info *out, cugen_error *error) {
  const struct space_implementation *owner;
  cugen_space_info space;
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  int status = cugen_kernel_space(k, &space, error);
  if (status) return status;
  const struct space_rule *rule = find_rule(k, index, &owner);
  if (!rule) return no_such("restriction", index, space.restrictions, error);
  *out = (cugen_restriction_info){.implementation = owner->implementation->name,
                                  .text = rule->text,
                                  .file = rule->option ? rule->option : rule->line.path,
                                  .line = rule->line.number,
                                  .removed = rule->removed,
                                  .kind = rule->kind};
  return CUGEN_OK;
}

static int print_variant(cugen_kernel *k, uint64_t index, struct variant *variant, cugen_error *err) {
  space_variant(k->space, index, variant, k->values);
  text_restart(&k->variant_text);
  variant_print(variant, &k->variant_text);
  return k->variant_text.failed ? error_memory(err) : CUGEN_OK;
}

int api_variant_text(cugen_kernel *k, uint64_t index, const char **out, cugen_error *err) {
  struct variant variant;
  int status = print_variant(k, index, &variant, err);
  *out = status ? NULL : text_get(&k->variant_text);
  return status;
}

int cugen_kernel_variant(cugen_kernel *k, uint64_t index, const char **out, cugen_error *error) {
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  *out = NULL;
  int status = api_space(k, error);
  if (status) return status;
  if (index < space_valid(k->space)) return api_variant_text(k, index, out, error);
  return no_such("variant", (size_t)index, (size_t)space_valid(k->space), error);
}

/* ---- Sources ---- */

int api_expander(cugen_kernel *k, cugen_error *err) {
  return k->expander ? CUGEN_OK : expander_open(&k->sources, &k->expander, err);
}

static int chosen_variant(cugen_kernel *k, bool best, uint64_t *index, cugen_error *err) {
  struct selection selection;
  int status = api_select(k, best ? -1 : 0, &selection, err);
  bool missing = best && selection.how == CUGEN_PLAN_DEFAULT;
  *index = selection.index;
  api_selection_free(&selection);
  if (status || !missing) return status;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "nothing is remembered for %s %s on %s; run 'cugen tune' first, or name a variant ('cugen cache "
                   "why' explains)",
                   k->config->name, text_get(&k->problem_short), k->device.name);
}

int api_find_variant(cugen_kernel *k, const char *variant, uint64_t *index, cugen_error *err) {
  int status = api_space(k, err);
  if (status) return status;
  if (space_valid(k->space) == 0) return space_explain_empty(k->space, err);
  bool best = variant && strcmp(variant, "best") == 0;
  return !variant || best ? chosen_variant(k, best, index, err) : space_find(k->space, variant, index, err);
}

int api_expand_text(cugen_kernel *k, const char *variant, struct kernel_spec *out, cugen_error *err) {
  uint64_t index = 0;
  struct variant chosen;
  int status = api_find_variant(k, variant, &index, err);
  if (!status) status = print_variant(k, index, &chosen, err);
  if (!status) status = api_expander(k, err);
  return status ? status : api_expand(k, &chosen, out, err);
}

int cugen_kernel_source(cugen_kernel *k, const char *variant, const char **source, const char **name,
                        cugen_error *error) {
  struct kernel_spec spec = {0};
  if (name) *name = NULL;
  if (API_NEEDS(error, "kernel, source", k, source)) return CUGEN_ERROR_USAGE;
  *source = NULL;
  int status = api_expand_text(k, variant, &spec, error);
  if (status) return status;
  text_restart(&k->source);
  text_add(&k->source, spec.source);
  kernel_spec_free(&spec);
  if (k->source.failed) return error_memory(error);
  *source = text_get(&k->source);
  if (name) *name = text_get(&k->variant_text);
  return CUGEN_OK;
}

/* ---- Arguments ---- */

size_t cugen_kernel_arguments(const cugen_kernel *k) {
  return k ? k->config->argument_count : 0;
}

/* Scratch has data where it begins with zeros. */
static const char *data_word(const struct kernel_argument *a) {
  static const char *const words[] = {
      [DATA_VALUES] = "values", [DATA_LIST] = "values", [DATA_FILE] = "file", [DATA_GENERATOR] = "generator"};
  bool zero = a->kind == CUGEN_ARGUMENT_SCRATCH && a->fill == FILL_ZERO;
  bool given =
      a->kind == CUGEN_ARGUMENT_INPUT || a->kind == CUGEN_ARGUMENT_INOUT || a->kind == CUGEN_ARGUMENT_CONSTANT;
  if (a->absent || !(given || zero)) return NULL;
  return a->data == DATA_FILL ? fill_kind_names[a->fill] : words[a->data];
}

void api_describe_argument(const struct kernel_argument *a, cugen_argument_info *out) {
  *out = (cugen_argument_info){.name = a->name,
                               .kind = a->kind,
                               .dtype = a->dtype->name,
                               .rank = a->rank,
                               .layout = a->column_major ? "col" : "row",
                               .bytes = a->absent || a->unused ? 0 : kernel_argument_bytes(a),
                               .memory = memory_kind_names[a->memory],
                               .compiled_in = a->compiled_in,
                               .absent = a->absent,
                               .overwrite = a->overwrite,
                               .data = data_word(a)};
  for (int i = 0; i < a->rank; i++) {
    out->shape[i] = a->shape[i];
    out->stride[i] = a->stride[i];
  }
}

/* Of a valid variant; of the first, what holds for all of them is evaluated with these. NULL: there is none. */
static int open_slots(cugen_kernel *k, uint64_t index, struct value **out, cugen_error *err) {
  struct variant variant;
  int status = api_space(k, err);
  *out = NULL;
  if (status || space_valid(k->space) == 0) return status;
  space_variant(k->space, index, &variant, k->values);
  struct value *slots = calloc(config_slot_count(k->config, variant.implementation) + 1, sizeof *slots);
  if (!slots) return error_memory(err);
  config_slots(k->config, &k->problem, &k->device.facts, slots);
  memcpy(slots + k->config->first_tunable, variant.values, variant.implementation->tunable_count * sizeof *slots);
  *out = slots;
  return CUGEN_OK;
}

int api_arguments(cugen_kernel *k, uint64_t index, struct kernel_argument *out, cugen_error *err) {
  struct value *slots;
  int status = open_slots(k, index, &slots, err);
  if (status) return status;
  status = slots ? config_arguments(k->config, slots, out, err) : space_explain_empty(k->space, err);
  free(slots);
  return status;
}

int api_products(cugen_kernel *k, const char **out, cugen_error *err) {
  struct value *slots;
  *out = NULL;
  if (!k->config->products) return CUGEN_OK;
  int status = open_slots(k, 0, &slots, err);
  if (!status && slots) status = config_products(k->config, slots, out, err);
  free(slots);
  return status;
}

int cugen_kernel_argument(cugen_kernel const *kernel, size_t index, cugen_argument_info *out, cugen_error *error) {
  cugen_kernel *k = (cugen_kernel *)(uintptr_t)kernel; /* the space is built lazily */
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  if (index >= k->config->argument_count) return no_such("argument", index, k->config->argument_count, error);
  int status = api_arguments(k, 0, arguments, error);
  if (status) return status;
  const struct config_data *data = &k->config->arguments[index].data;
  api_describe_argument(&arguments[index], out);
  if (out->data) out->data_from = data->kind == DATA_VALUES ? expr_text(data->values) : data->file;
  return CUGEN_OK;
}
