/* Classes of sizes. A template may read a name that is derived from sizes, such as the number of
   elements that one copy takes, which depends on the divisors of a row. With another value of this
   name the variant is another code; sizes with the same values form a class. A bundle must contain
   the code of each class. So sizes are probed: odd multiples of each power of two up to 64, because
   restrictions and widths mostly depend on the divisors of a size. If several sizes matter (at most
   three), all combinations are probed. A class keeps problems of several scales, because the
   variant may be valid for only one of these problems. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"
#include "gen/config/evaluate.h"

enum { SHIFTS = 7, MOST_SIZES = 3, PROBES = SHIFTS * SHIFTS * SHIFTS };

/* Exponents of the powers of two by which each size is scaled, tried in turn. */
static const int scales[][MOST_SIZES] = {{0, 0, 0},    {-1, 0, 0},  {0, -1, 0},
                                         {-1, -1, -1}, {-2, -2, 0}, {0, 0, 2}};
enum { SCALES = sizeof scales / sizeof *scales };

struct probing {
  const struct config *config;
  const struct device_facts *facts;
  const struct problem *from;
  struct value *slots;
  const struct expr **values;
  size_t value_count;
  size_t sizes[MOST_SIZES]; /* the sizes of the problem that the values depend on */
  size_t size_count;
  struct value *seen; /* the values of each class, beginning with the class of `from` */
  size_t seen_count;
  size_t scale;
  struct export_classes *out;
};

/* ---- The values that the code depends on ---------------------------------------------------- */

static void classes_add_size(struct probing *g, int slot) {
  const int at = slot - g->config->first_problem;
  if (at < 0 || (size_t)at >= g->config->problem_count || !config_is_size(g->config, (size_t)at))
    return;
  for (size_t i = 0; i < g->size_count; i++)
    if (g->sizes[i] == (size_t)at) return;
  if (g->size_count < MOST_SIZES) g->sizes[g->size_count++] = (size_t)at;
}

static int open_probing(const struct lookup *l, uint64_t index, struct probing *g,
                        cugen_error *err) {
  const struct expander_shape shape = expander_shape(l->opened->expander);
  const struct variant variant = lookup_variant(l, index);
  const size_t tunables = variant.implementation->tunable_count,
               first = (size_t)l->config->first_tunable;
  /* includes the two slots of a launch's steps */
  g->slots = calloc(first + tunables + 3, sizeof *g->slots);
  g->values = calloc(shape.value_count + 1, sizeof *g->values);
  g->seen = calloc((PROBES * SCALES + 2) * (shape.value_count + 1), sizeof *g->seen);
  if (!g->slots || !g->values || !g->seen) return error_memory(err);
  if (tunables) memcpy(g->slots + first, variant.values, tunables * sizeof *g->slots);
  g->value_count = shape.value_count;
  for (size_t i = 0; i < shape.value_count; i++) {
    size_t count = 0;
    g->values[i] = shape.values[i];
    const int *slots = expr_slots(shape.values[i], &count);
    for (size_t k = 0; k < count; k++) classes_add_size(g, slots[k]);
  }
  return CUGEN_OK;
}

/* ---- Probing -------------------------------------------------------------------------------- */

/* Finds the class of the problem's sizes, by the values that the code depends on; the class may be
   new. Returns false if a value cannot be computed, or if the class is that of `from`. */
static bool find_class(struct probing *g, const struct problem *problem, size_t *class) {
  struct value *values = &g->seen[g->seen_count * g->value_count];
  cugen_error ignored;
  config_slots(g->config, problem, g->facts, g->slots);
  for (size_t i = 0; i < g->value_count; i++)
    if (expr_eval(g->values[i], g->slots, &values[i], &ignored)) return false;
  for (size_t k = 0; k < g->seen_count; k++) {
    size_t i = 0;
    while (i < g->value_count && value_equal(values[i], g->seen[k * g->value_count + i])) i++;
    if (i == g->value_count) return *class = k, k > 0;
  }
  *class = g->seen_count++;
  return true;
}

/* Keeps the problem, unless `out` has enough problems of this class, one for each scale so far. */
static int classes_keep(struct probing *g, const struct problem *problem, size_t class,
                        cugen_error *err) {
  struct export_classes *out = g->out;
  size_t kept = 0;
  for (size_t i = 0; i < out->count; i++) kept += out->of[i] == class;
  if (kept > g->scale) return CUGEN_OK;
  struct value *values = malloc((problem->count + 1) * sizeof *values);
  if (!values || !ARRAY_ROOM(out->problems, out->count) || !ARRAY_ROOM(out->of, out->count))
    return free(values), error_memory(err);
  memcpy(values, problem->values, problem->count * sizeof *values);
  out->of[out->count] = class;
  out->problems[out->count] = *problem;
  out->problems[out->count++].values = values;
  return CUGEN_OK;
}

/* Probes one combination of sizes, each an odd multiple of a power of two, and keeps the problem if
   its class is not that of `from` and needs a problem. which: the exponents of the powers, as one
   number with a digit of base SHIFTS for each size. */
static int classes_probe(struct probing *g, int which, struct problem *problem, cugen_error *err) {
  memcpy(problem->values, g->from->values, problem->count * sizeof *problem->values);
  for (size_t i = 0; i < g->size_count; i++, which /= SHIFTS) {
    const int64_t given = g->from->values[g->sizes[i]].integer;
    const int scale = scales[g->scale][i];
    if (given < 1 || given > INT64_MAX >> 8) return CUGEN_OK;
    const int64_t own = scale < 0 ? given >> -scale : given << scale;
    problem->values[g->sizes[i]] = value_int((own >> which % SHIFTS | 1) << which % SHIFTS);
  }
  size_t class;
  return find_class(g, problem, &class) ? classes_keep(g, problem, class, err) : CUGEN_OK;
}

/* Keeps the problems of all probes, and makes room to note which classes have a variant. */
static int probe_all(struct probing *g, struct problem *problem, cugen_error *err) {
  int status = CUGEN_OK, probes = 1;
  size_t own;
  find_class(g, g->from, &own);
  for (size_t i = 0; i < g->size_count; i++) probes *= SHIFTS;
  for (g->scale = 0; g->scale < SCALES && !status; g->scale++)
    for (int i = 0; i < probes && !status; i++) status = classes_probe(g, i, problem, err);
  if (status) return status;
  g->out->served = calloc(g->seen_count + 1, sizeof *g->out->served);
  return g->out->served ? CUGEN_OK : error_memory(err);
}

int export_classes_find(const struct lookup *lookup, uint64_t variant, const struct problem *from,
                        struct export_classes *out, cugen_error *err) {
  struct probing g = {
      .config = lookup->config, .facts = &lookup->device.facts, .from = from, .out = out};
  struct problem problem = *from;
  int status = open_probing(lookup, variant, &g, err);
  problem.values = calloc(from->count + 1, sizeof *problem.values);
  if (!status && !problem.values) status = error_memory(err);
  if (!status && g.size_count) status = probe_all(&g, &problem, err);
  free(problem.values);
  free(g.slots);
  free(g.values);
  free(g.seen);
  return status;
}

bool export_class_open(const struct export_classes *classes, size_t problem) {
  return !classes->served[classes->of[problem]];
}

void export_class_serve(struct export_classes *classes, size_t problem) {
  classes->served[classes->of[problem]] = true;
}

void export_classes_free(struct export_classes *classes) {
  free(classes->of);
  free(classes->served);
  for (size_t i = 0; i < classes->count; i++) free(classes->problems[i].values);
  free(classes->problems);
}
