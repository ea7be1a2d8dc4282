/* Sizes around the check problem's; see sizes.h. */
#include "sizes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- Shapes ---- */

/* Whole tiles and more of them; less than one; more than the check problem's, and odd. */
enum shape { SHAPE_WHOLE, SHAPE_SMALL, SHAPE_LARGER, SHAPE_COUNT };
enum { TILE = 64, LARGE = 1 << 12 };

static int64_t shaped(enum shape shape, int64_t size) {
  int64_t tile = TILE;
  while (tile > size) tile /= 2;
  switch (shape) {
  case SHAPE_WHOLE: return (size + tile - 1) / tile * tile + tile;
  case SHAPE_SMALL: return (size / 8) | 1;
  case SHAPE_LARGER: return size < LARGE ? (2 * size + 3) | 1 : size | 1;
  default: return size;
  }
}

/* Of an implementation's own sizes, which it may need to be multiples of something and large: small ones are such
   multiples, too, and odd ones no larger. */
static int64_t shaped_own(enum shape shape, int64_t size) {
  int64_t multiple = 1;
  while (multiple < TILE && size % (2 * multiple) == 0) multiple *= 2;
  if (shape == SHAPE_SMALL) return (shaped(shape, size) + multiple - 1) / multiple * multiple;
  return shape == SHAPE_LARGER ? (size + 3) | 1 : shaped(shape, size);
}

static int64_t shape_of(const struct check_family *family, enum shape shape, int64_t size) {
  return family->owner ? shaped_own(shape, size) : shaped(shape, size);
}

/* ---- How large a problem is ---- */

/* Of the first of its steps. */
static double launch_threads(const struct config_launch *launch, struct value *slots) {
  double threads = 1;
  cugen_error ignored;
  if (launch->steps) slots[launch->step_slot] = value_int(0), slots[launch->steps_slot] = value_int(1);
  for (int i = 0; i < 3; i++) {
    const struct expr *extents[] = {launch->grid[i], launch->block[i]};
    for (int e = 0; e < 2; e++) {
      struct value value = value_int(1);
      if (extents[e] && expr_eval(extents[e], slots, &value, &ignored)) return -1;
      threads *= value.type == VALUE_INT && value.integer > 0 ? (double)value.integer : 1;
    }
  }
  return threads;
}

/* Bytes of all buffers and threads of all launches; below 0: there is no such problem. */
static double extent_of(const struct tune_target *target, const struct problem *problem,
                        const struct variant *variant) {
  const struct config *config = target->config;
  const size_t count = config_slot_count(config, variant->implementation);
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  cugen_error ignored;
  struct value *slots = calloc(count + 3, sizeof *slots);
  if (!slots) return -1;
  config_slots(config, problem, &target->device->facts, slots);
  memcpy(slots + config->first_tunable, variant->values, variant->implementation->tunable_count * sizeof *slots);
  double extent = config_arguments(config, slots, arguments, &ignored) ? -1 : 0;
  for (size_t i = 0; i < config->argument_count && extent >= 0; i++)
    if (arguments[i].rank) extent += (double)kernel_argument_bytes(&arguments[i]);
  for (size_t i = 0; i < variant->implementation->launch_count && extent >= 0; i++) {
    const double threads = launch_threads(&variant->implementation->launches[i], slots);
    extent = threads < 0 ? -1 : extent + threads;
  }
  free(slots);
  return extent;
}

/* ---- Which parameters are sizes ---- */

static bool is_whole_number(const struct value *value) {
  return value && value->type == VALUE_INT;
}

/* What may be a size: a check { } gives it a value. */
static bool is_candidate(const struct tune_target *target, const struct check_options *options,
                         const struct check_family *family, const struct problem *base, size_t i) {
  const struct config_problem *p = &target->config->problems[i];
  const struct value *own = family->owner ? &family->owner->check[i] : NULL;
  return (is_whole_number(&p->check) || is_whole_number(own)) && !p->listed && !check_list_fixed(options, p->name) &&
         is_whole_number(&base->values[i]) && base->values[i].integer > 3;
}

struct growth { /* of a problem as one parameter takes its other values */
  bool known, changes;
  double most; /* times what it was, where that is more than any size explains; else 0 */
  int64_t at;
};

static void compare(double before, double after, double factor, int64_t at, struct growth *out) {
  if (before <= 0 || after < 0) return;
  out->known = true;
  out->changes |= after < before || after > before;
  if (after > 2 * factor * factor * factor * before && after > out->most * before) {
    out->most = after / before;
    out->at = at;
  }
}

