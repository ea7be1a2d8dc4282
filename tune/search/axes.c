/* The axes of a config's space; see axes.h. Tunables of one name form one axis for all
   implementations, with all values that any implementation has, so that what is learnt of a tunable
   applies to all implementations. If there are several implementations, they form the first axis,
   an axis of words. A space with too many axes or values (fits) has no axes; strategies then know
   variants only by number. */
#include "axes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct axis_values { /* The values of one axis. */
  const char *name;
  struct value *values; /* in order, without duplicates */
  size_t count;
  double *numbers; /* NULL: not all values are numbers */
};

struct own { /* A tunable of an implementation. */
  size_t axis;
  uint16_t *positions; /* position on the axis of each of the tunable's values */
  /* By position on the axis: index of the tunable's value; STRATEGY_ABSENT: the tunable lacks the
     axis's value. */
  uint16_t *places;
};

struct axes {
  const struct space *space;
  const struct space_implementation *implementations;
  size_t implementation_count;
  struct own **own; /* by implementation, then tunable */
  struct axis_values *all;
  struct strategy_axis *axes;
  size_t count, first; /* first: 1 if the implementations are an axis, else 0 */
};

/* ---- Values --------------------------------------------------------------------------------- */

static bool axes_is_number(struct value v) {
  return v.type == VALUE_INT || v.type == VALUE_FLOAT || v.type == VALUE_BOOL;
}

static double axes_number(struct value v) {
  if (v.type == VALUE_BOOL) return v.boolean;
  return v.type == VALUE_INT ? (double)v.integer : v.real;
}

/* Numbers are sorted and come before words, which keep the config's order. */
static bool axes_goes_before(struct value a, struct value b) {
  if (axes_is_number(a) && axes_is_number(b)) return axes_number(a) < axes_number(b);
  return axes_is_number(a) && !axes_is_number(b);
}

static size_t axes_place_of(const struct axis_values *axis, struct value value) {
  size_t at = 0;
  while (at < axis->count && !value_equal(axis->values[at], value)) at++;
  return at;
}

static bool axes_add_value(struct axis_values *axis, struct value value) {
  if (axes_place_of(axis, value) < axis->count) return true;
  if (!ARRAY_ROOM(axis->values, axis->count)) return false;
  size_t at = axis->count++;
  for (; at > 0 && axes_goes_before(value, axis->values[at - 1]); at--)
    axis->values[at] = axis->values[at - 1];
  axis->values[at] = value;
  return true;
}

static struct axis_values *axis_named(struct axes *a, const char *name) {
  size_t i = a->first;
  while (i < a->count && strcmp(a->all[i].name, name) != 0) i++;
  if (i < a->count) return &a->all[i];
  a->all[a->count] = (struct axis_values){.name = name};
  return &a->all[a->count++];
}

