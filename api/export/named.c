/* Exports one variant that the user names (--variant) and nothing else: as the default of each
   device, with the code of each class of sizes. The bundle refuses sizes for which the variant is
   not valid. */
#include "base/error.h"
#include "export.h"

/* Makes `problem` the device's problem, and finds the variant's index in that problem's space.
   Tunables that the text leaves out get their first valid values on the first device and problem,
   and the same values on all others. */
static int named_find(struct exporter *x, size_t device, const struct problem *problem,
                      uint64_t *index, cugen_error *err) {
  struct lookup *l = &x->devices[device].lookup;
  const char *const text = x->named.length ? text_get(&x->named) : x->options->variant;
  int status = lookup_set_problem(l, problem, err);
  if (!status) status = lookup_space(l, err);
  if (!status && space_valid(l->space) == 0) status = space_explain_empty(l->space, err);
  if (!status) status = space_find(l->space, text, index, err);
  if (status || x->named.length) return status;
  lookup_print(l, *index, &x->named);
  return x->named.failed ? error_memory(err) : CUGEN_OK;
}

static int named_add(struct exporter *x, size_t device, uint64_t index, cugen_error *err) {
  size_t code;
  int status = export_add_variant(x, device, index, &code, NULL, err);
  if (!status && code == SIZE_MAX)
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "'%s' reads an input as a texture, which a bundle cannot: name a variant "
                       "that reads it otherwise",
                       text_get(&x->named));
  return status
             ? status
             : export_keep_default(x, (struct export_default){.device = device, .code = code}, err);
}

static int add_at(struct exporter *x, size_t device, const struct problem *problem,
                  cugen_error *err) {
  struct export_classes classes = {0};
  uint64_t index;
  int status = named_find(x, device, problem, &index, err);
  if (status) return error_prefix(err, "%s", x->devices[device].text), status;
  status = named_add(x, device, index, err);
  if (!status)
    status = export_classes_find(&x->devices[device].lookup, index, problem, &classes, err);
  for (size_t i = 0; i < classes.count && !status; i++) {
    cugen_error why;
    if (!export_class_open(&classes, i)) continue;
    const int found = named_find(x, device, &classes.problems[i], &index, &why);
    if (found == CUGEN_ERROR_MEMORY || found == CUGEN_ERROR_INTERRUPTED)
      status = error_copy(err, &why);
    /* A class for which the variant is not valid is skipped. */
    if (!found) export_class_serve(&classes, i), status = named_add(x, device, index, err);
  }
  export_classes_free(&classes);
  return status;
}

bool export_named_fits(struct exporter *x, struct lookup *l) {
  const char *const text = x->named.length ? text_get(&x->named) : x->options->variant;
  cugen_error ignored;
  uint64_t index;
  return !text || !space_find(l->space, text, &index, &ignored);
}

int export_named(struct exporter *x, size_t device, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->problem_count && !status; i++)
    status = add_at(x, device, &x->problems[i], err);
  return status || x->problem_count ? status : add_at(x, device, &x->base->problem, err);
}
