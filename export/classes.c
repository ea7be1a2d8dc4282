/* Classes of sizes: a template may read a name that is derived from sizes, such as how many elements one copy takes, which follows from what
   divides a row. For other values of it the variant is another code. A plan compiles it when it meets such sizes, and a bundle has
   to have it. So sizes are probed: odd multiples of each power of two up to 64, as restrictions and widths mostly ask what divides a size. Where
   several sizes matter all combinations are probed; only expressions are evaluated for that. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"

enum { SHIFTS = 7, MOST_SIZES = 3, PROBES = SHIFTS * SHIFTS * SHIFTS };

struct probing {
  const struct config *config;
  const struct device_facts *facts;
  const struct problem *from;
  struct value *slots;
  const struct expr **values;
  size_t value_count;
  size_t sizes[MOST_SIZES]; /* of the problem: those that the values depend on */
  size_t size_count;
  struct value *seen; /* the values of each class, that of `from` first */
  size_t seen_count;
  struct export_classes *out;
};

/* ---- What is read ---- */

static void add_size(struct probing *g, int slot) {
  const int at = slot - g->config->first_problem;
  if (at < 0 || (size_t)at >= g->config->problem_count || !config_is_size(g->config, (size_t)at)) return;
  for (size_t i = 0; i < g->size_count; i++)
    if (g->sizes[i] == (size_t)at) return;
  if (g->size_count < MOST_SIZES) g->sizes[g->size_count++] = (size_t)at;
}

static int open_probing(const struct lookup *l, uint64_t index, struct probing *g, cugen_error *err) {
  const struct expander_shape shape = expander_shape(l->opened->expander);
  const struct variant variant = lookup_variant(l, index);
  const size_t tunables = variant.implementation->tunable_count, first = (size_t)l->config->first_tunable;
  g->slots = calloc(first + tunables + 3, sizeof *g->slots); /* a launch's steps */
  g->values = calloc(shape.value_count + 1, sizeof *g->values);
  g->seen = calloc((PROBES + 1) * (shape.value_count + 1), sizeof *g->seen);
  if (!g->slots || !g->values || !g->seen) return error_memory(err);
  if (tunables) memcpy(g->slots + first, variant.values, tunables * sizeof *g->slots);
  g->value_count = shape.value_count;
  for (size_t i = 0; i < shape.value_count; i++) {
    size_t count = 0;
    g->values[i] = shape.values[i];
    const int *slots = expr_slots(shape.values[i], &count);
    for (size_t k = 0; k < count; k++) add_size(g, slots[k]);
  }
  return CUGEN_OK;
}

static void close_probing(struct probing *g) {
  free(g->slots);
  free(g->values);
  free(g->seen);
}

/* ---- Probing ---- */

/* Whether the values are those of no class yet. */
static bool is_new(struct probing *g, const struct problem *problem) {
  struct value *values = &g->seen[g->seen_count * g->value_count];
  cugen_error ignored;
  config_slots(g->config, problem, g->facts, g->slots);
  for (size_t i = 0; i < g->value_count; i++)
    if (expr_eval(g->values[i], g->slots, &values[i], &ignored)) return false;
  for (size_t k = 0; k < g->seen_count; k++) {
    size_t i = 0;
    while (i < g->value_count && value_equal(values[i], g->seen[k * g->value_count + i])) i++;
    if (i == g->value_count) return false;
  }
  g->seen_count++;
  return true;
}

static int keep(struct probing *g, const struct problem *problem, cugen_error *err) {
  struct problem *all = array_grow(g->out->problems, g->out->count, sizeof *all);
  if (!all) return error_memory(err);
  g->out->problems = all;
  struct value *values = malloc((problem->count + 1) * sizeof *values);
  if (!values) return error_memory(err);
  memcpy(values, problem->values, problem->count * sizeof *values);
  all[g->out->count] = *problem;
  all[g->out->count++].values = values;
  return CUGEN_OK;
}

/* which: a digit of base SHIFTS for each size. */
static int probe(struct probing *g, int which, struct problem *problem, cugen_error *err) {
  memcpy(problem->values, g->from->values, problem->count * sizeof *problem->values);
  for (size_t i = 0; i < g->size_count; i++, which /= SHIFTS) {
    const int64_t own = g->from->values[g->sizes[i]].integer;
    if (own < 1) return CUGEN_OK;
    problem->values[g->sizes[i]] = value_int((own >> which % SHIFTS | 1) << which % SHIFTS);
  }
  return is_new(g, problem) ? keep(g, problem, err) : CUGEN_OK;
}

int export_classes_find(const struct lookup *lookup, uint64_t variant, const struct problem *from,
                        struct export_classes *out, cugen_error *err) {
  struct probing g = {.config = lookup->config, .facts = &lookup->device.facts, .from = from, .out = out};
  struct problem problem = *from;
  int status = open_probing(lookup, variant, &g, err), probes = 1;
  problem.values = calloc(from->count + 1, sizeof *problem.values);
  if (!status && !problem.values) status = error_memory(err);
  if (!status && g.size_count) {
    is_new(&g, from);
    for (size_t i = 0; i < g.size_count; i++) probes *= SHIFTS;
  }
  for (int i = 0; i < probes && !status && g.size_count; i++) status = probe(&g, i, &problem, err);
  free(problem.values);
  close_probing(&g);
  return status;
}

void export_classes_free(struct export_classes *classes) {
  for (size_t i = 0; i < classes->count; i++) free(classes->problems[i].values);
  free(classes->problems);
}
