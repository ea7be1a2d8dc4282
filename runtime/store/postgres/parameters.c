/* The values of a statement; see connection.h. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "connection.h"

static void parameter_add(struct pg_parameters *to, const char *value) {
  to->formats[to->count] = 0;
  to->values[to->count++] = value;
}

void pg_add_text(struct pg_parameters *to, const char *text) {
  parameter_add(to, text ? text : "");
}

void pg_add_integer(struct pg_parameters *to, int64_t value) {
  snprintf(to->numbers[to->count], PG_NUMBER, "%lld", (long long)value);
  parameter_add(to, to->numbers[to->count]);
}

char pg_decimal_point(void) {
  return localeconv()->decimal_point[0];
}

void pg_add_real(struct pg_parameters *to, double value) {
  snprintf(to->numbers[to->count], PG_NUMBER, "%.17g", value);
  char *point = strchr(to->numbers[to->count], pg_decimal_point());
  if (point) *point = '.';
  parameter_add(to, isnan(value)   ? NULL
                    : isinf(value) ? value > 0 ? "Infinity" : "-Infinity"
                                   : to->numbers[to->count]);
}

void pg_add_null(struct pg_parameters *to) {
  parameter_add(to, NULL);
}

void pg_add_bytes(struct pg_parameters *to, const void *data, size_t length) {
  to->lengths[to->count] = (int)length; /* at most CACHE_MAX_IMAGE */
  parameter_add(to, data ? data : "");
  to->formats[to->count - 1] = 1;
}

void pg_add_key(struct pg_parameters *to, const struct cache_key *key) {
  for (int i = 0; i < CACHE_KEY_PARTS; i++) pg_add_text(to, cache_key_text(key, i));
}

void pg_add_record(struct pg_parameters *to, const struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++) {
    const struct cache_value value = cache_value_of(record, i, to->numbers[to->count]);
    switch (value.kind) {
    case CACHE_TEXT: pg_add_text(to, value.text); break;
    case CACHE_WHOLE: pg_add_integer(to, value.whole); break;
    case CACHE_REAL: pg_add_real(to, value.real); break;
    }
  }
}

/* ---- As text -------------------------------------------------------------------------------- */

static void begin_element(struct text *array) {
  text_add_char(array, array->length ? ',' : '{');
}

void pg_array_integer(struct text *array, int64_t value) {
  begin_element(array);
  text_addf(array, "%lld", (long long)value);
}

void pg_array_text(struct text *array, const char *value) {
  begin_element(array);
  text_add_char(array, '"');
  for (; *value; value++) {
    if (*value == '"' || *value == '\\') text_add_char(array, '\\');
    text_add_char(array, *value);
  }
  text_add_char(array, '"');
}

void pg_array_end(struct text *array) {
  text_add(array, array->length ? "}" : "{}");
}

/* Appends a value, escaped for COPY (PostgreSQL's documentation, COPY, "Text Format"). */
static void write_text(const char *value, struct text *out) {
  for (; value && *value; value++) switch (*value) {
    case '\\': text_add(out, "\\\\"); break;
    case '\n': text_add(out, "\\n"); break;
    case '\r': text_add(out, "\\r"); break;
    case '\t': text_add(out, "\\t"); break;
    default: text_add_char(out, *value);
    }
}

void pg_write_line(const struct pg_parameters *all, struct text *out) {
  for (int i = 0; i < all->count; i++) {
    if (i) text_add_char(out, '\t');
    if (all->values[i])
      write_text(all->values[i], out);
    else
      text_add(out, "\\N");
  }
  text_add_char(out, '\n');
}
