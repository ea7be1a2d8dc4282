/* Finds the variant that a text names, and its source. */
#include <string.h>

#include "api.h"
#include "runtime/plan.h"
#include "source.h"

/* *how: a variant that is named counts as pinned. */
static int find_variant(cugen_kernel *k, const char *variant, uint64_t *index,
                        cugen_plan_choice *how, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct selection selection;
  *how = CUGEN_PLAN_PINNED;
  int status = lookup_space(l, err);
  if (status) return status;
  if (space_valid(l->space) == 0) return space_explain_empty(l->space, err);
  const bool best = variant && strcmp(variant, "best") == 0;
  if (variant && !best) return space_find(l->space, variant, index, err);

  status = api_select(l, best ? -1 : 0, false, &selection, err);
  *index = selection.index;
  *how = selection.how;
  api_selection_free(&selection);
  if (status || !best || *how != CUGEN_PLAN_DEFAULT) return status;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "nothing is remembered for %s %s on %s; run 'cugen tune' first, or name a "
                   "variant ('cugen cache why' explains)",
                   l->config->name, text_get(&k->problem_short), l->device.name);
}

int api_find_variant(cugen_kernel *k, const char *variant, uint64_t *index, cugen_error *err) {
  cugen_plan_choice how;
  return find_variant(k, variant, index, &how, err);
}

/* Finds the variant, stores its index and text, and expands it. */
static int expand_text(cugen_kernel *k, const char *variant, uint64_t *index,
                       cugen_plan_choice *how, struct kernel_spec *out, cugen_error *err) {
  const char *text;
  *index = 0;
  int status = find_variant(k, variant, index, how, err);
  if (!status) status = api_variant_text(k, *index, &text, err);
  if (!status) status = lookup_expander(&k->lookup, err);
  return status ? status : lookup_expand_known(&k->lookup, *index, out, err);
}

int api_expand_text(cugen_kernel *k, const char *variant, struct kernel_spec *out,
                    cugen_error *err) {
  cugen_plan_choice how;
  uint64_t index;
  return expand_text(k, variant, &index, &how, out, err);
}

int api_kernel_complete(cugen_kernel *k, const char *variant, cugen_error *error) {
  struct kernel_spec spec = {0};
  cugen_plan_choice how;
  uint64_t index;
  int status = expand_text(k, variant, &index, &how, &spec, error);
  const struct lookup *l = &k->lookup;
  if (!status) {
    const struct variant chosen = lookup_variant(l, index);
    status = expand_proofs(l->opened->expander, l->config, l->problem, &l->device.facts, &chosen,
                           &spec, error);
  }
  kernel_spec_free(&spec);
  return status;
}

int cugen_kernel_source(cugen_kernel *k, const char *variant, const char **source,
                        const char **name, cugen_error *error) {
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

/* Compiles the variant for a GPU. ptx: the PTX is wanted, else the occupancy. *goes_on: another
   choice may compile. Free the spec and the image also after a failure. */
static int compile_once(cugen_kernel *k, const char *variant, bool ptx, struct kernel_spec *spec,
                        struct compiled *out, bool *goes_on, cugen_error *err) {
  struct lookup *l = &k->lookup;
  cugen_plan_choice how;
  uint64_t index;
  *goes_on = false;
  *spec = (struct kernel_spec){0};
  *out = (struct compiled){0};
  if (!l->device.facts.is_gpu)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s is for GPUs, and this is the cpu device; name a GPU with "
                     "cugen_options.device, such as model:H200",
                     ptx ? "PTX" : "occupancy");
  int status = api_check_target(l->lib, &l->device, err);
  if (!status) status = expand_text(k, variant, &index, &how, spec, err);
  if (status) return status;
  if (config_calls_library(l->config, spec->variant))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "'%s' is a library's kernel, whose %s is not known: name another variant",
                     spec->variant, ptx ? "PTX" : "occupancy");
  status = lookup_compile(l, spec, ptx, out, err);
  *goes_on = status && api_pass_over(l, how, spec->variant, status);
  return status;
}

/* Like compile_once, but passes over choices that do not compile, as a plan does. The kernel's
   choice is then the one that compiles. If none does, the error is that of the first one. */
static int compile_text(cugen_kernel *k, const char *variant, bool ptx, struct kernel_spec *spec,
                        struct compiled *out, cugen_error *err) {
  cugen_error later;
  bool goes_on;
  const int status = compile_once(k, variant, ptx, spec, out, &goes_on, err);
  for (int i = 1; i < API_MOST_CHOICES && goes_on; i++) {
    kernel_spec_free(spec);
    if (!compile_once(k, variant, ptx, spec, out, &goes_on, &later)) return CUGEN_OK;
  }
  if (status) lookup_forget_dropped(&k->lookup);
  return status;
}

int api_kernel_resources(cugen_kernel *k, const char *variant, cugen_resources *out,
                         cugen_error *error) {
  struct kernel_spec spec;
  struct compiled compiled;
  *out = (cugen_resources){0};
  int status = compile_text(k, variant, false, &spec, &compiled, error);
  if (!status && spec.launches) {
    const struct kernel_launch *launch = &spec.launches[plan_heaviest(&spec, &compiled)];
    const struct kernel_resources *takes =
        &compiled.resources[plan_entry_index(&spec, launch->entry)];
    *out = (cugen_resources){
        .registers = takes->registers,
        .threads = (int)((int64_t)launch->block[0] * launch->block[1] * launch->block[2]),
        .shared_bytes = takes->static_shared + launch->shared_bytes,
        .has_carveout = launch->has_carveout,
        .carveout = launch->carveout};
  }
  kernel_spec_free(&spec);
  compiled_free(&compiled);
  return status;
}

int api_kernel_accepts(cugen_kernel *k, const char *variant, cugen_error *error) {
  struct kernel_spec spec = {0};
  if (k->lookup.device.facts.is_gpu) return CUGEN_OK;
  int status = api_expand_text(k, variant, &spec, error);
  if (!status) status = lookup_accepts(&k->lookup, &spec, error);
  kernel_spec_free(&spec);
  return status;
}

int api_kernel_ptx(cugen_kernel *k, const char *variant, const char **ptx, cugen_error *error) {
  struct kernel_spec spec;
  struct compiled compiled;
  *ptx = NULL;
  int status = compile_text(k, variant, true, &spec, &compiled, error);
  kernel_spec_free(&spec);
  text_restart(&k->ptx);
  if (!status) text_add(&k->ptx, compiled.ptx);
  compiled_free(&compiled);
  if (status) return status;
  if (k->ptx.failed) return error_memory(error);
  *ptx = text_get(&k->ptx);
  return CUGEN_OK;
}
