/* Loading the records of one key; see database.h. Which other records belong to a key is decided
   in runtime/store/load.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "database.h"

/* statement NULL: preparing it failed. */
static int sqlite_load_all(struct sqlite_cache *cache, sqlite3_stmt *statement,
                           const struct cache_key *key, struct cache_records *records,
                           cugen_error *err) {
  bool memory = true;
  if (statement && cache_bind_key(statement, key) &&
      cache_bind_text(statement, CACHE_ORIGIN, key->origin)) {
    while (memory && sqlite3_step(statement) == SQLITE_ROW) {
      struct cache_record *next = cache_records_next(records);
      memory = next && cache_read_record(statement, next);
      if (memory) next->elsewhere = sqlite3_column_int(statement, CACHE_COLUMNS) != 0;
      if (memory && next->wrong)
        cache_record_free(next); /* an invalid record is treated as missing */
      else if (memory)
        records->count++;
    }
  }
  bool good = statement && sqlite3_reset(statement) == SQLITE_OK;
  return !memory ? error_memory(err) : good ? CUGEN_OK : cache_error(cache, "read", err);
}

int sqlite_load(struct cache *base, const struct cache_key *key, struct cache_records *out,
                cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  return sqlite_load_all(cache, cache->statements[RECORD_LOAD], key, out, err);
}

int sqlite_history(struct cache *base, const struct cache_key *key, struct cache_records *out,
                   cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache_query(
      cache, "SELECT %s, 0 FROM record WHERE superseded = 1 AND origin IN ('', " CACHE_ORIGIN_PLACE
             ") AND space_id = (SELECT id FROM space WHERE device = ?1 "
             "AND config = ?2 AND problem = ?3 AND options = ?4) ORDER BY id DESC");
  int status = sqlite_load_all(cache, statement, key, out, err);
  sqlite3_finalize(statement);
  return status;
}

/* ---- The fastest ---------------------------------------------------------------------------- */

static int visit_row(sqlite3_stmt *statement, cache_visitor *visit, void *context, bool *stop,
                     cugen_error *err) {
  struct cache_record record;
  if (!cache_read_record(statement, &record)) return error_memory(err);
  int status = record.wrong ? CUGEN_OK : visit(context, &record, stop, err);
  cache_record_free(&record);
  return status;
}

int sqlite_fastest(struct cache *base, const struct cache_key *key, cache_visitor *visit,
                   void *context, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache->statements[RECORD_FASTEST];
  int status = CUGEN_OK;
  bool stop = false;
  if (cache_bind_key(statement, key))
    while (!status && !stop && sqlite3_step(statement) == SQLITE_ROW)
      status = visit_row(statement, visit, context, &stop, err);
  bool good = sqlite3_reset(statement) == SQLITE_OK;
  return !status && !good ? cache_error(cache, "read", err) : status;
}

/* ---- Problems ------------------------------------------------------------------------------- */

static int load_visit_problems(struct sqlite_cache *cache, sqlite3_stmt *statement,
                               cache_problem_visitor *visit, void *context, cugen_error *err) {
  int status = CUGEN_OK;
  while (!status && sqlite3_step(statement) == SQLITE_ROW)
    status = visit(context, cache_column_text(statement, 0), err);
  bool good = sqlite3_reset(statement) == SQLITE_OK;
  return !status && !good ? cache_error(cache, "read", err) : status;
}

int sqlite_problems(struct cache *base, const struct cache_key *key, cache_problem_visitor *visit,
                    void *context, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache->statements[SPACE_LIST];
  if (!cache_bind_text(statement, 1, key->device) || !cache_bind_text(statement, 2, key->config) ||
      !cache_bind_text(statement, 4, key->options))
    return cache_error(cache, "read", err);
  return load_visit_problems(cache, statement, visit, context, err);
}

/* Called only for a kernel without records of this device. */
int sqlite_devices(struct cache *base, const struct cache_key *key, cache_device_visitor *visit,
                   void *context, cugen_error *err) {
  static const char sql[] =
      "SELECT device, options FROM space s WHERE config = ?1 AND problem = ?2 AND EXISTS "
      "(SELECT 1 FROM record WHERE space_id = s.id AND superseded = 0 AND outcome = 0) "
      "ORDER BY device, options";
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache_query(cache, sql);
  bool good = statement && cache_bind_text(statement, 1, key->config) &&
              cache_bind_text(statement, 2, key->problem);
  int status = CUGEN_OK;
  while (good && !status && sqlite3_step(statement) == SQLITE_ROW)
    status = visit(context, cache_column_text(statement, 0), cache_column_text(statement, 1), err);
  good = good && sqlite3_reset(statement) == SQLITE_OK;
  if (!status && !good) status = cache_error(cache, "read", err);
  sqlite3_finalize(statement);
  return status;
}

int sqlite_shorter(struct cache *base, const struct cache_key *key, const char *from,
                   const char *to, cache_problem_visitor *visit, void *context, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache->statements[SPACE_SHORTER];
  if (!cache_bind_key(statement, key) || !cache_bind_text(statement, 5, from) ||
      !cache_bind_text(statement, 6, to))
    return cache_error(cache, "read", err);
  return load_visit_problems(cache, statement, visit, context, err);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

int sqlite_greatest_rate(struct cache *base, const char *device, const char *config,
                         const char *word, struct cache_rate *out, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache_query(
      cache, "SELECT flops / seconds, bytes / seconds, measured_at FROM space JOIN record ON "
             "space_id = space.id "
             "WHERE device = ?1 AND config = ?2 AND instr(' ' || problem || ' ', ' ' || ?3) > 0 "
             "AND superseded = 0 AND outcome = 0 AND seconds > 0 ORDER BY (flops + bytes) / "
             "seconds DESC LIMIT 1");
  bool good = statement && cache_bind_text(statement, 1, device) &&
              cache_bind_text(statement, 2, config) && cache_bind_text(statement, 3, word);
  if (good && sqlite3_step(statement) == SQLITE_ROW)
    *out = (struct cache_rate){sqlite3_column_double(statement, 0),
                               sqlite3_column_double(statement, 1),
                               sqlite3_column_int64(statement, 2)};
  good = good && sqlite3_reset(statement) == SQLITE_OK;
  int status = good ? CUGEN_OK : cache_error(cache, "read", err);
  sqlite3_finalize(statement);
  return status;
}
