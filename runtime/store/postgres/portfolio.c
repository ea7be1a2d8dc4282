/* Portfolios on the server; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "database.h"

static const char store_sql[] =
    "INSERT INTO cugen.portfolio AS old (device, config, class, options, origin, objective, "
    "learnt_at, body) VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8) ON CONFLICT (device, config, "
    "class, options, origin, objective) DO UPDATE SET learnt_at = excluded.learnt_at, body = "
    "excluded.body WHERE excluded.learnt_at >= old.learnt_at";
static const char remove_sql[] =
    "DELETE FROM cugen.portfolio WHERE device = $1 AND config = $2 AND class = $3 AND options = $4 "
    "AND origin = $5 AND objective = $6";

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
  return pg_run(cache, PG_ALONE, removed ? remove_sql : store_sql, &parameters, doing, NULL, err);
}

int postgres_portfolios_change(struct cache *base, const struct cache_portfolio *portfolios,
                               size_t count, bool removed, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  const char *doing = removed ? "remove portfolios" : "remember a portfolio";
  int status = pg_begin(cache, "BEGIN", doing, err);
  for (size_t i = 0; i < count && !status; i++)
    status = change_one(cache, &portfolios[i], removed, doing, err);
  if (!status) status = pg_commit(cache, doing, err);
  if (status) pg_rollback(cache);
  return status;
}
