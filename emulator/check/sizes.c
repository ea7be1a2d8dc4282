/* Choosing sizes around the check problem's, and around tiles; see list.h. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- Sizes of a family ---------------------------------------------------------------------- */

static int sizes_keep(struct check_list *list, const char *name, int64_t value,
                      const struct size_growth *growth, cugen_error *err) {
  struct text why = {0}, setting = {0};
  if (!ARRAY_ROOM(list->kept, list->kept_count)) return error_memory(err);
  text_addf(&setting, "%s=%lld", name, (long long)value);
  if (growth->most > 0)
    text_addf(&why, "with %s=%lld data and threads would be %.0f times as many: it is no size",
              name, (long long)growth->at, growth->most);
  else
    text_add(&why, "neither buffers nor launches depend on it: it is no size");
  cugen_check_kept *kept = &list->kept[list->kept_count++];
  *kept = (cugen_check_kept){text_take(&setting), text_take(&why)};
  if (!kept->setting || !kept->why) return error_memory(err);
  /* another family may keep the setting as well */
  for (size_t i = 0; i + 1 < list->kept_count; i++) {
    if (strcmp(list->kept[i].setting, kept->setting) != 0) continue;
    free(kept->setting);
    free(kept->why);
    list->kept_count--;
    break;
  }
  return CUGEN_OK;
}

static int open_sizes(const struct tune_target *target, const struct check_options *options,
                      struct check_list *list, size_t number, cugen_error *err) {
  struct check_family *family = &list->families[number];
  const struct check_problem *base = &list->problems[family->first];
  bool *fixed = calloc(base->problem.count + 1, sizeof *fixed);
  if (!fixed) return error_memory(err);
  for (size_t i = 0; i < base->problem.count; i++)
    fixed[i] = check_list_fixed(options, target->config->problems[i].name);
  family->base = base->problem;
  int status = sizes_open(target->config, &target->device->facts, &family->base, options->whole,
                          base->space, family->owner, fixed, &family->sizes, err);
  free(fixed);
  for (size_t i = 0; i < family->base.count && !status; i++)
    if (family->sizes.growth[i].known && !family->sizes.vary[i])
      status = sizes_keep(list, target->config->problems[i].name, family->base.values[i].integer,
                          &family->sizes.growth[i], err);
  return status;
}

static int sizes_add_problem(struct check_list *list, size_t number, const struct value *values,
                             cugen_error *err) {
  const struct check_family *family = &list->families[number];
  struct problem *p = check_list_problem(list, number, &family->base, err);
  if (!p) return CUGEN_ERROR_MEMORY;
  memcpy(p->values, values, p->count * sizeof *values);
  return CUGEN_OK;
}

int check_sizes_add(const struct tune_target *target, const struct check_options *options,
                    struct check_list *list, size_t number, cugen_error *err) {
  struct check_family *family = &list->families[number];
  struct size_list sizes = {0};
  int status = open_sizes(target, options, list, number, err);
  if (!status) status = sizes_plain(&family->sizes, &sizes, err);
  for (size_t i = 0; i < sizes.count && !status; i++) {
    status = sizes_add_problem(list, number, sizes.values + i * family->base.count, err);
    if (!status) list->problems[list->problem_count - 1].whole = i == 0;
  }
  family->count = list->problem_count - family->first;
  free(sizes.values);
  return status;
}

/* ---- Sizes around a variant's tiles --------------------------------------------------------- */

/* The most problems around tiles in a family. */
enum { MOST_AROUND = 48 };

/* Finds or appends the family's problem with these values. *out becomes SIZE_MAX if the problem is
   impossible, or the family has MOST_AROUND problems around tiles already. */
static int sizes_find_problem(const struct tune_target *target, struct check_list *list,
                              size_t number, const struct value *values, size_t *out,
                              cugen_error *err) {
  size_t around = 0;
  for (*out = 0; *out < list->problem_count; ++*out) {
    const struct check_problem *p = &list->problems[*out];
    if (p->family != number) continue;
    if (check_list_equal(&p->problem, values)) return CUGEN_OK;
    around += p->around;
  }
  *out = SIZE_MAX;
  if (around == MOST_AROUND) return CUGEN_OK;
  int status = sizes_add_problem(list, number, values, err);
  if (status) return status;
  struct check_problem *added = &list->problems[list->problem_count - 1];
  added->around = true;
  status = check_list_open(target, added, err);
  if (status == CUGEN_OK) *out = list->problem_count - 1;
  if (status) check_list_drop(list);
  const bool fatal = status == CUGEN_ERROR_MEMORY || status == CUGEN_ERROR_INTERRUPTED;
  return fatal ? status : CUGEN_OK; /* impossible sizes are skipped */
}

static int run_around(const struct tune_target *target, struct check_list *list, size_t number,
                      const char *text, const struct size_list *sizes, size_t only,
                      cugen_error *err) {
  const size_t count = list->families[number].base.count;
  int status = CUGEN_OK;
  bool ran = false;
  for (size_t i = 0; i < sizes->count && !status && !(only && ran); i++) {
    const size_t which = (only + i) % sizes->count;
    size_t problem;
    uint64_t there;
    status = sizes_find_problem(target, list, number, sizes->values + which * count, &problem, err);
    if (status || problem == SIZE_MAX ||
        !space_look_up(list->problems[problem].space, text, &there))
      continue;
    ran = !check_list_ran(list, problem, there);
    if (ran) status = check_list_run(list, problem, there, err);
  }
  return status;
}

int check_sizes_around(const struct tune_target *target, struct check_list *list, size_t number,
                       uint64_t index, size_t only, cugen_error *err) {
  const struct check_family *family = &list->families[number];
  const struct space *space = list->problems[family->first].space;
  struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
  struct size_list sizes = {0};
  struct text text = {0};
  struct variant variant;
  if (!values) return error_memory(err);
  space_variant(space, index, &variant, values);
  variant_print(&variant, &text);
  int status =
      text.failed ? error_memory(err) : sizes_around(&family->sizes, &variant, &sizes, err);
  if (!status) status = run_around(target, list, number, text_get(&text), &sizes, only, err);
  free(sizes.values);
  text_free(&text);
  free(values);
  return status;
}
