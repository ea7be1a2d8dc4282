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
  outputs_text(outputs, text, sizeof text);
  return sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

static bool bind_column(sqlite3_stmt *statement, int place, const struct cache_column *column,
                        const char *from) {
  switch (column->type) {
  case COLUMN_TEXT: return cache_bind_text(statement, place, *(char *const *)(const void *)from);
  case COLUMN_HASH:
  case COLUMN_CHARS: return cache_bind_text(statement, place, from);
  case COLUMN_OUTPUTS:
    return bind_outputs(statement, place, (const cugen_outputs *)(const void *)from);
  case COLUMN_INT:
    return sqlite3_bind_int(statement, place, *(const int *)(const void *)from) == SQLITE_OK;
  case COLUMN_INT64:
  case COLUMN_TIME:
    return sqlite3_bind_int64(statement, place, *(const int64_t *)(const void *)from) == SQLITE_OK;
  case COLUMN_REAL:
    return sqlite3_bind_double(statement, place, *(const double *)(const void *)from) == SQLITE_OK;
  }
  return false;
}

bool cache_bind_record(sqlite3_stmt *statement, const struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!bind_column(statement, 5 + i, &cache_columns[i],
                     (const char *)record + cache_columns[i].offset))
      return false;
  return true;
}

const char *cache_column_text(sqlite3_stmt *statement, int i) {
  const unsigned char *text = sqlite3_column_text(statement, i);
  return text ? (const char *)text : "";
}

/* Reads column i into *out. Returns what is wrong with its value, or NULL. Sets *memory to false if
   memory runs out. */
static const char *sqlite_row_read_column(sqlite3_stmt *statement, int i, struct cache_record *out,
                                          bool *memory) {
  switch (cache_columns[i].type) {
  case COLUMN_TEXT:
    *(char **)cache_place_of(out, i) = strdup(cache_column_text(statement, i));
    *memory = *memory && *(char **)cache_place_of(out, i);
    return NULL;
  case COLUMN_HASH:
  case COLUMN_CHARS:
  case COLUMN_OUTPUTS: return cache_take_text(out, i, cache_column_text(statement, i));
  case COLUMN_INT:
  case COLUMN_INT64:
  case COLUMN_TIME: return cache_take_whole(out, i, sqlite3_column_int64(statement, i));
  case COLUMN_REAL: break;
  }
  const bool known = sqlite3_column_type(statement, i) != SQLITE_NULL;
  return cache_take_real(out, i, known ? sqlite3_column_double(statement, i) : (double)NAN);
}

bool cache_read_record(sqlite3_stmt *statement, struct cache_record *out) {
  bool memory = true;
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS && memory; i++) {
    const char *wrong = sqlite_row_read_column(statement, i, out, &memory);
    if (wrong && !out->wrong) out->wrong = wrong, out->wrong_column = i;
  }
  if (memory)
    cache_record_settle(out);
  else
    cache_record_free(out);
  return memory;
}
