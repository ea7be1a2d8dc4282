/* Where a search may begin; see prior.h. Tunables and values are known by their names and texts:
   a file's positions mean nothing in another file. A tunable that has one value in one of the
   files is no axis there, and says nothing. */
#include "prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* From one space's axes and values to another's. */
struct translation {
  const struct recorded *from, *to;
  size_t axes[RECORDED_MOST_AXES]; /* by axis of `to`: that of `from`, or NONE */
};

static size_t find_axis(const struct recorded *recorded, const char *name) {
  for (size_t i = 0; i < recorded->axis_count; i++)
    if (strcmp(recorded->axes[i].name, name) == 0) return i;
  return NONE;
}

static bool translate_value(const struct recorded_axis *from, uint16_t position,
                            const struct recorded_axis *to, uint16_t *out) {
  *out = RECORDED_ABSENT;
  if (position == RECORDED_ABSENT) return true;
  for (size_t v = 0; v < to->count; v++)
    if (strcmp(to->texts[v], from->texts[position]) == 0) return *out = (uint16_t)v, true;
  return false;
}

/* False: `to` has no such variant. */
static bool translate(const struct translation *t, size_t index, uint64_t *out) {
  uint16_t own[RECORDED_MOST_AXES], other[RECORDED_MOST_AXES];
  recorded_locate(t->from, index, own);
  for (size_t i = 0; i < t->to->axis_count; i++) {
    const size_t axis = t->axes[i];
    if (axis == NONE ||
        !translate_value(&t->from->axes[axis], own[axis], &t->to->axes[i], &other[i]))
      return false;
  }
  return recorded_find(t->to, other, out);
}

struct ranked {
  double cost;
  size_t index;
};

static int by_cost(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->cost < y->cost || x->cost > y->cost) return x->cost < y->cost ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

int prior_find(const struct recorded *from, const struct recorded *to, size_t most, uint64_t *out,
               size_t *count, cugen_error *err) {
  struct translation translation = {.from = from, .to = to};
  struct ranked *ranked = calloc(from->count + 1, sizeof *ranked);
  size_t right = 0;
  *count = 0;
  if (!ranked) return error_memory(err);
  for (size_t i = 0; i < to->axis_count; i++)
    translation.axes[i] = find_axis(from, to->axes[i].name);
  for (size_t i = 0; i < from->count; i++)
    if (!isnan(from->costs[i])) ranked[right++] = (struct ranked){from->costs[i], i};
  qsort(ranked, right, sizeof *ranked, by_cost);
  for (size_t i = 0; i < right && *count < most; i++)
    *count += translate(&translation, ranked[i].index, &out[*count]);
  free(ranked);
  return CUGEN_OK;
}
