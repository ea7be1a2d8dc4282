/* Converting records; see row.h. */
#include "row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/outputs.h"

/* ---- To the server -------------------------------------------------------------------------- */

static void add_column(struct pg_parameters *to, const struct cache_column *column,
                       const char *from) {
  switch (column->type) {
  case COLUMN_TEXT: pg_add_text(to, *(char *const *)(const void *)from); break;
  case COLUMN_HASH:
  case COLUMN_CHARS: pg_add_text(to, from); break;
  case COLUMN_OUTPUTS: pg_add_outputs(to, (const cugen_outputs *)(const void *)from); break;
  case COLUMN_INT: pg_add_integer(to, *(const int *)(const void *)from); break;
  case COLUMN_INT64:
  case COLUMN_TIME: pg_add_integer(to, *(const int64_t *)(const void *)from); break;
  case COLUMN_REAL: pg_add_real(to, *(const double *)(const void *)from); break;
  }
}

void pg_add_record(struct pg_parameters *to, const struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    add_column(to, &cache_columns[i], (const char *)record + cache_columns[i].offset);
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
  pg_add_record(&all, record);
  for (int i = 0; i < all.count; i++) {
    if (i) text_add_char(out, '\t');
    if (all.values[i])
      pg_write_text(all.values[i], out);
    else
      text_add(out, "\\N");
  }
}

/* ---- From the server ------------------------------------------------------------------------ */

/* Reads column i into *out. Returns what is wrong with its value, or NULL. Sets *memory to false if
   memory runs out. */
static const char *row_read_column(struct pg_cache *cache, const struct pg_result *result, int row,
                                   int i, struct cache_record *out, bool *memory) {
  switch (cache_columns[i].type) {
  case COLUMN_TEXT:
    *(char **)cache_place_of(out, i) = strdup(pg_text(cache, result, row, i));
    *memory = *memory && *(char **)cache_place_of(out, i);
    return NULL;
  case COLUMN_HASH:
  case COLUMN_CHARS:
  case COLUMN_OUTPUTS: return cache_take_text(out, i, pg_text(cache, result, row, i));
  case COLUMN_INT:
  case COLUMN_INT64:
  case COLUMN_TIME: return cache_take_whole(out, i, pg_integer(cache, result, row, i));
  case COLUMN_REAL: break;
  }
  return cache_take_real(out, i, pg_real(cache, result, row, i));
}

bool pg_read_record(struct pg_cache *cache, const struct pg_result *result, int row,
                    struct cache_record *out) {
  bool memory = true;
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS && memory; i++) {
    const char *wrong = row_read_column(cache, result, row, i, out, &memory);
    if (wrong && !out->wrong) out->wrong = wrong, out->wrong_column = i;
  }
  if (memory)
    cache_record_settle(out);
  else
    cache_record_free(out);
  return memory;
}
