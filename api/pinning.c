/* Pinned choices: a plan takes the variant that the bytes name, if the variant expands here to the
   kernel that was saved. */
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "choice.h"

/* ---- Saving --------------------------------------------------------------------------------- */

static void write_target(const struct lookup *l, struct text *out) {
  text_addf(out, "%s %s", l->ops->kind, l->arch);
}

int api_write_choice(const struct lookup *l, const struct kernel_spec *spec, struct text *out,
                     cugen_error *err) {
  struct text target = {0};
  /* the choice is only printed, so the casts are safe */
  struct kernel_spec *s = (struct kernel_spec *)(uintptr_t)spec;
  write_target(l, &target);
  const struct choice choice = {.kernel = (char *)(uintptr_t)l->config->name,
                                .problem = (char *)(uintptr_t)text_get(&l->problem_text),
                                .variant = s->variant,
                                .target = (char *)(uintptr_t)text_get(&target),
                                .source = s->source_hash.hex,
                                .launches = s->launches_hash.hex,
                                .arguments = s->arguments_hash.hex};
  if (!target.failed) choice_print(&choice, out);
  bool failed = target.failed || out->failed;
  text_free(&target);
  return failed ? error_memory(err) : CUGEN_OK;
}

/* ---- Taking a choice ------------------------------------------------------------------------ */

static bool is_for(const struct choice *choice, const struct lookup *l) {
  return strcmp(choice->kernel, l->config->name) == 0 &&
         strcmp(choice->problem, text_get(&l->problem_text)) == 0;
}

static int check_target(const struct choice *choice, const struct lookup *l, cugen_error *err) {
  struct text target = {0};
  write_target(l, &target);
  bool same = strcmp(text_get(&target), choice->target) == 0;
  int status = target.failed ? error_memory(err) : CUGEN_OK;
  if (!status && !same)
    status = error_set(err, CUGEN_ERROR_USAGE, "the pinned choice of %s %s is for %s, and %s is %s",
                       choice->kernel, choice->problem, choice->target, l->device.name,
                       text_get(&target));
  text_free(&target);
  return status;
}

static int check_same(const struct choice *choice, const struct kernel_spec *spec,
                      cugen_error *err) {
  const char *const parts[][3] = {{"source", choice->source, spec->source_hash.hex},
                                  {"launches", choice->launches, spec->launches_hash.hex},
                                  {"arguments", choice->arguments, spec->arguments_hash.hex}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(parts[i][1], parts[i][2]) != 0)
      return error_set(err, CUGEN_ERROR_USAGE,
                       "the pinned choice of %s %s is '%s' with other %s than here (%.8s, here "
                       "%.8s): the config, a template or the device differs. Save the choice again",
                       choice->kernel, choice->problem, choice->variant, parts[i][0], parts[i][1],
                       parts[i][2]);
  return CUGEN_OK;
}

/* Takes the choice's variant with its expansion, which the plan uses. Fails unless the target, the
   source, the launches and the arguments are those of the choice. */
static int pinning_take(struct lookup *l, const struct choice *choice, struct selection *out,
                        cugen_error *err) {
  cugen_error why;
  int status = check_target(choice, l, err);
  if (!status) status = lookup_prepare(l, err);
  if (status) return status;
  if (space_find(l->space, choice->variant, &out->index, &why))
    return why.status == CUGEN_ERROR_MEMORY
               ? error_memory(err)
               : error_set(err, CUGEN_ERROR_USAGE,
                           "the pinned choice of %s %s is not valid here: %s", choice->kernel,
                           choice->problem, why.message);
  status = lookup_expand(l, out->index, &out->best.spec, err);
  if (!status) status = check_same(choice, &out->best.spec, err);
  if (status) return status;
  out->how = CUGEN_PLAN_PINNED;
  out->best.index = out->index;
  out->best.found = true;
  return CUGEN_OK;
}

int api_select_bytes(struct lookup *l, const void *bytes, size_t size, struct selection *out,
                     cugen_error *err) {
  struct choice choice;
  size_t used;
  *out = (struct selection){0};
  int status = choice_parse(bytes, size, &choice, &used, err);
  if (status) return status;
  if (used != size)
    status = error_set(err, CUGEN_ERROR_CACHE,
                       "not a choice that cugen_plan_save wrote: %zu bytes follow it", size - used);
  else if (!is_for(&choice, l))
    status = error_set(err, CUGEN_ERROR_USAGE, "the choice is for %s %s, the kernel is %s %s",
                       choice.kernel, choice.problem, l->config->name, text_get(&l->problem_text));
  if (!status) status = pinning_take(l, &choice, out, err);
  choice_free(&choice);
  return status;
}

/* ---- From a file ---------------------------------------------------------------------------- */

static int find_in(struct lookup *l, const struct text *content, struct selection *out, bool *found,
                   cugen_error *err) {
  cugen_error why;
  int status = CUGEN_OK;
  if (!content->length)
    return error_set(err, CUGEN_ERROR_CACHE,
                     "%s: %s: is empty; write the bytes of cugen_plan_save there, or leave it out "
                     "to pin nothing",
                     l->lib->pin_from, l->lib->pin);
  for (size_t at = 0, used = 0; at < content->length && !status && !*found; at += used) {
    struct choice choice;
    status = choice_parse(text_get(content) + at, content->length - at, &choice, &used, &why);
    if (status) break;
    *found = is_for(&choice, l);
    if (*found) status = pinning_take(l, &choice, out, &why);
    choice_free(&choice);
  }
  return status ? error_set(err, status, "%s: %s: %s", l->lib->pin_from, l->lib->pin, why.message)
                : CUGEN_OK;
}

int api_select_pinned(struct lookup *l, struct selection *out, bool *found, cugen_error *err) {
  struct text content = {0};
  cugen_error why;
  *out = (struct selection){0};
  *found = false;
  if (!l->lib->pin) return CUGEN_OK;
  int status = file_read(l->lib->pin, &content, &why);
  status = status ? error_set(err, status,
                              "%s: %s; write the bytes of cugen_plan_save there, or leave it out "
                              "to pin nothing",
                              l->lib->pin_from, why.message)
                  : find_in(l, &content, out, found, err);
  text_free(&content);
  return status;
}
