/* Whether a database has nothing but tables and indices that cugen makes; see database.h.

   The text of each statement in sqlite_schema is compared with the one that cugen would write,
   column by column, because ALTER TABLE appends the columns of later formats. A difference (a
   trigger, a view, a generated column, a default or a check with an expression) could run when
   the table is used. */
#include <string.h>

#include "base/error.h"
#include "database.h"

/* The indices as SQLite keeps their text: without IF NOT EXISTS. record_current is shorter in
   formats 1 to 4. */
static const char *const indices[] = {
    "CREATE UNIQUE INDEX record_current ON record (space_id, variant, origin) WHERE superseded = 0",
    "CREATE UNIQUE INDEX record_current ON record (space_id, variant) WHERE superseded = 0",
    ("CREATE INDEX record_fastest ON record (space_id, seconds) WHERE superseded = 0 AND outcome = "
     "0"),
    "CREATE INDEX record_variant ON record (space_id, variant, hash)",
};

struct span {
  const char *at;
  size_t length;
};

static bool schema_same(struct span a, struct span b) {
  return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static struct span trimmed(const char *from, const char *to) {
  while (from < to && strchr(" \n", *from)) from++;
  while (from < to && strchr(" \n", to[-1])) to--;
  return (struct span){from, (size_t)(to - from)};
}

/* The three parts of "CREATE TABLE name (", the columns and constraints, ") STRICT". */
struct table {
  struct span head, body, tail;
};

static bool schema_take_apart(struct span sql, struct table *out) {
  const char *end = sql.at + sql.length, *open = memchr(sql.at, '(', sql.length);
  const char *close = open ? memrchr(open, ')', (size_t)(end - open)) : NULL;
  if (!close) return false;
  *out = (struct table){
      trimmed(sql.at, open), {open + 1, (size_t)(close - open - 1)}, trimmed(close, end)};
  return true;
}

/* Takes the next part of a body, up to a comma outside of parentheses. Returns false at the end. */
static bool schema_next_part(struct span *body, struct span *out) {
  const char *at = body->at, *end = at + body->length;
  int depth = 0;
  if (body->length == 0) return false;
  for (; at < end && (*at != ',' || depth); at++) depth += (*at == '(') - (*at == ')');
  *out = trimmed(body->at, at);
  at += at < end;
  *body = (struct span){at, (size_t)(end - at)};
  return true;
}

static bool schema_has_part(struct span body, struct span wanted) {
  struct span part;
  while (schema_next_part(&body, &part))
    if (schema_same(part, wanted)) return true;
  return false;
}

static bool schema_is_table(struct span sql, struct span made) {
  struct table found, wanted;
  struct span part;
  if (!schema_take_apart(sql, &found) || !schema_take_apart(made, &wanted)) return false;
  if (!schema_same(found.head, wanted.head) || !schema_same(found.tail, wanted.tail)) return false;
  while (schema_next_part(&found.body, &part))
    if (!schema_has_part(wanted.body, part)) return false;
  return true;
}

/* sql: the text in sqlite_schema; made: all statements that cugen makes. */
static bool schema_is_ours(const char *sql, const char *made) {
  struct span whole = {sql, strlen(sql)};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
    if (strcmp(sql, indices[i]) == 0) return true;
  for (const char *end; (end = strstr(made, ";\n")); made = end + 2)
    if (schema_is_table(whole, (struct span){made, (size_t)(end - made)})) return true;
  return false;
}

/* ---- The whole schema ----------------------------------------------------------------------- */

int cache_check_schema(sqlite3 *db, const char *schema, const char *tables, const char *path,
                       cugen_error *err) {
  static const char implied_prefix[] = "sqlite_autoindex_";
  struct text sql = {0}, made = {0};
  sqlite3_stmt *row = NULL;
  text_addf(&sql, "SELECT type, name, sql FROM %s.sqlite_schema", schema);
  cache_write_sql(tables, CACHE_FORMAT_VERSION, &made);
  int status = sql.failed || made.failed ? error_memory(err) : CUGEN_OK;
  if (!status && sqlite3_prepare_v2(db, text_get(&sql), -1, &row, NULL))
    status = cache_error_database(db, path, "read", err);
  while (!status && sqlite3_step(row) == SQLITE_ROW) {
    const char *type = cache_column_text(row, 0), *name = cache_column_text(row, 1),
               *text = cache_column_text(row, 2);
    /* The index of a UNIQUE or PRIMARY KEY constraint has no statement of its own. */
    const bool implied = !*text && strcmp(type, "index") == 0 &&
                         strncmp(name, implied_prefix, sizeof implied_prefix - 1) == 0;
    if (!implied && !schema_is_ours(text, text_get(&made)))
      status = error_set(
          err, CUGEN_ERROR_CACHE,
          "%s: %.20s '%.100s' is not as cugen makes it, so nothing in this database is trusted; "
          "ask whoever it is from for 'cugen cache export -o FILE', or move it away, or name "
          "another with cugen_options.cache",
          path, type, name);
  }
  if (row && sqlite3_finalize(row) && !status) status = cache_error_database(db, path, "read", err);
  text_free(&sql);
  text_free(&made);
  return status;
}
