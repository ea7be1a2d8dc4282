/* The tables of the cache, their older formats, and the statements that stay prepared; see
   database.h and docs/cache.md. */
#include "database.h"

#include <string.h>

#include "base/error.h"

/* A REAL that is not a number is stored as NULL. */
static const char *const column_sql[] = {
    [CACHE_TEXT] = "TEXT NOT NULL", [CACHE_WHOLE] = "INTEGER NOT NULL", [CACHE_REAL] = "REAL"};

/* ---- The statements ------------------------------------------------------------------------- */

#define KEY_IS       "device = ?1 AND config = ?2 AND problem = ?3 AND options = ?4"
#define SPACE_OF_KEY "(SELECT id FROM space WHERE " KEY_IS ")"

#define COST_BY(work) "coalesce(seconds / " work ", 9e999)"
#define ENERGY        "CASE WHEN energy > 0 THEN energy ELSE 9e999 END"
#define FASTEST_BY(cost)                                                                           \
  "SELECT source_hash FROM (SELECT source_hash, min(" cost                                         \
  ") FROM main.record WHERE outcome = 0 AND superseded = 0 GROUP BY space_id, origin)"

/* The sources of the fastest records of each set and config file: by time, time per flop, time per
   byte, and energy. */
#define FASTEST                                                                                    \
  FASTEST_BY("seconds")                                                                            \
  " UNION " FASTEST_BY(COST_BY("flops")) " UNION " FASTEST_BY(                                     \
      COST_BY("bytes")) " UNION " FASTEST_BY(ENERGY)

/* "%s": the names of a record's columns; "%v": their parameters from ?5 on. */
static const char *const statement_sql[CACHE_STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [SPACE_ADD] =
        "INSERT OR IGNORE INTO space (device, config, problem, options) VALUES (?1, ?2, ?3, ?4)",
    [RECORD_SUPERSEDE] =
        "UPDATE record SET superseded = 1 WHERE superseded = 0 AND variant = ?5 AND (origin "
        "= " CACHE_ORIGIN_PLACE " OR origin = '' OR hash = ?6) AND space_id = " SPACE_OF_KEY,
    [RECORD_ADD] = "INSERT INTO record (space_id, superseded, origin, %s) VALUES (" SPACE_OF_KEY
                   ", 0, " CACHE_ORIGIN_PLACE ", %v)",
    [IMAGE_LOAD] = "SELECT hash, log, data, seal FROM images WHERE key = ?1 AND " CACHE_IMAGE_FITS,
    [IMAGE_ENTRIES] =
        "SELECT name, registers, max_threads, static_shared, local_bytes, spill_bytes, "
        "constant_bytes FROM image_entries WHERE key = ?1 ORDER BY position",
    /* ?1: `most` of image_trim in engine.h */
    [IMAGE_TRIM] =
        "DELETE FROM main.image WHERE (SELECT total(length(data)) FROM main.image) > ?1 AND +id IN "
        "(SELECT id FROM (SELECT id, sum(length(data)) OVER (ORDER BY id DESC) AS bytes FROM "
        "main.image WHERE substr(key, 1, 32) NOT IN (" FASTEST ")) WHERE bytes > ?1)",
    [IMAGE_DROP] = "DELETE FROM image WHERE key = ?1",
    [IMAGE_ADD] = "INSERT INTO image (key, checksum, hash, made_at, log, data, seal) VALUES (?1, "
                  "?2, ?3, ?4, ?5, ?6, ?7)",
    [IMAGE_ENTRY_ADD] = "INSERT OR REPLACE INTO image_entry (key, position, name, registers, "
                        "max_threads, static_shared, local_bytes, spill_bytes, constant_bytes) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
};

#define SEAL_SQL   "seal BLOB NOT NULL DEFAULT x''"
#define ORIGIN_SQL "origin TEXT NOT NULL DEFAULT ''"
#define CURRENT_SQL                                                                                \
  "CREATE UNIQUE INDEX record_current ON record (space_id, variant, origin) WHERE superseded = "   \
  "0;\n"
#define FASTEST_SQL                                                                                \
  "CREATE INDEX IF NOT EXISTS record_fastest ON record (space_id, seconds) WHERE superseded = 0 "  \
  "AND outcome = 0;\n"

/* An index of all records: without it, looking for a set's history or removing a set reads the
   whole table. */
#define VARIANT_SQL "CREATE INDEX record_variant ON record (space_id, variant, hash);\n"

