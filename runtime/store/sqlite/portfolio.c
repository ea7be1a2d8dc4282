/* Portfolios in the database; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "database.h"

#define COLUMNS "device, config, class, options, origin, objective, learnt_at, body"
enum { LEARNT_AT = 6, BODY = 7 };

static const char list_sql[] =
    "SELECT " COLUMNS
    " FROM main.portfolio ORDER BY config, device, options, class, objective, origin";
static const char of_key_sql[] =
    "SELECT " COLUMNS " FROM main.portfolio WHERE device = ?1 AND config = ?2 AND options = ?4 "
    "ORDER BY learnt_at DESC, origin DESC, class, objective";
static const char store_sql[] =
    "INSERT INTO main.portfolio (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
    "ON CONFLICT (device, config, class, options, origin, objective) DO UPDATE SET learnt_at = "
    "excluded.learnt_at, "
    "body = excluded.body WHERE excluded.learnt_at >= learnt_at";
static const char remove_sql[] =
    "DELETE FROM main.portfolio WHERE device = ?1 AND config = ?2 AND class = ?3 AND "
    "options = ?4 AND origin = ?5 AND "
    "objective = ?6";

/* ---- Reading -------------------------------------------------------------------------------- */

static bool sqlite_portfolio_read_portfolio(sqlite3_stmt *row, struct cache_portfolio *out) {
  int at = 0;
  *out = (struct cache_portfolio){0};
#define X(name) out->name = strdup(cache_column_text(row, at++));
  CACHE_PORTFOLIO_KEY(X)
#undef X
  out->learnt_at = cache_time(sqlite3_column_int64(row, LEARNT_AT), 1);
  out->body = strdup(cache_column_text(row, BODY));
#define X(name) &&out->name
  return out->body CACHE_PORTFOLIO_KEY(X);
#undef X
}

int sqlite_portfolios(struct cache *base, const struct cache_key *key, struct cache_portfolios *out,
                      cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  bool memory = true;
  sqlite3_stmt *statement = cache_query(cache, key ? of_key_sql : list_sql);
  bool good = statement && (!key || (cache_bind_text(statement, 1, key->device) &&
                                     cache_bind_text(statement, 2, key->config) &&
                                     cache_bind_text(statement, 4, key->options)));
  while (good && memory && sqlite3_step(statement) == SQLITE_ROW) {
    struct cache_portfolio *next = cache_portfolios_next(out);
    memory = next && sqlite_portfolio_read_portfolio(statement, next);
  }
  good = good && sqlite3_reset(statement) == SQLITE_OK;
  int status = !memory ? error_memory(err) : good ? CUGEN_OK : cache_error(cache, "read", err);
  sqlite3_finalize(statement);
  return status;
}

/* ---- Changing ------------------------------------------------------------------------------- */

static bool bind_key(sqlite3_stmt *statement, const struct cache_portfolio *p) {
  int place = 0;
#define X(name)                                                                                    \
  if (!cache_bind_text(statement, ++place, p->name)) return false;
  CACHE_PORTFOLIO_KEY(X)
#undef X
  return true;
}

static bool portfolio_run(sqlite3_stmt *statement) {
  sqlite3_step(statement);
  return sqlite3_reset(statement) == SQLITE_OK;
}

static bool store_one(sqlite3_stmt *statement, const struct cache_portfolio *p) {
  return bind_key(statement, p) &&
         sqlite3_bind_int64(statement, LEARNT_AT + 1, cache_time(p->learnt_at, 1)) == SQLITE_OK &&
         cache_bind_text(statement, BODY + 1, p->body) && portfolio_run(statement);
}

static bool remove_one(sqlite3_stmt *statement, const struct cache_portfolio *p) {
  return bind_key(statement, p) && portfolio_run(statement);
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
