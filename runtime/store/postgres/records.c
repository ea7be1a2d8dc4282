/* Loading records, and storing records and portfolios; see engine.h and docs/cache.md. */
#include <string.h>

#include "base/error.h"
#include "database.h"

#define OF_KEY                                                                                     \
  "space_id = (SELECT id FROM cugen.space WHERE device = $1 AND config = $2 AND problem = $3 AND " \
  "options = $4)"

/* ---- Loading -------------------------------------------------------------------------------- */

/* The first few of the fastest records nearly always suffice, so CACHE_QUERY_FASTEST reads a page
   of 8 records and then pages of 1000. */
int postgres_query(struct cache *base, enum cache_query which, const char *const *values, int count,
                   cache_row_visitor *visit, void *context, cugen_error *err) {
  const bool paged = which == CACHE_QUERY_FASTEST;
  struct pg_parameters parameters = {0};
  int status = CUGEN_OK;
  for (int i = 0; i < count; i++) pg_add_text(&parameters, values[i]);
  bool more = true;
  for (int at = 0, page = 8, rows; !status && more; at += page, page = 1000) {
    struct text sql = {0};
    cache_query_sql(which, true, &sql);
    if (paged) text_addf(&sql, " LIMIT %d OFFSET %d", page, at);
    status = sql.failed ? error_memory(err)
                        : pg_visit(pg_cache_of(base), PG_ALONE, text_get(&sql), &parameters,
                                   cache_query_doing(which), visit, context, &rows, err);
    text_free(&sql);
    more = paged && !status && rows == page;
  }
  return status == CACHE_STOP ? CUGEN_OK : status;
}

static int take_news(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_news *news = context;
  news->since = row_integer(row, CACHE_COLUMNS + 1);
  return cache_take_record(&news->records, row, err);
}

int postgres_news(struct cache *base, const struct cache_key *key, struct cache_news *news,
                  cugen_error *err) {
  /* A record's id is assigned before the record is committed: a record that another machine
     stored at the same moment may become visible after one with a greater id. */
  enum { LATE = 32 };
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_parameters parameters = {0};
  int64_t owners;
  pg_add_key(&parameters, key);
  int status = pg_numbers(cache, PG_ALONE,
                          "SELECT count(DISTINCT owner) FROM cugen.claim WHERE until > "
                          "clock_timestamp() AND " OF_KEY,
                          &parameters, "read", &owners, 1, err);
  news->tuners = (size_t)owners;
  if (status) return status;
  if (news->since < 0)
    return pg_numbers(cache, PG_ALONE, "SELECT coalesce(max(id), 0) FROM cugen.record", NULL,
                      "read", &news->since, 1, err);
  pg_add_integer(&parameters, news->since - LATE);
  return pg_visit(cache, PG_ALONE,
                  "SELECT %s, 0, id FROM cugen.record WHERE superseded = 0 AND id > $5 AND " OF_KEY
                  " ORDER BY id",
                  &parameters, "read", take_news, news, NULL, err);
}

/* ---- Storing -------------------------------------------------------------------------------- */

/* Storing is one statement, so that it may be repeated when its success is not known: a record
   that exists already is not stored twice. count(*) makes the server turn the older record into
   history before it adds the new record, since only one record may be current. $1 is the set, $2
   the origin, $3 is 0; $4 only fills the place in front of $5, where "%v" begins. */
static const char store_sql[] =
    "WITH same AS (SELECT 1 FROM cugen.record WHERE space_id = $1::bigint AND superseded = 0 AND "
    "origin = $2::text AND variant = $5 AND ROW(%s) IS NOT DISTINCT FROM ROW(%v)), older AS "
    "(UPDATE cugen.record SET superseded = 1 WHERE space_id = $1::bigint AND superseded = 0 AND "
    "variant = $5 AND (origin = $2::text OR origin = '' OR hash = $6) AND NOT EXISTS (SELECT FROM "
    "same) RETURNING 1) INSERT INTO cugen.record (space_id, superseded, origin, %s) SELECT "
    "$1::bigint, $3::integer, $2::text, %v WHERE (SELECT count(*) FROM older) >= 0 AND NOT EXISTS "
    "(SELECT FROM same) AND $4::text IS NOT NULL";

/* Tries again if another process has removed the set since its id was read. */
int postgres_store(struct cache *base, const struct cache_key *key,
                   const struct cache_record *record, cugen_error *err) {
  enum { TRIES = 3 };
  struct pg_cache *cache = pg_cache_of(base);
  cugen_error own;
  int64_t space;
  int status = CUGEN_OK;
  if (!err) err = &own;
  for (int i = 0; i < TRIES; i++) {
    status = pg_space(cache, key, true, &space, err);
    struct pg_parameters parameters = {0};
    pg_add_integer(&parameters, space);
    pg_add_text(&parameters, key->origin);
    pg_add_integer(&parameters, 0);
    pg_add_text(&parameters, "");
    pg_add_record(&parameters, record);
    if (!status)
      status = pg_run(cache, PG_STORE, store_sql, &parameters, "remember a measurement", NULL, err);
    if (!status) break;
    pg_forget_space(cache);
    if (!pg_is_passing(err)) break;
  }
  return status;
}

/* ---- Portfolios ----------------------------------------------------------------------------- */

static const char store_portfolio_sql[] =
    "INSERT INTO cugen.portfolio AS old (device, config, class, options, origin, objective, "
    "learnt_at, body) VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8) ON CONFLICT (device, config, "
    "class, options, origin, objective) DO UPDATE SET learnt_at = excluded.learnt_at, body = "
    "excluded.body WHERE excluded.learnt_at >= old.learnt_at";
static const char remove_portfolio_sql[] =
    "DELETE FROM cugen.portfolio WHERE device = $1 AND config = $2 AND class = $3 AND options = $4 "
    "AND origin = $5 AND objective = $6";

int postgres_portfolios_change(struct cache *base, const struct cache_portfolio *portfolios,
                               size_t count, bool removed, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  const char *doing = removed ? "remove portfolios" : "remember a portfolio";
  int status = pg_begin(cache, "BEGIN", doing, err);
  for (size_t i = 0; i < count && !status; i++) {
    const struct cache_portfolio *p = &portfolios[i];
    struct pg_parameters parameters = {0};
#define X(name) pg_add_text(&parameters, p->name);
    CACHE_PORTFOLIO_KEY(X)
#undef X
    if (!removed) {
      pg_add_integer(&parameters, cache_time(p->learnt_at, 1));
      pg_add_text(&parameters, p->body);
    }
    status = pg_run(cache, PG_ALONE, removed ? remove_portfolio_sql : store_portfolio_sql,
                    &parameters, doing, NULL, err);
  }
  if (!status) status = pg_commit(cache, doing, err);
  if (status) pg_rollback(cache);
  return status;
}