/* The body of a portfolio is a text of its own format (runtime/store/portfolio.h). */
#define PORTFOLIO_SQL                                                                              \
  "CREATE TABLE portfolio (\n"                                                                     \
  "  id INTEGER PRIMARY KEY, device TEXT NOT NULL, config TEXT NOT NULL, class TEXT NOT NULL,\n"   \
  "  options TEXT NOT NULL, origin TEXT NOT NULL, objective TEXT NOT NULL, learnt_at INTEGER NOT " \
  "NULL,\n"                                                                                        \
  "  body TEXT NOT NULL, UNIQUE (device, config, class, options, origin, objective)) STRICT;\n"

/* "%t": the columns with their types. */
const char cache_tables_sql[] =
    "CREATE TABLE space (\n"
    "  id INTEGER PRIMARY KEY, device TEXT NOT NULL, config TEXT NOT NULL, problem TEXT NOT NULL,\n"
    "  options TEXT NOT NULL, UNIQUE (device, config, problem, options)) STRICT;\n"
    "CREATE TABLE record (\n"
    "  id INTEGER PRIMARY KEY, space_id INTEGER NOT NULL REFERENCES space, superseded INTEGER NOT "
    "NULL,\n"
    "  %t) STRICT;\n" CURRENT_SQL FASTEST_SQL VARIANT_SQL "CREATE TABLE image (\n"
    "  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, checksum TEXT NOT NULL, hash TEXT NOT "
    "NULL,\n"
    "  made_at INTEGER NOT NULL, log TEXT NOT NULL, data BLOB NOT NULL, " SEAL_SQL ") STRICT;\n"
    "CREATE TABLE image_entry (\n"
    "  key TEXT NOT NULL REFERENCES image (key) ON DELETE CASCADE, position INTEGER NOT NULL, name "
    "TEXT NOT NULL,\n"
    "  registers INTEGER NOT NULL, max_threads INTEGER NOT NULL, static_shared INTEGER NOT NULL,\n"
    "  local_bytes INTEGER NOT NULL, spill_bytes INTEGER NOT NULL, constant_bytes INTEGER NOT "
    "NULL,\n"
    "  PRIMARY KEY (key, position)) STRICT, WITHOUT ROWID;\n" PORTFOLIO_SQL;

/* The image tables that look-ups read: those of main, and of a read-only database that is attached
   as disk. */
#define IMAGES(schema) "SELECT key, hash, log, data, seal FROM " schema ".image"
#define ENTRIES(schema)                                                                            \
  "SELECT key, position, name, registers, max_threads, static_shared, local_bytes, spill_bytes, "  \
  "constant_bytes "                                                                                \
  "FROM " schema ".image_entry"
#define NOT_IN_MAIN " WHERE key NOT IN (SELECT key FROM main.image)"
static const char views_sql[] = "CREATE TEMP VIEW images AS " IMAGES(
    "main") ";CREATE TEMP VIEW image_entries AS " ENTRIES("main");
static const char views_with_disk_sql[] =
    "CREATE TEMP VIEW images AS " IMAGES("main") " UNION ALL " IMAGES("disk") NOT_IN_MAIN
    ";CREATE TEMP VIEW image_entries AS " ENTRIES("main") " UNION ALL " ENTRIES("disk") NOT_IN_MAIN;

/* ---- Making, checking, preparing ------------------------------------------------------------ */

bool cache_sql(sqlite3 *db, const char *sql) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Nothing in the file's schema may run, its pages are not trusted, and the sizes of values and
   statements are limited. */
