/* Storing records and portfolios; see engine.h. */
#include "database.h"

int sqlite_store(struct cache *base, const struct cache_key *key, const struct cache_record *record,
                 cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *space = cache->statements[SPACE_ADD],
               *supersede = cache->statements[RECORD_SUPERSEDE],
               *add = cache->statements[RECORD_ADD];
  cache_hurry(cache, true);
  bool good = cache_bind_key(space, key) && cache_bind_key(supersede, key) &&
              cache_bind_text(supersede, 5, record->variant) &&
              cache_bind_text(supersede, 6, record->hash.hex) &&
              cache_bind_text(supersede, CACHE_ORIGIN, key->origin) && cache_bind_key(add, key) &&
              cache_bind_record(add, record) && cache_bind_text(add, CACHE_ORIGIN, key->origin) &&
              cache_step(cache, BEGIN) && cache_step(cache, SPACE_ADD) &&
              cache_step(cache, RECORD_SUPERSEDE) && cache_step(cache, RECORD_ADD);
  int status = cache_finish(cache, good, "remember a measurement", err);
  cache_hurried(cache, status);
  return status;
}

/* ---- Portfolios ----------------------------------------------------------------------------- */

static const char store_sql[] =
    "INSERT INTO main.portfolio (device, config, class, options, origin, objective, learnt_at, "
    "body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (device, config, class, options, "
    "origin, objective) DO UPDATE SET learnt_at = excluded.learnt_at, body = excluded.body WHERE "
    "excluded.learnt_at >= learnt_at";
static const char remove_sql[] = "DELETE FROM main.portfolio WHERE device = ?1 AND config = ?2 AND "
                                 "class = ?3 AND options = ?4 AND origin = ?5 AND objective = ?6";

static bool bind_key(sqlite3_stmt *statement, const struct cache_portfolio *p) {
  int place = 0;
#define X(name)                                                                                    \
  if (!cache_bind_text(statement, ++place, p->name)) return false;
  CACHE_PORTFOLIO_KEY(X)
#undef X
  return true;
}

static bool store_one(sqlite3_stmt *statement, const struct cache_portfolio *p) {
  return bind_key(statement, p) &&
         sqlite3_bind_int64(statement, 7, cache_time(p->learnt_at, 1)) == SQLITE_OK &&
         cache_bind_text(statement, 8, p->body) && cache_run(statement);
}

static bool remove_one(sqlite3_stmt *statement, const struct cache_portfolio *p) {
  return bind_key(statement, p) && cache_run(statement);
}

int sqlite_portfolios_change(struct cache *base, const struct cache_portfolio *portfolios,
                             size_t count, bool removed, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache_query(cache, removed ? remove_sql : store_sql);
  bool good = statement && cache_step(cache, BEGIN);
  for (size_t i = 0; i < count && good; i++)
    good = (removed ? remove_one : store_one)(statement, &portfolios[i]);
  int status =
      cache_finish(cache, good, removed ? "remove portfolios" : "remember a portfolio", err);
  sqlite3_finalize(statement);
  return status;
}
