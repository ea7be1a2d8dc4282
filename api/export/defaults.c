/* The default variants of an export. A class is the values of a problem that are not sizes (dtype,
   layout); each class gets the defaults that plans would take for some sizes: the first try of the
   config that is valid, and the first valid variant. A variant that is known to fail or does not
   compile is left out. */
#include <stdlib.h>

#include "export.h"

/* Adds a variant for the device's problem. asked: the user wants this problem itself; otherwise a
   variant with compiled-in sizes is useless. *compiles as in export_try_code. */
static int defaults_add_variant(struct exporter *x, size_t device, uint64_t at, size_t try,
                                bool asked, bool *compiles, cugen_error *err) {
  struct export_code code;
  struct kernel_spec spec;
  size_t index = x->code_count;
  *compiles = true;
  int status = export_make_code(x, device, at, &code, &spec, err);
  if (status) return status;
  bool wanted = asked || !code.pinned;
  const struct kernel_argument *textured = wanted ? export_textured(&spec) : NULL;
  if (textured)
    status =
        error_set(err, CUGEN_ERROR_USAGE,
                  "the config's default variant, '%s', serves problems that were not tuned; it "
                  "reads '%s' as a texture, which a bundle cannot: put access \"global\" first",
                  spec.variant, textured->name);
  else if (wanted)
    status = export_try_code(x, &code, &spec, &index, compiles, err);
  export_code_free(&code);
  kernel_spec_free(&spec);
  return status || !wanted || !*compiles
             ? status
             : export_keep_default(x, (struct export_default){device, index, try}, err);
}

/* Makes `problem` the device's problem. Returns false if the try is no valid variant for the
   problem, if the problem's sizes are not valid together, or with *status set after a failure. */
static bool has_try(struct exporter *x, size_t device, const struct problem *problem, size_t try,
                    uint64_t *index, int *status, cugen_error *err) {
  struct lookup *l = &x->devices[device].lookup;
  *status = lookup_set_problem(l, problem, err);
  if (!*status) *status = lookup_space(l, err);
  if (!*status) return space_try(l->space, try, index);
  if (*status == CUGEN_ERROR_CONFIG) *status = CUGEN_OK;
  return false;
}

/* Adds the codes of a try for other classes of sizes. */
static int add_try_classes(struct exporter *x, size_t device, const struct problem *problem,
                           size_t try, cugen_error *err) {
  struct export_classes classes = {0};
  struct export_code code;
  struct kernel_spec spec;
  uint64_t index;
  int status;
  bool failing = false, compiles;
  if (!has_try(x, device, problem, try, &index, &status, err)) return status;
  status = export_is_failing(x, &x->devices[device].lookup, index, &failing, err);
  if (status || failing) return status;
  status = export_make_code(x, device, index, &code, &spec, err);
  if (status) return status;
  status = export_classes_find(&x->devices[device].lookup, index, problem, &classes, err);
  for (size_t i = 0; i < classes.count && !status; i++) {
    if (!export_class_open(&classes, i) ||
        !has_try(x, device, &classes.problems[i], try, &index, &status, err))
      continue;
    status = defaults_add_variant(x, device, index, try, true, &compiles, err);
    if (compiles) export_class_serve(&classes, i);
  }
  export_classes_free(&classes);
  export_code_free(&code);
  kernel_spec_free(&spec);
  return status;
}

/* Adds the tries that are valid and not known to fail: all of them if the user wants this problem,
   else the first. */
static int add_tries(struct exporter *x, size_t device, bool asked, bool *found, cugen_error *err) {
  const struct lookup *l = &x->devices[device].lookup;
  int status = CUGEN_OK;
  *found = false;
  for (size_t try = 0; try < config_tries(l->config) && (asked || !*found) && !status; try++) {
    uint64_t index;
    bool failing, compiles;
    if (!space_try(l->space, try, &index)) continue;
    status = export_is_failing(x, l, index, &failing, err);
    if (status || failing) continue;
    status = defaults_add_variant(x, device, index, try, asked, &compiles, err);
    *found |= compiles;
  }
  return status;
}

