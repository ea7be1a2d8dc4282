/* Whether everything in the cache is as cugen writes it: the file itself, the tables, every record, every image. See
   cache.h. */
#include <string.h>

#include "base/error.h"
#include "base/outputs.h"
#include "database.h"

/* Calls visit with each row of the statement; "%S" is the schema of the file. */
static bool each_row(struct cache_check *check, const char *sql,
                     void (*visit)(struct cache_check *check, sqlite3_stmt *row)) {
  struct sqlite_cache *cache = sqlite_cache_of(check->cache);
  struct text text = {0};
  for (const char *mark; (mark = strstr(sql, "%S")); sql = mark + 2) {
    text_add_n(&text, sql, (size_t)(mark - sql));
    text_add(&text, cache->schema);
  }
  text_add(&text, sql);
  sqlite3_stmt *statement = text.failed ? NULL : cache_query(cache, text_get(&text));
  while (statement && sqlite3_step(statement) == SQLITE_ROW) visit(check, statement);
  text_free(&text);
  return statement && sqlite3_finalize(statement) == SQLITE_OK;
}

/* ---- The file and its tables --------------------------------------------------------------------------------- */

static void visit_integrity(struct cache_check *check, sqlite3_stmt *row) {
  if (strcmp(cache_column_text(row, 0), "ok") != 0) cache_check_add(check, "%s", cache_column_text(row, 0));
}

static void visit_reference(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "a row of %s belongs to no row of %s", cache_column_text(row, 0), cache_column_text(row, 2));
}

static void visit_missing_index(struct cache_check *check, sqlite3_stmt *row) {
  (void)row;
  cache_check_add(check, "index 'record_current' is missing: nothing keeps a variant from having two records");
}

static void visit_double(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "variant '%s' has %s records that are not superseded", cache_column_text(row, 0),
                  cache_column_text(row, 1));
}

/* ---- Records -------------------------------------------------------------------------------------------------- */

/* What is wrong with a value; NULL: nothing. */
static const char *value_wrong(sqlite3_stmt *row, int i) {
  const struct cache_column *column = &cache_columns[i];
  cugen_outputs outputs;
  const char *text = cache_column_text(row, i);
  switch (column->type) {
  case COLUMN_TEXT: return NULL;
  case COLUMN_CHARS: return strlen(text) < column->size ? NULL : "is too long";
  case COLUMN_OUTPUTS: return outputs_parse(text, &outputs) ? NULL : CACHE_OUTPUTS_WRONG;
  case COLUMN_HASH: return cache_is_hash(text) || (column->format > 1 && !*text) ? NULL : "is not a hash";
  case COLUMN_REAL:
    if (sqlite3_column_type(row, i) == SQLITE_NULL) return NULL;
    break;
  case COLUMN_INT:
  case COLUMN_INT64: break;
  }
  return cache_column_holds(column, sqlite3_column_double(row, i)) ? NULL : "is out of range";
}

static void visit_record(struct cache_check *check, sqlite3_stmt *row) {
  long long id = sqlite3_column_int64(row, CACHE_COLUMNS);
  struct cache_record record;
  if (sqlite3_column_int(row, CACHE_COLUMNS + 1))
    check->out->history++;
  else
    check->out->records++;
  bool good = true;
  for (int i = 0; i < CACHE_COLUMNS; i++) {
    const char *wrong = value_wrong(row, i);
    if (!wrong) continue;
    good = false;
    cache_check_add(check, "record %lld ('%s'): %s %s: '%s'", id, cache_column_text(row, 0), cache_columns[i].name,
                    wrong, cache_column_text(row, i));
  }
  if (!cache_read_record(row, &record))
    check->wrong->failed = true;
  else if (good)
    cache_check_record(check, id, &record);
  cache_record_free(&record);
}

static void visit_flag(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "record %s: superseded is neither 0 nor 1", cache_column_text(row, 0));
}

static void count_spaces(struct cache_check *check, sqlite3_stmt *row) {
  check->out->spaces = (size_t)sqlite3_column_int64(row, 0);
}

/* ---- Images --------------------------------------------------------------------------------------------------- */

static void visit_lone_entry(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "image '%s' has %s kernels", cache_column_text(row, 0), cache_column_text(row, 1));
}

/* ---- All of it ------------------------------------------------------------------------------------------------ */

#define KERNELS "8"
_Static_assert(KERNEL_MAX_ENTRIES == 8, "as above");

static const struct {
  const char *sql;
  void (*visit)(struct cache_check *check, sqlite3_stmt *row);
} checks[] = {
    {"PRAGMA %S.integrity_check(20)", visit_integrity},
    {"PRAGMA %S.foreign_key_check", visit_reference},
    {"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM %S.sqlite_schema WHERE name = 'record_current' AND type = 'index')",
     visit_missing_index},
    {"SELECT variant, count(*) FROM %S.record WHERE superseded = 0 GROUP BY space_id, variant, hash HAVING count(*) "
     "> 1",
     visit_double},
    {"SELECT count(*) FROM %S.space", count_spaces},
    {"SELECT id FROM %S.record WHERE superseded NOT IN (0, 1)", visit_flag},
    {"SELECT %s, id, superseded FROM main.record", visit_record},
    {"SELECT key, (SELECT count(*) FROM image_entries e WHERE e.key = i.key) AS entries FROM images i "
     "WHERE entries NOT BETWEEN 1 AND " KERNELS,
     visit_lone_entry},
};

int sqlite_verify(struct cache *base, struct cache_checked *out, struct text *wrong, struct text *foreign,
                  cugen_error *err) {
  struct cache_check check = {base, out, wrong, foreign};
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (!each_row(&check, checks[i].sql, checks[i].visit)) return cache_error(sqlite_cache_of(base), "check", err);
  return cache_check_images(&check, err);
}
