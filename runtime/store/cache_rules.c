/* What a record must be, whether it comes from a file of wisdom or stands in the tables. See cache_tables.h. */
#include <math.h>
#include <string.h>

#include "base/system.h"
#include "cache_tables.h"

void *cache_place_of(struct cache_record *record, int column) {
  return (char *)record + cache_columns[column].offset;
}

bool cache_has_control(const char *text, const char *allowed) {
  for (; *text; text++)
    if (((unsigned char)*text < ' ' || *text == 127) && !strchr(allowed, *text)) return true;
  return false;
}

bool cache_is_plausible_time(int64_t time) {
  enum { EARLIEST = 1577836800 /* 2020-01-01 */, DAY = 86400 };
  return time >= EARLIEST && time <= clock_unix() + DAY;
}

static const char *real_wrong(const struct cache_column *column, double value, bool right) {
  if (right && !isfinite(value)) return "must be a number, since the outcome is 0";
  return isnan(value) || cache_column_holds(column, value) ? NULL : "is out of range";
}

/* What is wrong with a column's value; NULL: nothing. */
static const char *column_wrong(struct cache_record *record, int i) {
  const struct cache_column *column = &cache_columns[i];
  void *value = cache_place_of(record, i);
  switch (column->type) {
  case COLUMN_TEXT:
    return cache_has_control(*(char **)value, strcmp(column->name, "reason") == 0 ? CACHE_REASON_CONTROLS : "")
               ? "has a control character"
               : NULL;
  case COLUMN_CHARS: return cache_has_control(value, "") ? "has a control character" : NULL;
  case COLUMN_HASH:
    return cache_is_hash(value) || (column->format > 1 && !*(char *)value) ? NULL : "must be 32 hexadecimal digits";
  case COLUMN_INT: return cache_column_holds(column, *(int *)value) ? NULL : "is out of range";
  case COLUMN_INT64: return *(int64_t *)value >= 0 ? NULL : "is out of range";
  case COLUMN_REAL: break;
  }
  return real_wrong(column, *(double *)value, record->outcome == CUGEN_OUTCOME_OK);
}

const char *cache_record_wrong(struct cache_record *record, const char **name) {
  for (int i = 0; i < CACHE_COLUMNS; i++) {
    const char *wrong = column_wrong(record, i);
    *name = cache_columns[i].name;
    if (wrong) return wrong;
  }
  *name = "measured_at";
  if (!cache_is_plausible_time(record->measured_at))
    return "is out of range: before 2020, or more than a day ahead of this clock";
  *name = "variant";
  if (!*record->variant) return "is empty";
  *name = "seconds";
  return record->outcome == CUGEN_OUTCOME_OK && !(record->seconds > 0) ? "must be above 0" : NULL;
}
