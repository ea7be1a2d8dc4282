/* Choosing problems and variants; see selection.h. */
#include "selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- Problems ------------------------------------------------------------------------------- */

/* Adds a problem for each other value of a parameter that lists its values and is not fixed. */
static int add_others(const struct tune_target *target, const struct check_options *options,
                      struct check_list *list, size_t family, cugen_error *err) {
  const struct problem base = list->problems[list->families[family].first].problem;
  for (size_t i = 0; i < base.count; i++) {
    const struct config_problem *listed = &target->config->problems[i];
    if (!listed->listed || check_list_fixed(options, listed->name)) continue;
    for (size_t v = 0; v < listed->value_count; v++) {
      if (value_equal(listed->values[v], base.values[i])) continue;
      struct problem *p = check_list_problem(list, family, &base, err);
      if (!p) return CUGEN_ERROR_MEMORY;
      p->values[i] = listed->values[v];
    }
  }
  return CUGEN_OK;
}

/* Adds the family of the owner's check { } (NULL: of the kernel's), or finds an earlier family
   whose first problem is equal. *out becomes the family's number. */
static int add_family(const struct tune_target *target, const struct check_options *options,
                      struct check_list *list, const struct config_implementation *owner,
                      size_t *out, cugen_error *err) {
  const size_t number = list->family_count, first = list->problem_count;
  struct problem *base = check_list_problem(list, number, target->problem, err);
  if (!base) return CUGEN_ERROR_MEMORY;
  for (size_t i = 0; owner && i < base->count; i++)
    if (owner->check[i].type != VALUE_NIL &&
        !check_list_fixed(options, target->config->problems[i].name))
      base->values[i] = owner->check[i];
  for (*out = 0; *out < number; ++*out) {
    const struct problem *known = &list->problems[list->families[*out].first].problem;
    if (!check_list_equal(base, known->values)) continue;
    check_list_drop(list);
    return CUGEN_OK;
  }
  list->families[list->family_count++] =
      (struct check_family){.owner = owner, .first = first, .count = 1};
  const int status = check_list_open(target, &list->problems[first], err);
  return status ? status : check_sizes_add(target, options, list, number, err);
}

/* Makes the families; for a named variant, only the family of the variant's implementation. */
static int make_families(const struct tune_target *target, const struct check_options *options,
                         struct check_list *list, cugen_error *err) {
  const struct config *config = target->config;
  const struct config_implementation *named = NULL;
  list->families = calloc(config->implementation_count + 1, sizeof *list->families);
  list->family_of = calloc(config->implementation_count + 1, sizeof *list->family_of);
  if (!list->families || !list->family_of) return error_memory(err);
  for (size_t i = 0; i < config->implementation_count && options->wanted.variant; i++)
    if (variant_is_of(options->wanted.variant, config->implementations[i].name))
      named = &config->implementations[i];
  size_t ignored;
  int status =
      add_family(target, options, list, named && named->check ? named : NULL, &ignored, err);
  for (size_t i = 0; i < config->implementation_count && !options->wanted.variant && !status; i++)
    if (config->implementations[i].check)
      status =
          add_family(target, options, list, &config->implementations[i], &list->family_of[i], err);
  return status;
}

static int make_problems(const struct tune_target *target, const struct check_options *options,
                         struct check_list *list, cugen_error *err) {
  int status = make_families(target, options, list, err);
  bool values = !options->wanted.variant && !options->wanted.all && !options->wanted.sample &&
                !options->wanted.branches;
  for (size_t f = 0; f < list->family_count && values && !status; f++)
    status = add_others(target, options, list, f, err);
  for (size_t i = 0; i < list->problem_count && !status; i++)
    if (!list->problems[i].space) status = check_list_open(target, &list->problems[i], err);
  return status;
}

/* ---- Variants ------------------------------------------------------------------------------- */

static int selection_by_text(const void *a, const void *b) {
  const struct check_run *x = *(const struct check_run *const *)a,
                         *y = *(const struct check_run *const *)b;
  return (x->text > y->text) - (x->text < y->text);
}

static int selection_number_variants(struct check_list *list, cugen_error *err) {
  struct check_run **sorted = calloc(list->run_count + 1, sizeof *sorted);
  if (!sorted) return error_memory(err);
  for (size_t i = 0; i < list->run_count; i++) sorted[i] = &list->runs[i];
  qsort(sorted, list->run_count, sizeof *sorted, selection_by_text);
  for (size_t i = 0; i < list->run_count; i++) {
    list->variant_count += i == 0 || sorted[i]->text != sorted[i - 1]->text;
    sorted[i]->variant = list->variant_count - 1;
  }
  free(sorted);
  return CUGEN_OK;
}

static int add_named(const struct tune_target *target, struct check_list *list, const char *text,
                     cugen_error *err) {
  uint64_t index = 0;
  int status = space_find(list->problems[0].space, text, &index, err);
  if (status) check_list_explain(target, list, text, err);
  if (!status) status = check_list_variant(list, 0, index, 0, err);
  return status ? status : check_sizes_around(target, list, 0, index, 0, err);
}

/* Adds the variant with this number among the variants of all families: on all problems of its
   family, and on one problem with sizes around its tiles, which depends on `only`. */
static int add_numbered(const struct tune_target *target, struct check_list *list, uint64_t number,
                        size_t only, cugen_error *err) {
  size_t i = 0, count;
  const struct space_implementation *implementation = check_list_home(list, i, &count);
  for (; number >= implementation->valid; implementation = check_list_home(list, ++i, &count))
    number -= implementation->valid;
  const size_t family = list->family_of[i];
  const uint64_t index = implementation->first + number;
  const int status = check_list_variant(list, family, index, 0, err);
  return status ? status : check_sizes_around(target, list, family, index, only, err);
}

static int selection_choose(const struct tune_target *target, const struct check_options *options,
                            struct check_list *out, cugen_error *err) {
  uint64_t state = options->wanted.seed;
  int status = make_problems(target, options, out, err);
  if (status) return status;
  const uint64_t valid = check_list_valid(out);
  if (!valid) return space_explain_empty(out->problems[0].space, err);
  if (options->wanted.variant) return add_named(target, out, options->wanted.variant, err);
  if (options->wanted.branches) return check_sample_branches(out, target, options, &state, err);
  if (!options->wanted.all && !options->wanted.sample)
    return check_sample_values(out, target, &state, err);
  const uint64_t wanted =
      options->wanted.all || options->wanted.sample > valid ? valid : options->wanted.sample;
  for (uint64_t i = 0; i < wanted && !status; i++)
    status = add_numbered(target, out, wanted == valid ? i : random_next(&state) % valid,
                          (size_t)i + 1, err);
  return status;
}

int check_select(const struct tune_target *target, const struct check_options *options,
                 struct check_list *out, cugen_error *err) {
  *out = (struct check_list){0};
  const int status = selection_choose(target, options, out, err);
  return status ? status : selection_number_variants(out, err);
}
