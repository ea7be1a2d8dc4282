/* What each tunable does: for each value of it the times of the right variants that have it. */
#include <stdlib.h>
#include <string.h>

#include "findings.h"

/* The words behind the implementation's name: "BM=128". False: there is no more. */
static bool next_setting(const char **at, char *name, char *value, size_t size) {
  const char *word = *at + strspn(*at, " ");
  size_t length = strcspn(word, " "), equal = strcspn(word, "=");
  *at = word + length;
  if (equal >= length) return false;
  snprintf(name, size, "%.*s", (int)equal, word);
  snprintf(value, size, "%.*s", (int)(length - equal - 1), word + equal + 1);
  return true;
}

/* A new element at the end of an array that grows by one; NULL: out of memory. */
static void *grow(void **array, size_t *count, size_t size) {
  void *more = realloc(*array, (*count + 1) * size);
  if (!more) return NULL;
  *array = more;
  return memset((char *)more + (*count)++ * size, 0, size);
}

static struct effect *find_effect(struct findings *f, size_t implementation, const char *name) {
  for (size_t i = 0; i < f->effect_count; i++)
    if (f->effects[i].implementation == implementation && strcmp(f->effects[i].name, name) == 0)
      return &f->effects[i];
  void *array = f->effects;
  struct effect *effect = grow(&array, &f->effect_count, sizeof *effect);
  f->effects = array;
  if (!effect) return NULL;
  effect->implementation = implementation;
  effect->order = f->effect_count;
  snprintf(effect->name, sizeof effect->name, "%s", name);
  return effect;
}

static struct effect_value *find_value(struct effect *effect, const char *text) {
  for (size_t i = 0; i < effect->value_count; i++)
    if (strcmp(effect->values[i].text, text) == 0) return &effect->values[i];
  void *array = effect->values;
  struct effect_value *value = grow(&array, &effect->value_count, sizeof *value);
  effect->values = array;
  if (!value) return NULL;
  value->order = effect->value_count;
  snprintf(value->text, sizeof value->text, "%s", text);
  return value;
}

static bool add_time(struct findings *f, size_t implementation, const char *name, const char *text, double cost) {
  struct effect *effect = find_effect(f, implementation, name);
  struct effect_value *value = effect ? find_value(effect, text) : NULL;
  if (!value) return false;
  void *times = value->times;
  double *time = grow(&times, &value->count, sizeof *time);
  value->times = times;
  if (time) *time = cost;
  return time != NULL;
}

bool effects_add(struct findings *f, size_t implementation, const cugen_record *record) {
  char name[80], text[80];
  const char *at = record->variant + strcspn(record->variant, " ");
  while (next_setting(&at, name, text, sizeof name))
    if (!add_time(f, implementation, name, text, record->cost)) return false;
  return true;
}

static int compare_values(const void *a, const void *b) {
  const struct effect_value *x = a, *y = b;
  char *end_x, *end_y;
  double number_x = strtod(x->text, &end_x), number_y = strtod(y->text, &end_y);
  if (*end_x || *end_y || number_x == number_y) return x->order < y->order ? -1 : 1;
  return number_x < number_y ? -1 : 1;
}

static int compare_effects(const void *a, const void *b) {
  const struct effect *x = a, *y = b;
  if (x->implementation != y->implementation) return x->implementation < y->implementation ? -1 : 1;
  if (x->weight == y->weight) return x->order < y->order ? -1 : 1;
  return x->weight > y->weight ? -1 : 1;
}

bool effects_known_well(const struct findings *f, size_t implementation, const struct effect_value *value) {
  enum { ENOUGH_VALUES = 3, ENOUGH_VARIANTS = 10 };
  const struct implementation *of = &f->implementations[implementation];
  if (of->right + of->failed + of->unpredicted >= of->valid) return true;
  return of->right >= ENOUGH_VARIANTS && value->count >= ENOUGH_VALUES;
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sum_up(const struct findings *f, struct effect *effect) {
  double least = 0, most = 0;
  size_t known = 0;
  for (size_t i = 0; i < effect->value_count; i++) {
    struct effect_value *value = &effect->values[i];
    qsort(value->times, value->count, sizeof *value->times, compare_times);
    value->best = value->times[0];
    value->median = (value->times[(value->count - 1) / 2] + value->times[value->count / 2]) / 2;
    if (!effects_known_well(f, effect->implementation, value)) continue;
    if (known++ == 0 || value->best < least) least = value->best;
    if (value->best > most) most = value->best;
  }
  effect->few = known < 2;
  effect->weight = !effect->few && least > 0 ? most / least : 0;
  qsort(effect->values, effect->value_count, sizeof *effect->values, compare_values);
}

static void free_effect(struct effect *effect) {
  for (size_t i = 0; i < effect->value_count; i++) free(effect->values[i].times);
  free(effect->values);
}

/* One value says nothing about a tunable. */
static void drop_single(struct findings *f) {
  size_t kept = 0;
  for (size_t i = 0; i < f->effect_count; i++) {
    if (f->effects[i].value_count > 1)
      f->effects[kept++] = f->effects[i];
    else
      free_effect(&f->effects[i]);
  }
  f->effect_count = kept;
}

void effects_sum_up(struct findings *f) {
  drop_single(f);
  for (size_t i = 0; i < f->effect_count; i++) sum_up(f, &f->effects[i]);
  if (f->effect_count) qsort(f->effects, f->effect_count, sizeof *f->effects, compare_effects);
}

void effects_close(struct findings *f) {
  for (size_t i = 0; i < f->effect_count; i++) free_effect(&f->effects[i]);
  free(f->effects);
}
