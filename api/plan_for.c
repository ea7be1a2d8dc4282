/* cugen_plan_for: the plan for arrays of any sizes. A kernel keeps plans in a hash table, whose
   keys are the arrays' types, shapes and strides as words. For new arrays problem_fit finds the
   problem, and a plan is opened for this problem unless the kernel has one. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "base/key.h"

/* An array that is left out takes one word of a key; any other takes two, and two more for each
   dimension. */
enum { MOST_WORDS = KERNEL_MAX_ARGUMENTS * (2 + 2 * CUGEN_MAX_RANK) };

/* Arrays that were seen, in a chain of the table. */
struct seen {
  uint64_t hash;
  size_t words;
  cugen_plan *plan; /* belongs to `plans` */
  struct seen *next;
  uint64_t key[];
};

struct seen_table {
  struct seen **buckets; /* capacity many, a power of two; NULL: none yet */
  size_t capacity, count;
  cugen_plan **plans; /* in the order of opening: later plans may use images of earlier plans */
  size_t plan_count;
  size_t first;     /* index of the first plan that was opened since the kernel was tuned */
  unsigned tunings; /* cugen_kernel.tunings when the table was last emptied */
};

/* ---- Keys ----------------------------------------------------------------------------------- */

static size_t make_key(const cugen_array *arrays, size_t count, uint64_t *out) {
  size_t words = 0;
  for (size_t i = 0; i < count; i++) {
    const cugen_array *array = &arrays[i];
    out[words++] = (uint64_t)array->rank;
    if (!array->rank) continue;
    char name[sizeof *out] = {0}; /* no dtype has a longer name */
    for (size_t c = 0; array->dtype && c < sizeof name && array->dtype[c]; c++)
      name[c] = array->dtype[c];
    memcpy(&out[words++], name, sizeof name);
    for (int d = 0; d < array->rank; d++) {
      out[words++] = (uint64_t)array->shape[d];
      out[words++] = (uint64_t)array->stride[d];
    }
  }
  return words;
}

static int check_arrays(const cugen_kernel *k, const cugen_array *arrays, size_t count,
                        cugen_error *err) {
  const struct config *config = k->lookup.config;
  if (count > config->argument_count)
    return error_set(err, CUGEN_ERROR_USAGE, "%s has %zu arguments and was given %zu arrays",
                     config->name, config->argument_count, count);
  for (size_t i = 0; i < count; i++)
    if (arrays[i].rank < 0 || arrays[i].rank > CUGEN_MAX_RANK)
      return error_set(err, CUGEN_ERROR_USAGE,
                       "argument '%s': an array of %d dimensions, should have 1 to %d",
                       config->arguments[i].name, arrays[i].rank, CUGEN_MAX_RANK);
    else if (arrays[i].rank && !config->arguments[i].rank)
      return error_set(err, CUGEN_ERROR_USAGE,
                       "argument '%s' is a scalar: give it to cugen_call_bind",
                       config->arguments[i].name);
  return CUGEN_OK;
}

/* ---- The table ------------------------------------------------------------------------------ */

static void table_empty(struct seen_table *t) {
  for (size_t i = 0; i < t->capacity; i++)
    for (struct seen *at = t->buckets[i], *next; at; at = next) next = at->next, free(at);
  free(t->buckets);
  t->buckets = NULL;
  t->capacity = t->count = 0;
  t->first = t->plan_count;
}

static void table_clear(void *data) {
  struct seen_table *t = data;
  table_empty(t);
  while (t->plan_count) cugen_plan_close(t->plans[--t->plan_count]);
  free(t->plans);
}

static struct seen *table_find(const struct seen_table *t, uint64_t hash, const uint64_t *key,
                               size_t words) {
  struct seen *at = t->capacity ? t->buckets[hash & (t->capacity - 1)] : NULL;
  while (at &&
         (at->hash != hash || at->words != words || memcmp(at->key, key, words * sizeof *key) != 0))
    at = at->next;
  return at;
}

