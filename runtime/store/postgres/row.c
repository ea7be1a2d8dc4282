/* See row.h. */
#include "row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/outputs.h"

/* A compiler may write anything into a reason; the server takes UTF-8 alone. */
static void add_utf8(const char *from, struct text *out) {
  for (size_t left = strlen(from); left;) {
    const size_t length = text_character(from, left);
    if (length)
      text_add_n(out, from, length);
    else
      text_add_char(out, '?');
    from += length ? length : 1;
    left -= length ? length : 1;
  }
}

/* ---- To the server --------------------------------------------------------------------------------------------- */

static void add_column(struct pg_parameters *to, const struct cache_column *column, const char *from) {
  switch (column->type) {
  case COLUMN_TEXT: pg_add_text(to, *(char *const *)(const void *)from); break;
  case COLUMN_HASH:
  case COLUMN_CHARS: pg_add_text(to, from); break;
  case COLUMN_OUTPUTS: pg_add_outputs(to, (const cugen_outputs *)(const void *)from); break;
  case COLUMN_INT: pg_add_integer(to, *(const int *)(const void *)from); break;
  case COLUMN_INT64: pg_add_integer(to, *(const int64_t *)(const void *)from); break;
  case COLUMN_REAL: pg_add_real(to, *(const double *)(const void *)from); break;
  }
}

bool pg_add_record(struct pg_parameters *to, const struct cache_record *record, struct pg_texts *texts) {
  add_utf8(record->reason ? record->reason : "", &texts->reason);
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (i == CACHE_COLUMN_reason)
      pg_add_text(to, text_get(&texts->reason));
    else
      add_column(to, &cache_columns[i], (const char *)record + cache_columns[i].offset);
  return !texts->reason.failed;
}

void pg_texts_free(struct pg_texts *texts) {
  text_free(&texts->reason);
}

/* PostgreSQL's documentation, COPY, "Text Format". */
void pg_write_text(const char *value, struct text *out) {
  for (; value && *value; value++) switch (*value) {
    case '\\': text_add(out, "\\\\"); break;
    case '\n': text_add(out, "\\n"); break;
    case '\r': text_add(out, "\\r"); break;
    case '\t': text_add(out, "\\t"); break;
    default: text_add_char(out, *value);
    }
}

void pg_write_record(const struct cache_record *record, struct text *out) {
  struct pg_parameters all = {0};
  struct pg_texts texts = {0};
  out->failed |= !pg_add_record(&all, record, &texts);
  for (int i = 0; i < all.count; i++) {
    if (i) text_add_char(out, '\t');
    if (all.values[i])
      pg_write_text(all.values[i], out);
    else
      text_add(out, "\\N");
  }
  pg_texts_free(&texts);
}

/* ---- From it ------------------------------------------------------------------------------------------------------ */

static bool read_column(struct pg_cache *cache, const struct pg_result *result, int row, int i, char *to) {
  switch (cache_columns[i].type) {
  case COLUMN_TEXT: return (*(char **)(void *)to = strdup(pg_text(cache, result, row, i)));
  case COLUMN_HASH:
  case COLUMN_CHARS: strncat(to, pg_text(cache, result, row, i), cache_columns[i].size - 1); break;
  case COLUMN_OUTPUTS: outputs_parse(pg_text(cache, result, row, i), (cugen_outputs *)(void *)to); break;
  case COLUMN_INT: *(int *)(void *)to = (int)pg_integer(cache, result, row, i); break;
  case COLUMN_INT64: *(int64_t *)(void *)to = pg_integer(cache, result, row, i); break;
  case COLUMN_REAL: *(double *)(void *)to = pg_real(cache, result, row, i); break;
  }
  return true;
}

bool pg_read_record(struct pg_cache *cache, const struct pg_result *result, int row, struct cache_record *out) {
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!read_column(cache, result, row, i, (char *)out + cache_columns[i].offset)) {
      cache_record_free(out);
      return false;
    }
  cache_record_settle(out);
  return true;
}
