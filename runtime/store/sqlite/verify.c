/* Checks that everything in the cache is as cugen writes it: the file itself, the tables, every
   record, every image. See cache.h. */
#include <string.h>

#include "database.h"

/* Calls visit with each row of the statement; "%S" is replaced by the schema of the file. */
static int verify_each_row(struct cache_check *check, const char *sql, cache_row_visitor *visit,
                           cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(check->cache);
  struct text text = {0};
  for (const char *mark; (mark = strstr(sql, "%S")); sql = mark + 2) {
    text_add_n(&text, sql, (size_t)(mark - sql));
    text_add(&text, cache->schema);
  }
  text_add(&text, sql);
  sqlite3_stmt *statement = text.failed ? NULL : cache_query(cache, text_get(&text));
  int status = cache_visit(cache, statement, visit, check, "check", err);
  sqlite3_finalize(statement);
  text_free(&text);
  return status;
}

static const char *const defects[] = {
    "SELECT * FROM pragma_integrity_check(20, '%S') WHERE integrity_check <> 'ok'",
    "SELECT 'a row of ' || \"table\" || ' belongs to no row of ' || parent FROM "
    "pragma_foreign_key_check(NULL, '%S')",
    "SELECT 'index ''record_current'' is missing: nothing keeps a variant from having two records' "
    "WHERE NOT EXISTS (SELECT 1 FROM %S.sqlite_schema WHERE name = 'record_current' AND type = "
    "'index')",
};

int sqlite_verify(struct cache_check *check, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < sizeof defects / sizeof *defects && !status; i++)
    status = verify_each_row(check, defects[i], cache_check_words, err);
  if (!status)
    status = verify_each_row(check, "SELECT %s, id, superseded FROM main.record",
                             cache_check_record, err);
  return status ? status : cache_check_rest(check, err);
}