static bool table_grow(struct seen_table *t) {
  const size_t capacity = t->capacity ? 2 * t->capacity : 64;
  if (t->count < t->capacity) return true;
  struct seen **buckets = calloc(capacity, sizeof *buckets);
  if (!buckets) return false;
  for (size_t i = 0; i < t->capacity; i++)
    for (struct seen *at = t->buckets[i], *next; at; at = next) {
      struct seen **to = &buckets[at->hash & (capacity - 1)];
      next = at->next;
      at->next = *to;
      *to = at;
    }
  free(t->buckets);
  t->buckets = buckets;
  t->capacity = capacity;
  return true;
}

static int table_add(struct seen_table *t, uint64_t hash, const uint64_t *key, size_t words,
                     cugen_plan *plan, cugen_error *err) {
  struct seen *seen = malloc(sizeof *seen + words * sizeof *key);
  if (!seen || !table_grow(t)) return free(seen), error_memory(err);
  struct seen **bucket = &t->buckets[hash & (t->capacity - 1)];
  *seen = (struct seen){.hash = hash, .words = words, .plan = plan, .next = *bucket};
  memcpy(seen->key, key, words * sizeof *key);
  *bucket = seen;
  t->count++;
  return CUGEN_OK;
}

/* ---- Arrays that were not seen -------------------------------------------------------------- */

static int fit_problem(const cugen_kernel *k, const cugen_array *arrays, size_t count,
                       struct text *out, cugen_error *err) {
  const struct config *config = k->lookup.config;
  bool *fixed = calloc(config->problem_count + 1, sizeof *fixed);
  if (!fixed) return error_memory(err);
  for (size_t p = 0; p < config->problem_count; p++)
    for (size_t i = 0; i < k->setting_count; i++)
      fixed[p] = fixed[p] || setting_is_named(k->settings[i], config->problems[p].name);
  const int status =
      problem_fit(config, &k->problem, fixed, &k->lookup.device.facts, arrays, count, out, err);
  free(fixed);
  return status;
}

/* Takes the plan for the problem that fits the arrays, or opens one and keeps it. */
static int plan_for_new(cugen_kernel *k, struct seen_table *t, const cugen_array *arrays,
                        size_t count, const cugen_plan_options *options, cugen_plan **out,
                        cugen_error *err) {
  struct text problem = {0};
  int status = fit_problem(k, arrays, count, &problem, err);
  for (size_t i = t->first; i < t->plan_count && !status && !*out; i++)
    if (strcmp(cugen_plan_about(t->plans[i])->problem, text_get(&problem)) == 0) *out = t->plans[i];
  if (!status && !*out) {
    cugen_kernel *one = NULL;
    status = ARRAY_ROOM(t->plans, t->plan_count)
                 ? api_kernel_for_problem(k, text_get(&problem), &one, err)
                 : error_memory(err);
    if (!status) status = api_plan_open_among(one, options, t->plans, t->plan_count, out, err);
    if (!status) t->plans[t->plan_count++] = *out;
    cugen_kernel_close(one);
  }
  text_free(&problem);
  return status;
}

int cugen_plan_for(cugen_kernel *k, const cugen_array *arrays, size_t count,
                   const cugen_plan_options *options, cugen_plan **out, cugen_error *error) {
  if (!out) return API_NEEDS(error, "out", out);
  *out = NULL;
  if (API_NEEDS(error, "kernel, arrays", k, count ? (const void *)arrays : k))
    return CUGEN_ERROR_USAGE;
  int status = check_arrays(k, arrays, count, error);
  if (status) return status;
  struct seen_table *t = k->seen.data;
  if (!t) t = kept_renew(&k->seen, sizeof *t, table_clear, error);
  if (!t) return CUGEN_ERROR_MEMORY;
  if (t->tunings != k->tunings) table_empty(t); /* other variants may be better now */
  t->tunings = k->tunings;

  uint64_t key[MOST_WORDS];
  const size_t words = make_key(arrays, count, key);
  const uint64_t hash = hash_next(0, key, words * sizeof *key);
  const struct seen *seen = table_find(t, hash, key, words);
  if (seen) return *out = seen->plan, CUGEN_OK;
  status = plan_for_new(k, t, arrays, count, options, out, error);
  if (!status) status = table_add(t, hash, key, words, *out, error);
  if (status) *out = NULL;
  return status;
}
