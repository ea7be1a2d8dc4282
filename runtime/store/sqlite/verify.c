/* Checks that everything in the cache is as cugen writes it: the file itself, the tables, every
   record, every image. See cache.h. */
#include <string.h>

#include "base/error.h"
#include "database.h"

/* Calls visit with each row of the statement; "%S" is replaced by the schema of the file. */
static bool verify_each_row(struct cache_check *check, const char *sql,
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

/* ---- The file and its tables ---------------------------------------------------------------- */

static void visit_integrity(struct cache_check *check, sqlite3_stmt *row) {
  if (strcmp(cache_column_text(row, 0), "ok") != 0)
    cache_check_add(check, "%s", cache_column_text(row, 0));
}

static void visit_reference(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "a row of %s belongs to no row of %s", cache_column_text(row, 0),
                  cache_column_text(row, 2));
}

static void visit_missing_index(struct cache_check *check, sqlite3_stmt *row) {
  (void)row;
  cache_check_add(
      check, "index 'record_current' is missing: nothing keeps a variant from having two records");
}

static void visit_double(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "variant '%s' has %s records that are not superseded",
                  cache_column_text(row, 0), cache_column_text(row, 1));
}

/* ---- Records -------------------------------------------------------------------------------- */

static void verify_visit_record(struct cache_check *check, sqlite3_stmt *row) {
  struct cache_record record;
  ++*(sqlite3_column_int(row, CACHE_COLUMNS + 1) ? &check->out->history : &check->out->records);
  if (!cache_read_record(row, &record)) {
    check->wrong->failed = true;
    return;
  }
  const char *value = record.wrong ? cache_column_text(row, record.wrong_column) : "";
  cache_check_record(check, sqlite3_column_int64(row, CACHE_COLUMNS), &record, value);
  cache_record_free(&record);
}

static void visit_flag(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "record %s: superseded is neither 0 nor 1", cache_column_text(row, 0));
}

static void verify_visit_space(struct cache_check *check, sqlite3_stmt *row) {
  const struct cache_key key = {.device = cache_column_text(row, 0),
                                .config = cache_column_text(row, 1),
                                .problem = cache_column_text(row, 2),
                                .options = cache_column_text(row, 3)};
  check->out->sets++;
  cache_check_key(check, sqlite3_column_int64(row, 4), &key);
}

/* ---- Images --------------------------------------------------------------------------------- */

static void visit_lone_entry(struct cache_check *check, sqlite3_stmt *row) {
  cache_check_add(check, "image '%s' has %s kernels", cache_column_text(row, 0),
                  cache_column_text(row, 1));
}

/* ---- The whole check ------------------------------------------------------------------------ */

#define KERNELS "8"
_Static_assert(KERNEL_MAX_ENTRIES == 8, "as above");

static const struct {
  const char *sql;
  void (*visit)(struct cache_check *check, sqlite3_stmt *row);
} checks[] = {
    {"PRAGMA %S.integrity_check(20)", visit_integrity},
    {"PRAGMA %S.foreign_key_check", visit_reference},
    {"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM %S.sqlite_schema WHERE name = 'record_current' AND "
     "type = 'index')",
     visit_missing_index},
    {"SELECT variant, count(*) FROM %S.record WHERE superseded = 0 GROUP BY space_id, variant, "
     "hash HAVING count(*) "
     "> 1",
     visit_double},
    {"SELECT device, config, problem, options, id FROM %S.space", verify_visit_space},
    {"SELECT id FROM %S.record WHERE superseded NOT IN (0, 1)", visit_flag},
    {"SELECT %s, id, superseded FROM main.record", verify_visit_record},
    {"SELECT key, (SELECT count(*) FROM image_entries e WHERE e.key = i.key) AS entries FROM "
     "images i "
     "WHERE entries NOT BETWEEN 1 AND " KERNELS,
     visit_lone_entry},
};

int sqlite_verify(struct cache *base, cugen_cache_counts *out, struct text *wrong,
                  struct text *foreign, cugen_error *err) {
  struct cache_check check = {base, out, wrong, foreign};
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (!verify_each_row(&check, checks[i].sql, checks[i].visit))
      return cache_error(sqlite_cache_of(base), "check", err);
  return cache_check_images(&check, err);
}
