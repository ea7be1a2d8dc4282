/* Portfolios on the server; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "database.h"

#define COLUMNS "device, config, class, options, origin, objective, learnt_at, body"
enum { LEARNT_AT = 6, BODY = 7 };

static const char list_sql[] =
    "SELECT " COLUMNS
    " FROM cugen.portfolio ORDER BY config, device, options, class, objective, origin";
static const char of_key_sql[] =
    "SELECT " COLUMNS " FROM cugen.portfolio WHERE device = $1 AND config = $2 AND options = $3 "
    "ORDER BY learnt_at DESC, origin DESC, class, objective";
static const char store_sql[] = "INSERT INTO cugen.portfolio AS old (" COLUMNS
                                ") VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8) "
                                "ON CONFLICT (device, config, class, options, origin, objective) "
                                "DO UPDATE SET learnt_at = excluded.learnt_at, "
                                "body = excluded.body WHERE excluded.learnt_at >= old.learnt_at";
static const char remove_sql[] =
    "DELETE FROM cugen.portfolio WHERE device = $1 AND config = $2 AND class = $3 AND "
    "options = $4 AND origin = $5 AND "
    "objective = $6";

static bool portfolio_read_portfolio(struct pg_cache *cache, const struct pg_result *result,
                                     int row, struct cache_portfolio *out) {
  int at = 0;
#define X(name) out->name = strdup(pg_text(cache, result, row, at++));
  CACHE_PORTFOLIO_KEY(X)
#undef X
  out->learnt_at = cache_time(pg_integer(cache, result, row, LEARNT_AT), 1);
  out->body = strdup(pg_text(cache, result, row, BODY));
#define X(name) &&out->name
  return out->body CACHE_PORTFOLIO_KEY(X);
#undef X
}

int postgres_portfolios(struct cache *base, const struct cache_key *key,
                        struct cache_portfolios *out, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_parameters parameters = {0};
  struct pg_result *result;
  if (key) {
    pg_add_text(&parameters, key->device);
    pg_add_text(&parameters, key->config);
    pg_add_text(&parameters, key->options);
  }
  int status =
      pg_run(cache, PG_ALONE, key ? of_key_sql : list_sql, &parameters, "read", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++) {
    struct cache_portfolio *next = cache_portfolios_next(out);
    if (!next || !portfolio_read_portfolio(cache, result, row, next)) status = error_memory(err);
  }
  pg_clear(cache, result);
  return status;
}

static int change_one(struct pg_cache *cache, const struct cache_portfolio *p, bool removed,
                      const char *doing, cugen_error *err) {
  struct pg_parameters parameters = {0};
#define X(name) pg_add_text(&parameters, p->name);
  CACHE_PORTFOLIO_KEY(X)
#undef X
  if (!removed) {
    pg_add_integer(&parameters, cache_time(p->learnt_at, 1));
    pg_add_text(&parameters, p->body);
  }
  return pg_run(cache, PG_WITHIN, removed ? remove_sql : store_sql, &parameters, doing, NULL, err);
}

int postgres_portfolios_change(struct cache *base, const struct cache_portfolio *portfolios,
                               size_t count, bool removed, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  const char *doing = removed ? "remove portfolios" : "remember a portfolio";
  int status = pg_run(cache, PG_ALONE, "BEGIN", NULL, doing, NULL, err);
  for (size_t i = 0; i < count && !status; i++)
    status = change_one(cache, &portfolios[i], removed, doing, err);
  if (!status) status = pg_run(cache, PG_WITHIN, "COMMIT", NULL, doing, NULL, err);
  if (status) pg_rollback(cache);
  return status;
}