/* Over the first variant of each implementation that has one. */
static int find_growth(const struct tune_target *target, const struct check_list *list,
                       const struct check_family *family, size_t i, struct growth *out, cugen_error *err) {
  const struct check_problem *base = &list->problems[family->first];
  size_t count;
  const struct space_implementation *all = space_implementations(base->space, &count);
  struct value *values = calloc(space_max_tunables(base->space) + 1, sizeof *values);
  struct value *changed = calloc(base->problem.count + 1, sizeof *changed);
  const int64_t size = base->problem.values[i].integer;
  *out = (struct growth){0};
  for (size_t n = 0; n < count && values && changed; n++) {
    struct variant variant;
    if (!all[n].valid) continue;
    space_variant(base->space, all[n].first, &variant, values);
    const double before = extent_of(target, &base->problem, &variant);
    memcpy(changed, base->problem.values, base->problem.count * sizeof *changed);
    for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
      const int64_t other = shape_of(family, shape, size);
      changed[i] = value_int(other);
      const struct problem problem = {.values = changed, .count = base->problem.count};
      const double factor = other > size ? (double)other / (double)size : 1;
      compare(before, extent_of(target, &problem, &variant), factor, other, out);
    }
  }
  const bool done = values && changed;
  free(values);
  free(changed);
  return done ? CUGEN_OK : error_memory(err);
}

static int keep(struct check_list *list, const char *name, int64_t value, const struct growth *growth,
                cugen_error *err) {
  struct text why = {0}, setting = {0};
  struct check_kept *grown = array_grow(list->kept, list->kept_count, sizeof *grown);
  if (!grown) return error_memory(err);
  list->kept = grown;
  text_addf(&setting, "%s=%lld", name, (long long)value);
  if (growth->most > 0)
    text_addf(&why, "with %s=%lld data and threads would be %.0f times as many: it is no size", name,
              (long long)growth->at, growth->most);
  else
    text_add(&why, "neither buffers nor launches depend on it: it is no size");
  struct check_kept *kept = &grown[list->kept_count++];
  *kept = (struct check_kept){text_take(&setting), text_take(&why)};
  if (!kept->setting || !kept->why) return error_memory(err);
  for (size_t i = 0; i + 1 < list->kept_count; i++) { /* another family may keep it as well */
    if (strcmp(list->kept[i].setting, kept->setting) != 0) continue;
    free(kept->setting);
    free(kept->why);
    list->kept_count--;
    break;
  }
  return CUGEN_OK;
}

/* sizes[i]: whether the i-th parameter varies. */
static int find_sizes(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                      size_t number, bool *sizes, cugen_error *err) {
  const struct check_family *family = &list->families[number];
  const struct problem *base = &list->problems[family->first].problem;
  int status = CUGEN_OK;
  for (size_t i = 0; i < base->count && !status; i++) {
    struct growth growth;
    sizes[i] = is_candidate(target, options, family, base, i);
    if (!sizes[i]) continue;
    status = find_growth(target, list, family, i, &growth, err);
    sizes[i] = !growth.known || (growth.changes && growth.most <= 0);
    if (!status && !sizes[i])
      status = keep(list, target->config->problems[i].name, base->values[i].integer, &growth, err);
  }
  return status;
}

static int add_shapes(struct check_list *list, size_t number, const bool *sizes, cugen_error *err) {
  struct check_family *family = &list->families[number];
  const struct problem base = list->problems[family->first].problem;
  bool vary = false;
  for (size_t i = 0; i < base.count; i++) vary |= sizes[i];
  for (enum shape shape = 0; shape < SHAPE_COUNT && vary; shape++) {
    struct problem *p = check_list_problem(list, number, &base, err);
    if (!p) return CUGEN_ERROR_MEMORY;
    list->problems[list->problem_count - 1].whole = shape == SHAPE_WHOLE;
    for (size_t i = 0; i < p->count; i++)
      if (sizes[i]) p->values[i] = value_int(shape_of(family, shape, base.values[i].integer));
  }
  family->count = list->problem_count - family->first;
  return CUGEN_OK;
}

int check_sizes_add(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                    size_t number, cugen_error *err) {
  bool *sizes = calloc(target->config->problem_count + 1, sizeof *sizes);
  if (!sizes) return error_memory(err);
  int status = find_sizes(target, options, list, number, sizes, err);
  if (!status) status = add_shapes(list, number, sizes, err);
  free(sizes);
  return status;
}
