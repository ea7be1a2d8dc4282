/* Keys and records to and from the rows of statements; see database.h. */
#include <math.h>
#include <string.h>

#include "base/outputs.h"
#include "database.h"

bool cache_bind_text(sqlite3_stmt *statement, int place, const char *string) {
  return sqlite3_bind_text(statement, place, string ? string : "", -1, SQLITE_STATIC) == SQLITE_OK;
}

bool cache_bind_key(sqlite3_stmt *statement, const struct cache_key *key) {
  return cache_bind_text(statement, 1, key->device) && cache_bind_text(statement, 2, key->config) &&
         cache_bind_text(statement, 3, key->problem) && cache_bind_text(statement, 4, key->options);
}

static bool bind_outputs(sqlite3_stmt *statement, int place, const cugen_outputs *outputs) {
  char text[OUTPUTS_TEXT];
  cugen_outputs_text(outputs, text, sizeof text);
  return sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

static bool bind_column(sqlite3_stmt *statement, int place, const struct cache_column *column, const char *from) {
  switch (column->type) {
  case COLUMN_TEXT: return cache_bind_text(statement, place, *(char *const *)(const void *)from);
  case COLUMN_HASH:
  case COLUMN_CHARS: return cache_bind_text(statement, place, from);
  case COLUMN_OUTPUTS: return bind_outputs(statement, place, (const cugen_outputs *)(const void *)from);
  case COLUMN_INT: return sqlite3_bind_int(statement, place, *(const int *)(const void *)from) == SQLITE_OK;
  case COLUMN_INT64: return sqlite3_bind_int64(statement, place, *(const int64_t *)(const void *)from) == SQLITE_OK;
  case COLUMN_REAL: return sqlite3_bind_double(statement, place, *(const double *)(const void *)from) == SQLITE_OK;
  }
  return false;
}

bool cache_bind_record(sqlite3_stmt *statement, const struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!bind_column(statement, 5 + i, &cache_columns[i], (const char *)record + cache_columns[i].offset))
      return false;
  return true;
}

const char *cache_column_text(sqlite3_stmt *statement, int i) {
  const unsigned char *text = sqlite3_column_text(statement, i);
  return text ? (const char *)text : "";
}

static bool read_column(sqlite3_stmt *statement, int i, char *to) {
  switch (cache_columns[i].type) {
  case COLUMN_TEXT: return (*(char **)(void *)to = strdup(cache_column_text(statement, i)));
  case COLUMN_HASH:
  case COLUMN_CHARS: strncat(to, cache_column_text(statement, i), cache_columns[i].size - 1); break;
  case COLUMN_OUTPUTS: outputs_parse(cache_column_text(statement, i), (cugen_outputs *)(void *)to); break;
  case COLUMN_INT: *(int *)(void *)to = sqlite3_column_int(statement, i); break;
  case COLUMN_INT64: *(int64_t *)(void *)to = sqlite3_column_int64(statement, i); break;
  case COLUMN_REAL:
    *(double *)(void *)to =
        sqlite3_column_type(statement, i) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(statement, i);
    break;
  }
  return true;
}

bool cache_read_record(sqlite3_stmt *statement, struct cache_record *out) {
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!read_column(statement, i, (char *)out + cache_columns[i].offset)) {
      cache_record_free(out);
      return false;
    }
  cache_record_settle(out);
  return true;
}
