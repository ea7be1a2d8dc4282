/* Keys and records to and from the rows of statements; see database.h. */
#include <math.h>
#include <string.h>

#include "database.h"

bool cache_bind_text(sqlite3_stmt *statement, int place, const char *string) {
  return sqlite3_bind_text(statement, place, string ? string : "", -1, SQLITE_STATIC) == SQLITE_OK;
}

bool cache_bind_key(sqlite3_stmt *statement, const struct cache_key *key) {
  for (int i = 0; i < CACHE_KEY_PARTS; i++)
    if (!cache_bind_text(statement, i + 1, cache_key_text(key, i))) return false;
  return true;
}

static bool bind_column(sqlite3_stmt *statement, int place, const struct cache_record *record,
                        int column) {
  char outputs[OUTPUTS_TEXT];
  const struct cache_value value = cache_value_of(record, column, outputs);
  switch (value.kind) {
  case CACHE_TEXT: /* SQLite copies a text that does not live until the statement has run */
    return sqlite3_bind_text(statement, place, value.text, -1,
                             value.text == outputs ? SQLITE_TRANSIENT : SQLITE_STATIC) == SQLITE_OK;
  case CACHE_WHOLE: return sqlite3_bind_int64(statement, place, value.whole) == SQLITE_OK;
  case CACHE_REAL: break;
  }
  return sqlite3_bind_double(statement, place, value.real) == SQLITE_OK;
}

bool cache_bind_record(sqlite3_stmt *statement, const struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!bind_column(statement, 5 + i, record, i)) return false;
  return true;
}

const char *cache_column_text(sqlite3_stmt *statement, int i) {
  const unsigned char *text = sqlite3_column_text(statement, i);
  return text ? (const char *)text : "";
}

bool cache_run(sqlite3_stmt *statement) {
  sqlite3_step(statement);
  return sqlite3_reset(statement) == SQLITE_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static const char *sqlite_row_text(const struct cache_row *row, int column) {
  return cache_column_text(row->answer, column);
}

static int64_t sqlite_row_integer(const struct cache_row *row, int column) {
  return sqlite3_column_int64(row->answer, column);
}

static double sqlite_row_real(const struct cache_row *row, int column) {
  const bool known = sqlite3_column_type(row->answer, column) != SQLITE_NULL;
  return known ? sqlite3_column_double(row->answer, column) : (double)NAN;
}

struct cache_row cache_row_of(sqlite3_stmt *statement) {
  static const struct cache_columns_of columns = {sqlite_row_text, sqlite_row_integer,
                                                  sqlite_row_real};
  return (struct cache_row){.columns = &columns, .answer = statement};
}

int cache_visit(struct sqlite_cache *cache, sqlite3_stmt *statement, cache_row_visitor *visit,
                void *context, const char *doing, cugen_error *err) {
  const struct cache_row row = cache_row_of(statement);
  int status = CUGEN_OK;
  while (statement && !status && sqlite3_step(statement) == SQLITE_ROW)
    status = visit(context, &row, err);
  const bool good = statement && sqlite3_reset(statement) == SQLITE_OK;
  if (!status && !good) return cache_error(cache, doing, err);
  return status == CACHE_STOP ? CUGEN_OK : status;
}

int sqlite_query(struct cache *base, enum cache_query which, const char *const *values, int count,
                 cache_row_visitor *visit, void *context, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt **statement = &cache->queries[which];
  if (!*statement) {
    struct text sql = {0};
    cache_query_sql(which, false, &sql);
    if (!sql.failed) *statement = cache_query(cache, text_get(&sql));
    text_free(&sql);
  }
  for (int i = 0; *statement && i < count; i++)
    if (!cache_bind_text(*statement, i + 1, values[i]))
      return cache_error(cache, cache_query_doing(which), err);
  return cache_visit(cache, *statement, visit, context, cache_query_doing(which), err);
}