/* Adds the first variant that is valid, not known to fail, and compiles; gives up after
   API_MOST_CHOICES variants. */
static int add_first(struct exporter *x, size_t device, bool asked, cugen_error *err) {
  const struct lookup *l = &x->devices[device].lookup;
  const size_t behind_tries = config_tries(l->config);
  bool failing, compiles = false;
  int status = CUGEN_OK, choices = 0;
  for (uint64_t i = 0;
       i < space_valid(l->space) && !compiles && choices < API_MOST_CHOICES && !status; i++) {
    status = export_is_failing(x, l, i, &failing, err);
    if (status || failing) continue;
    status = defaults_add_variant(x, device, i, behind_tries, asked, &compiles, err);
    choices++;
  }
  return status;
}

/* Adds the default variant of a problem, as a plan takes it, and the first valid variant, which may
   serve where the default does not. asked: the user wants this problem, so all tries are added,
   also for other classes of sizes. */
static int defaults_add(struct exporter *x, size_t device, const struct problem *problem,
                        bool asked, cugen_error *err) {
  struct lookup *l = &x->devices[device].lookup;
  bool found;
  int status = lookup_set_problem(l, problem, err);
  if (!status) status = lookup_space(l, err);
  if (!status) status = add_tries(x, device, asked, &found, err);
  if (status) return status;
  status = add_first(x, device, asked, err);
  /* a try was added, so the device need not have the resources for the first variant */
  if (status && found && err->cause == CUGEN_CAUSE_RESOURCES) status = CUGEN_OK;
  for (size_t i = 0; i < config_tries(l->config) && asked && !status; i++)
    status = add_try_classes(x, device, problem, i, err);
  return status;
}

/* Sizes for which defaults are added: those of the base problem, those of the check problem, 1, and
   the base problem's as odd multiples of 1, 2, 4, ... 64. */
enum { PROBE_BASE, PROBE_CHECK, PROBE_ONE, PROBE_ODD, PROBES = PROBE_ODD + 7 };

static struct value defaults_probe(const cugen_kernel *base, size_t at, int which) {
  struct value own = base->problem.values[at], check = base->opened.config->problems[at].check;
  if (which == PROBE_CHECK) return check.type == VALUE_INT ? check : own;
  if (which == PROBE_ONE) return value_int(1);
  if (which == PROBE_BASE || own.integer < 1) return own;
  int shift = which - PROBE_ODD;
  return value_int((own.integer >> shift | 1) << shift);
}

static int add_class_defaults(struct exporter *x, size_t device, const struct problem *from,
                              cugen_error *err) {
  struct problem problem = {.count = from->count,
                            .values = calloc(from->count + 1, sizeof *problem.values)};
  int status = problem.values ? export_failing_open(x, device, err) : error_memory(err);
  if (!status) status = export_shipped(x, device, from, err);
  if (!status) status = defaults_add(x, device, from, true, err);
  for (int which = 0; which < PROBES && !status; which++) {
    for (size_t i = 0; i < from->count; i++)
      problem.values[i] = config_is_size(x->base->opened.config, i)
                              ? defaults_probe(x->base, i, which)
                              : from->values[i];
    status = defaults_add(x, device, &problem, which == PROBE_BASE, err);
    /* the probed sizes, for which the user did not ask, may be invalid together */
    if (status == CUGEN_ERROR_CONFIG) status = CUGEN_OK;
  }
  free(problem.values);
  return status;
}

int export_defaults(struct exporter *x, size_t device, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->tuned_count && !status; i++)
    if (x->tuned[i].device == device || export_stands_for_others(&x->devices[device]))
      status = add_class_defaults(x, device, &x->tuned[i].problem, err);
  for (size_t i = 0; i < x->problem_count && !status; i++)
    status = add_class_defaults(x, device, &x->problems[i], err);
  if (!status && !x->options->problems)
    status = add_class_defaults(x, device, &x->base->problem, err);
  return status;
}
