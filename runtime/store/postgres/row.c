/* Converting records; see row.h. */
#include "row.h"

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