bool cache_harden(sqlite3 *db) {
  static const int switches[][2] = {{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
  static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, 2 * (int)CACHE_MAX_IMAGE + (16 << 20)},
                                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                  {SQLITE_LIMIT_ATTACHED, 1},
                                  {SQLITE_LIMIT_WORKER_THREADS, 0},
                                  {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                  {SQLITE_LIMIT_COLUMN, 200}};
  bool good = true;
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    good = good && sqlite3_db_config(db, switches[i][0], switches[i][1], NULL) == SQLITE_OK;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    sqlite3_limit(db, limits[i][0], limits[i][1]);
  return good &&
         cache_sql(db,
                   "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
}

static bool query_text(sqlite3 *db, const char *sql, struct text *out) {
  sqlite3_stmt *statement = NULL;
  bool got = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
             sqlite3_step(statement) == SQLITE_ROW;
  const char *text = got ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  if (text) text_add(out, text);
  got = text != NULL; /* copied before finalize, because the statement owns the text */
  return sqlite3_finalize(statement) == SQLITE_OK && got;
}

static bool query_is(sqlite3 *db, const char *sql, const char *want) {
  struct text got = {0};
  bool is = query_text(db, sql, &got) && !got.failed && strcmp(text_get(&got), want) == 0;
  text_free(&got);
  return is;
}

int cache_query_number(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  bool got = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
             sqlite3_step(statement) == SQLITE_ROW;
  int number = got ? sqlite3_column_int(statement, 0) : -1;
  return sqlite3_finalize(statement) == SQLITE_OK ? number : -1;
}

/* The value that a column has in rows from before its format. */
static const char *default_of(const struct cache_column *column) {
  return column->type >= COLUMN_INT ? "0" : "''";
}

/* Appends a record's columns: "%s" the names, "%t" names and types (with origin, which format 5
   added among them), "%v" the parameters from ?5 on, "%o" the names or, for columns that tables of
   `format` lack, default values. */
static void tables_write_columns(char how, int format, struct text *out) {
  for (int i = 0; i < CACHE_COLUMNS; i++) {
    const struct cache_column *column = &cache_columns[i];
    if (i) text_add(out, ", ");
    if (how == 't' && i && column->format > 5 && cache_columns[i - 1].format < 5)
      text_add(out, ORIGIN_SQL ", ");
    if (how == 'v')
      text_addf(out, "?%d", 5 + i);
    else
      text_add(out, how == 'o' && column->format > format ? default_of(column) : column->name);
    if (how == 't') text_addf(out, " %s", column_sql[cache_kind_of(i)]);
    if (how == 't' && column->format > 1) text_addf(out, " DEFAULT %s", default_of(column));
  }
}

void cache_write_sql(const char *sql, int format, struct text *out) {
  for (const char *mark; (mark = strchr(sql, '%')); sql = mark + 2) {
    text_add_n(out, sql, (size_t)(mark - sql));
    tables_write_columns(mark[1], format, out);
  }
  text_add(out, sql);
}

bool cache_sql_on(sqlite3 *db, const char *sql, int format) {
  struct text text = {0};
  cache_write_sql(sql, format, &text);
  bool good = !text.failed && cache_sql(db, text_get(&text));
  text_free(&text);
  return good;
}

/* Returns the number of tables and indexes; negative: the database cannot be read. */
static int count_schema(sqlite3 *db) {
  return cache_query_number(db, "SELECT count(*) FROM sqlite_schema");
}

bool cache_is_logged(sqlite3 *db) {
  return query_is(db, "PRAGMA journal_mode = WAL", "wal");
}

bool cache_make_tables(sqlite3 *db) {
  const int count = count_schema(db);
  if (count) return count > 0;
  struct text sql = {0};
  text_addf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", CACHE_APPLICATION_ID,
            CACHE_FORMAT_VERSION);
  cache_write_sql(cache_tables_sql, CACHE_FORMAT_VERSION, &sql);
  bool made = !sql.failed && cache_sql(db, "BEGIN IMMEDIATE");
  if (made && !count_schema(db)) made = cache_sql(db, text_get(&sql));
  made = made && cache_sql(db, "COMMIT");
  text_free(&sql);
  return made;
}

/* migrations[i]: the step from format i to i + 1, besides the record's new columns; NULL: none.
   Images from before format 7 have no seal and are removed. */
static const char *const migrations[CACHE_FORMAT_VERSION] = {
    [1] = (FASTEST_SQL),
    [4] = ("ALTER TABLE record ADD COLUMN " ORIGIN_SQL ";DROP INDEX record_current;" CURRENT_SQL),
    [6] =
        (VARIANT_SQL
         "DELETE FROM image_entry; DELETE FROM image; ALTER TABLE image ADD COLUMN " SEAL_SQL ";"),
    [10] = (PORTFOLIO_SQL),
};

static bool migrate(sqlite3 *db, int format) {
  struct text sql = {0};
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (cache_columns[i].format == format + 1)
      text_addf(&sql, "ALTER TABLE record ADD COLUMN %s %s DEFAULT %s;", cache_columns[i].name,
                column_sql[cache_kind_of(i)], default_of(&cache_columns[i]));
  if (migrations[format]) text_add(&sql, migrations[format]);
  text_addf(&sql, "PRAGMA user_version = %d", format + 1);
  bool good = !sql.failed && cache_sql(db, text_get(&sql));
  text_free(&sql);
  return good;
}

#define COPY_SQL(origin)                                                                           \
  "INSERT INTO main.space (id, device, config, problem, options) "                                 \
  "SELECT id, device, config, problem, options FROM disk.space;"                                   \
  "INSERT INTO main.record (id, space_id, superseded, %s, origin) "                                \
  "SELECT id, space_id, superseded, %o, " origin " FROM disk.record"
#define COPY_PORTFOLIOS_SQL                                                                        \
  ";INSERT INTO main.portfolio (id, device, config, class, options, origin, objective, "           \
  "learnt_at, body) "                                                                              \
  "SELECT id, device, config, class, options, origin, objective, learnt_at, body FROM "            \
  "disk.portfolio"
/* for formats from 11 on */
static const char copy_sql[] = COPY_SQL("origin") COPY_PORTFOLIOS_SQL;
/* for formats 5 to 10, and for earlier formats */
static const char copy_10_sql[] = COPY_SQL("origin"), copy_4_sql[] = COPY_SQL("''");

bool cache_is_current(sqlite3 *db) {
  return cache_query_number(db, "PRAGMA user_version") >= CACHE_FORMAT_VERSION;
}

bool cache_migrate(sqlite3 *db) {
  if (cache_is_current(db)) return true;
  bool good = cache_sql(db, "BEGIN IMMEDIATE"); /* from here on no other process migrates */
  while (good && !cache_is_current(db)) {
    int version = cache_query_number(db, "PRAGMA user_version");
    good = version > 0 && version < CACHE_FORMAT_VERSION && migrate(db, version);
  }
  return good && cache_sql(db, "COMMIT");
}

bool cache_copy_disk(sqlite3 *db) {
  const int format = cache_query_number(db, "PRAGMA disk.user_version");
  return cache_sql_on(db, format < 5 ? copy_4_sql : format < 11 ? copy_10_sql : copy_sql, format);
}

int cache_quick_check(sqlite3 *db, const char *sql, const char *path, const char *doing,
                      cugen_error *err) {
  struct text answer = {0};
  int status = CUGEN_OK;
  if (!query_text(db, sql, &answer))
    status = cache_error_database(db, path, doing, err);
  else if (!*text_get(&answer)) /* there was no memory for the answer's text */
    status = error_memory(err);
  else if (strcmp(text_get(&answer), "ok") != 0)
    status = cache_error_corrupt(path, text_get(&answer), err);
  text_free(&answer);
  return status;
}

int cache_check_tables(sqlite3 *db, const char *schema, const char *path, cugen_error *err) {
  static const char *const tables[] = {"space", "record", "portfolio"};
  struct text sql = {0};
  text_addf(&sql,
            "SELECT count(*) FROM %s.sqlite_schema WHERE type = 'table' AND name = 'portfolio'",
            schema);
  /* There are no portfolios before format 11, and none in an import's own database. */
  const bool portfolios = !sql.failed && query_is(db, text_get(&sql), "1");
  const size_t count = sizeof tables / sizeof *tables - !portfolios;
  int status = CUGEN_OK;
  for (size_t i = 0; !status && i < count; i++) {
    text_clear(&sql);
    text_addf(&sql, "PRAGMA %s.quick_check('%s')", schema, tables[i]);
    status =
        sql.failed ? error_memory(err) : cache_quick_check(db, text_get(&sql), path, "read", err);
  }
  text_free(&sql);
  return status;
}

bool cache_prepare_on(sqlite3 *db, const char *sql, int format, sqlite3_stmt **out) {
  struct text text = {0};
  cache_write_sql(sql, format, &text);
  *out = NULL;
  if (!text.failed && sqlite3_prepare_v2(db, text_get(&text), -1, out, NULL)) *out = NULL;
  text_free(&text);
  return *out != NULL;
}

sqlite3_stmt *cache_query(struct sqlite_cache *cache, const char *sql) {
  sqlite3_stmt *statement;
  cache_prepare_on(cache->db, sql, CACHE_FORMAT_VERSION, &statement);
  return statement;
}

int cache_prepare(struct sqlite_cache *cache, bool with_disk, cugen_error *err) {
  cache->schema = with_disk ? "disk" : "main";
  bool both = with_disk &&
              cache_query_number(cache->db, "PRAGMA disk.user_version") >= CACHE_FORMAT_VERSION;
  if (!cache_sql(cache->db, both ? views_with_disk_sql : views_sql))
    return cache_error(cache, "read", err);
  struct text sql = {0};
  int status = CUGEN_OK;
  for (int i = 0; i < CACHE_STATEMENTS && !status; i++) {
    text_clear(&sql);
    cache_write_sql(statement_sql[i], CACHE_FORMAT_VERSION, &sql);
    if (sql.failed)
      status = error_memory(err);
    else if (sqlite3_prepare_v3(cache->db, text_get(&sql), -1, SQLITE_PREPARE_PERSISTENT,
                                &cache->statements[i], NULL))
      status = cache_error(cache, "read", err);
  }
  text_free(&sql);
  return status;
}
