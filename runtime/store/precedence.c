/* Whether two records of a variant are the same measurement, and which takes precedence; see
   engine.h. */
#include <math.h>
#include <string.h>

#include "engine.h"

static bool same_column(const struct cache_column *column, const char *a, const char *b) {
  switch (column->type) {
  /* A reason is for people, and some of its characters do not survive a text file. */
  case COLUMN_TEXT:
    return strcmp(column->name, "reason") == 0 ||
           strcmp(*(char *const *)(const void *)a, *(char *const *)(const void *)b) == 0;
  case COLUMN_CHARS:
  case COLUMN_HASH: return strcmp(a, b) == 0;
  case COLUMN_OUTPUTS: /* no padding between the members */
  case COLUMN_INT:
  case COLUMN_INT64:
  case COLUMN_TIME: return memcmp(a, b, column->size) == 0;
  case COLUMN_REAL: break;
  }
  double x = *(const double *)(const void *)a, y = *(const double *)(const void *)b;
  return isnan(x) ? isnan(y) : x == y;
}

bool cache_records_equal(const struct cache_record *a, const struct cache_record *b) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!same_column(&cache_columns[i], (const char *)a + cache_columns[i].offset,
                     (const char *)b + cache_columns[i].offset))
      return false;
  return true;
}

static int precedence_rank(const struct cache_record *record) {
  if (cache_record_is_refuted(record)) return 0;
  return record->outcome == CUGEN_OUTCOME_OK ? 1 : 2;
}

bool cache_record_goes_first(const struct cache_record *new, const struct cache_record *old) {
  if (old->wrong) return true;
  if (strcmp(new->hash.hex, old->hash.hex) != 0) return new->measured_at > old->measured_at;
  if (precedence_rank(new) != precedence_rank(old))
    return precedence_rank(new) < precedence_rank(old);
  if (new->outcome != CUGEN_OUTCOME_OK) return new->measured_at > old->measured_at;
  if (new->outputs.varies != old->outputs.varies) return new->outputs.varies;
  if (new->seconds == old->seconds)
    return new->verdict == CACHE_RIGHT && old->verdict != CACHE_RIGHT;
  return new->seconds < old->seconds;
}