static bool set_numbers(struct axis_values *axis) {
  for (size_t i = 0; i < axis->count; i++)
    if (!axes_is_number(axis->values[i])) return true;
  axis->numbers = calloc(axis->count + 1, sizeof *axis->numbers);
  for (size_t i = 0; i < axis->count && axis->numbers; i++)
    axis->numbers[i] = axes_number(axis->values[i]);
  return axis->numbers;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static const struct config_implementation *implementation(const struct axes *a, size_t i) {
  return a->implementations[i].implementation;
}

static size_t most_axes(const struct axes *a) {
  size_t most = 1;
  for (size_t i = 0; i < a->implementation_count; i++) most += implementation(a, i)->tunable_count;
  return most;
}

static bool axes_collect(struct axes *a) {
  a->first = a->count = a->implementation_count > 1;
  for (size_t i = 0; i < a->implementation_count; i++)
    for (size_t t = 0; t < implementation(a, i)->tunable_count; t++) {
      const struct config_tunable *tunable = &implementation(a, i)->tunables[t];
      struct axis_values *axis = axis_named(a, tunable->name);
      for (size_t v = 0; v < tunable->value_count; v++)
        if (!axes_add_value(axis, tunable->values[v])) return false;
    }
  return true;
}

static bool map_tunable(const struct axes *a, const struct config_tunable *tunable,
                        struct own *own) {
  while (own->axis < a->first || strcmp(a->all[own->axis].name, tunable->name) != 0) own->axis++;
  const struct axis_values *axis = &a->all[own->axis];
  own->positions = calloc(tunable->value_count + 1, sizeof *own->positions);
  own->places = calloc(axis->count + 1, sizeof *own->places);
  if (!own->positions || !own->places) return false;
  for (size_t p = 0; p < axis->count; p++) own->places[p] = STRATEGY_ABSENT;
  for (size_t v = 0; v < tunable->value_count; v++) {
    own->positions[v] = (uint16_t)axes_place_of(axis, tunable->values[v]);
    own->places[own->positions[v]] = (uint16_t)v;
  }
  return true;
}

static bool map_all(struct axes *a) {
  for (size_t i = 0; i < a->implementation_count; i++) {
    const struct config_implementation *one = implementation(a, i);
    if (!(a->own[i] = calloc(one->tunable_count + 1, sizeof **a->own))) return false;
    for (size_t t = 0; t < one->tunable_count; t++)
      if (!map_tunable(a, &one->tunables[t], &a->own[i][t])) return false;
  }
  return true;
}

static bool fill_axes(struct axes *a) {
  if (a->first) a->axes[0].count = a->implementation_count;
  for (size_t i = a->first; i < a->count; i++) {
    if (!set_numbers(&a->all[i])) return false;
    a->axes[i] = (struct strategy_axis){.count = a->all[i].count, .values = a->all[i].numbers};
  }
  return true;
}

static bool fits(const struct axes *a) {
  bool fit = a->count <= STRATEGY_MAX_AXES && a->implementation_count < STRATEGY_ABSENT;
  for (size_t i = a->first; i < a->count && fit; i++) fit = a->all[i].count < STRATEGY_ABSENT;
  return fit;
}

static bool axes_open_all(struct axes *a) {
  size_t most = most_axes(a);
  a->all = calloc(most, sizeof *a->all);
  a->axes = calloc(most, sizeof *a->axes);
  a->own = calloc(a->implementation_count + 1, sizeof *a->own);
  if (!a->all || !a->axes || !a->own || !axes_collect(a)) return false;
  return !fits(a) || (map_all(a) && fill_axes(a));
}

struct axes *axes_open(const struct space *space) {
  struct axes *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->space = space;
  a->implementations = space_implementations(space, &a->implementation_count);
  if (axes_open_all(a)) return a;
  axes_close(a);
  return NULL;
}

static void close_own(const struct axes *a, size_t i) {
  for (size_t t = 0; a->own[i] && t < implementation(a, i)->tunable_count; t++) {
    free(a->own[i][t].positions);
    free(a->own[i][t].places);
  }
  free(a->own[i]);
}

void axes_close(struct axes *a) {
  if (!a) return;
  for (size_t i = 0; i < a->implementation_count && a->own; i++) close_own(a, i);
  for (size_t i = 0; i < a->count && a->all; i++) {
    free(a->all[i].values);
    free(a->all[i].numbers);
  }
  free(a->own);
  free(a->all);
  free(a->axes);
  free(a);
}

/* ---- Functions of strategy_space ------------------------------------------------------------ */

static size_t neighbours(const void *context, uint64_t index, uint64_t *out) {
  return space_neighbours(((const struct axes *)context)->space, index, out);
}

static void axes_locate(const void *context, uint64_t index, uint16_t *positions) {
  const struct axes *a = context;
  size_t i = space_implementation_of(a->space, index);
  for (size_t n = 0; n < a->count; n++) positions[n] = STRATEGY_ABSENT;
  if (a->first) positions[0] = (uint16_t)i;
  for (size_t t = 0; t < implementation(a, i)->tunable_count; t++)
    positions[a->own[i][t].axis] = a->own[i][t].positions[space_place(a->space, index, t)];
}

static bool axes_find(const void *context, const uint16_t *positions, uint64_t *index) {
  const struct axes *a = context;
  size_t i = a->first ? positions[0] : 0, places[STRATEGY_MAX_AXES];
  for (size_t t = 0; t < implementation(a, i)->tunable_count; t++) {
    uint16_t at = positions[a->own[i][t].axis];
    places[t] = at == STRATEGY_ABSENT ? at : a->own[i][t].places[at];
    if (places[t] == STRATEGY_ABSENT) return false;
  }
  return space_at(a->space, i, places, index);
}

void axes_describe(const struct axes *a, struct strategy_space *out) {
  out->neighbours = neighbours;
  out->max_neighbours = space_max_neighbours(a->space);
  out->axes = a->axes;
  out->axis_count = fits(a) ? a->count : 0;
  out->locate = axes_locate;
  out->find = axes_find;
  out->context = a;
}
