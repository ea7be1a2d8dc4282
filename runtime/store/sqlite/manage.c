/* Removing from the cache, and checking all of it; see cache.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system.h"
#include "database.h"

/* ---- Listing what is removed ---------------------------------------------------------------- */

/* One transaction that removes a million records would lock out tuners for long. Therefore the rows
   to be removed are listed first, which only reads; then they are removed in short transactions
   with pauses. The list also has the values (owner, mark) that a row must still have when it is
   removed, since another process may have removed the listed row and used its id again. */
#define UNLIST_SQL "DROP TABLE IF EXISTS temp.goes"
static const char list_sql[] =
    UNLIST_SQL "; CREATE TEMP TABLE goes (id INTEGER PRIMARY KEY, owner, mark, weight)";

static const char meant_sql[] =
    "INSERT INTO temp.goes SELECT id, space_id, measured_at, superseded FROM main.record WHERE "
    "space_id = ?1 AND (?2 = 0 OR measured_at < ?2) AND (?3 = 0 OR " CACHE_FAILED_SQL
    ") AND (?4 IS NULL OR origin = ?4 OR (origin = '' AND ?5))";

#define STAYS "id NOT IN (SELECT id FROM temp.goes)"

/* Selects the rows of `space` (sets of records) that will have no record left. The query is used
   both to fill temp.goes and to count what would be removed. */
static const char empty_sql[] = "SELECT id, 0, 0, 0 AS weight FROM main.space s WHERE NOT EXISTS "
                                "(SELECT 1 FROM main.record WHERE space_id = s.id AND " STAYS ")";

/* The images whose source no current record has. Records from before format 2 do not say their
   source, so the images with such a record's options stay. The subqueries do not depend on the
   image, so that SQLite runs each only once. */
static const char unwanted_sql[] =
    "SELECT id, key, made_at, length(data) AS weight FROM main.image WHERE substr(key, 1, 32) NOT "
    "IN (SELECT source_hash FROM main.record WHERE superseded = 0 AND " STAYS
    ") AND NOT EXISTS (SELECT 1 FROM (SELECT DISTINCT s.options FROM main.record r JOIN main.space "
    "s ON s.id = r.space_id WHERE r.superseded = 0 AND r.source_hash = '' AND r." STAYS
    ") o WHERE instr(key, ' ' || o.options || ' nvrtc '))";

static const char drop_record_sql[] =
    "DELETE FROM main.record WHERE id = ?1 AND space_id = ?2 AND measured_at = ?3";
static const char drop_space_sql[] = "DELETE FROM main.space WHERE id = ?1 AND NOT EXISTS (SELECT "
                                     "1 FROM main.record WHERE space_id = ?1)";
static const char drop_image_sql[] =
    "DELETE FROM main.image WHERE id = ?1 AND key = ?2 AND made_at = ?3";

static const char doing[] = "remove records";

static bool list_records(struct sqlite_cache *cache, const struct cache_filter *filter) {
  sqlite3_stmt *space =
      cache_query(cache, "SELECT id, device, config, problem, options FROM main.space");
  sqlite3_stmt *add = cache_query(cache, meant_sql);
  bool good = space && add && sqlite3_bind_int64(add, 2, filter->before) == SQLITE_OK &&
              sqlite3_bind_int(add, 3, filter->failed) == SQLITE_OK &&
              (!filter->origin || cache_bind_text(add, 4, filter->origin)) &&
              sqlite3_bind_int(add, 5, filter->unknown) == SQLITE_OK;
  while (good && sqlite3_step(space) == SQLITE_ROW) {
    const struct cache_row row = cache_row_of(space);
    const struct cache_key key = cache_row_key(&row, 1);
    if (cache_filter_takes(filter, &key))
      good =
          sqlite3_bind_int64(add, 1, sqlite3_column_int64(space, 0)) == SQLITE_OK && cache_run(add);
  }
  good = good && sqlite3_reset(space) == SQLITE_OK;
  if (!good) cache_keep_error(cache, doing);
  sqlite3_finalize(space);
  sqlite3_finalize(add);
  return good;
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* Removing the rows of one kind: records, sets or images. */
struct removing {
  struct sqlite_cache *cache;
  const char *rows; /* the query for the rows to list; NULL: they are listed already */
  const char *drop_sql;
  sqlite3_stmt *next, *drop;
  int64_t last;   /* the id up to which the list is done */
  size_t removed; /* removed rows of the list, or rows that count_rows has counted */
  int64_t weight; /* sum over these rows: superseded records, or bytes of images */
};

static bool drop_row(struct removing *removing) {
  sqlite3_stmt *row = removing->next, *drop = removing->drop;
  removing->last = sqlite3_column_int64(row, 0);
  for (int i = 0; i < sqlite3_bind_parameter_count(drop); i++)
    if (sqlite3_bind_value(drop, i + 1, sqlite3_column_value(row, i)) != SQLITE_OK) return false;
  if (!cache_run(drop)) return false;
  if (sqlite3_changes(removing->cache->db) == 0) return true;
  removing->removed++;
  removing->weight += sqlite3_column_int64(row, 3);
  return true;
}

/* Removes as many rows as fit one transaction. */
static bool drop_some(struct removing *removing, bool *more) {
  enum { MOST = 4096, CHECKS = 16 };
  const double end = clock_seconds() + CACHE_STEP_SECONDS;
  sqlite3_stmt *row = removing->next;
  bool good = sqlite3_bind_int64(row, 1, removing->last) == SQLITE_OK;
  for (size_t i = 1; good && (*more = sqlite3_step(row) == SQLITE_ROW); i++) {
    good = drop_row(removing);
    if (!good) cache_keep_error(removing->cache, doing);
    if (i == MOST || (i % CHECKS == 0 && clock_seconds() > end)) break;
  }
  return sqlite3_reset(row) == SQLITE_OK && good;
}

static int drop_step(struct removing *removing, bool *more, cugen_error *err) {
  struct sqlite_cache *cache = removing->cache;
  const struct removing before = *removing;
  cache_hurry(cache, false);
  bool good = cache_step(cache, BEGIN) && drop_some(removing, more);
  int status = cache_finish(cache, good, doing, err);
  if (status) *removing = before; /* the rolled-back rows are not counted */
  cache_hurried(cache, status);
  return status;
}

/* Lists the rows, unless that has been done, and removes them. */
static int drop_rows(struct removing *removing, cugen_error *err) {
  struct sqlite_cache *cache = removing->cache;
  struct text sql = {0};
  int status = CUGEN_OK;
  if (removing->rows) {
    text_addf(&sql, "%s; INSERT INTO temp.goes %s", list_sql, removing->rows);
    if (sql.failed)
      status = error_memory(err);
    else if (!cache_sql(cache->db, text_get(&sql)))
      status = cache_error(cache, doing, err);
    text_free(&sql);
    if (status) return status;
  }
  removing->next =
      cache_query(cache, "SELECT id, owner, mark, weight FROM temp.goes WHERE id > ?1 ORDER BY id");
  removing->drop = cache_query(cache, removing->drop_sql);
  removing->last = INT64_MIN;
  if (!removing->next || !removing->drop) status = cache_error(cache, doing, err);
  for (bool more = true; !status && more;) {
    status = drop_step(removing, &more, err);
    if (!status && more) cache_pause();
  }
  sqlite3_finalize(removing->next);
  sqlite3_finalize(removing->drop);
  return status;
}

/* Counts the rows that drop_rows would remove. */
static bool count_rows(struct removing *removing) {
  struct text sql = {0};
  text_addf(&sql, "SELECT count(*), ifnull(sum(weight), 0) FROM (%s)",
            removing->rows ? removing->rows : "SELECT * FROM temp.goes");
  sqlite3_stmt *statement = sql.failed ? NULL : cache_query(removing->cache, text_get(&sql));
  bool good = statement && sqlite3_step(statement) == SQLITE_ROW;
  if (!good) cache_keep_error(removing->cache, doing);
  removing->removed = good ? (size_t)sqlite3_column_int64(statement, 0) : 0;
  removing->weight = good ? sqlite3_column_int64(statement, 1) : 0;
  text_free(&sql);
  return sqlite3_finalize(statement) == SQLITE_OK && good;
}

/* Returns free space to the disk when that is quick, because other processes wait meanwhile. A
   failure is ignored. */
static void shrink(struct sqlite_cache *cache) {
  enum { QUICK_PAGES = 4096 }; /* 16 MiB */
  sqlite3_stmt *statement = cache_query(
      cache, "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count");
  bool quick = statement && sqlite3_step(statement) == SQLITE_ROW &&
               sqlite3_column_int64(statement, 0) < QUICK_PAGES;
  sqlite3_finalize(statement);
  if (quick) cache_sql(cache->db, "VACUUM");
}

int sqlite_remove(struct cache *base, const struct cache_filter *filter, bool really,
                  cugen_cache_counts *out, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  /* Damage that is found halfway would leave a part of the records removed. */
  const int damaged = really ? cache_quick_check(cache->db, "PRAGMA main.quick_check(1)",
                                                 text_get(&base->path), doing, err)
                             : CUGEN_OK;
  if (damaged) return damaged;
  enum { RECORDS, SETS, IMAGES, KINDS };
  struct removing all[KINDS] = {
      [RECORDS] = {.cache = cache, .rows = NULL, .drop_sql = drop_record_sql},
      [SETS] = {.cache = cache, .rows = empty_sql, .drop_sql = drop_space_sql},
      [IMAGES] = {.cache = cache, .rows = unwanted_sql, .drop_sql = drop_image_sql}};
  /* The rows are listed in one transaction, so that all are of one moment. */
  bool listed = cache_sql(cache->db, "BEGIN") && cache_sql(cache->db, list_sql) &&
                list_records(cache, filter);
  for (int i = 0; i < KINDS && listed && !really; i++) listed = count_rows(&all[i]);
  listed = listed && cache_sql(cache->db, "COMMIT");
  int status = listed ? CUGEN_OK : cache_error(cache, doing, err);
  if (!sqlite3_get_autocommit(cache->db)) cache_step(cache, ROLLBACK);
  for (int i = 0; i < KINDS && !status && really; i++) status = drop_rows(&all[i], err);
  if (!status && really) shrink(cache);
  const size_t history = (size_t)all[RECORDS].weight;
  *out = (cugen_cache_counts){.records = all[RECORDS].removed - history,
                              .history = history,
                              .sets = all[SETS].removed,
                              .images = all[IMAGES].removed,
                              .image_bytes = all[IMAGES].weight};
  cache_sql(cache->db, UNLIST_SQL);
  return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

/* Visits the rows of the statement, in which "%S" stands for the schema of the file. */
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
