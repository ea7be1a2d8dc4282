/* Loading records and storing them; see engine.h and docs/cache.md. */
#include <string.h>

#include "base/error.h"
#include "database.h"

#define OF_KEY                                                                                     \
  "space_id = (SELECT id FROM cugen.space WHERE device = $1 AND config = $2 AND problem = $3 AND " \
  "options = $4)"
#define ORDER " ORDER BY outcome <> 0, seconds NULLS FIRST, id"

/* ---- Loading -------------------------------------------------------------------------------- */

static int take_all(struct pg_cache *cache, const struct pg_result *result,
                    struct cache_records *out, cugen_error *err) {
  for (int row = 0; row < pg_rows(cache, result); row++) {
    struct cache_record *next = cache_records_next(out);
    if (!next || !pg_read_record(cache, result, row, next)) return error_memory(err);
    next->elsewhere = pg_integer(cache, result, row, CACHE_COLUMNS) != 0;
    if (next->wrong)
      cache_record_free(next); /* an invalid record is treated as missing */
    else
      out->count++;
  }
  return CUGEN_OK;
}

static int postgres_records_load(struct pg_cache *cache, const char *sql,
                                 const struct pg_parameters *parameters, struct cache_records *out,
                                 cugen_error *err) {
  struct pg_result *result;
  int status = pg_run(cache, PG_ALONE, sql, parameters, "read", &result, err);
  if (!status) status = take_all(cache, result, out, err);
  pg_clear(cache, result);
  return status;
}

int postgres_load(struct cache *base, const struct cache_key *key, struct cache_records *out,
                  cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_key(&parameters, key);
  pg_add_text(&parameters, key->origin);
  return postgres_records_load(pg_cache_of(base),
                               "SELECT %s, (origin NOT IN ('', $5))::integer FROM cugen.record "
                               "WHERE superseded = 0 AND " OF_KEY ORDER,
                               &parameters, out, err);
}

int postgres_history(struct cache *base, const struct cache_key *key, struct cache_records *out,
                     cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_key(&parameters, key);
  pg_add_text(&parameters, key->origin);
  return postgres_records_load(
      pg_cache_of(base),
      "SELECT %s, 0 FROM cugen.record WHERE superseded = 1 AND origin IN ('', $5) AND " OF_KEY
      " ORDER BY id DESC",
      &parameters, out, err);
}

int pg_load_since(struct pg_cache *cache, const struct cache_key *key, struct cache_news *news,
                  cugen_error *err) {
  /* A record's id is assigned before the record is committed: a record that another machine
     stored at the same moment may become visible after one with a greater id. */
  enum { LATE = 32 };
  struct pg_parameters parameters = {0};
  struct pg_result *result;
  pg_add_key(&parameters, key);
  pg_add_integer(&parameters, news->since - LATE);
  int status =
      pg_run(cache, PG_ALONE,
             "SELECT %s, 0, id FROM cugen.record WHERE superseded = 0 AND id > $5 AND " OF_KEY
             " ORDER BY id",
             &parameters, "read", &result, err);
  if (!status) status = take_all(cache, result, &news->records, err);
  const int rows = status ? 0 : pg_rows(cache, result);
  if (rows) news->since = pg_integer(cache, result, rows - 1, CACHE_COLUMNS + 1);
  pg_clear(cache, result);
  return status;
}

static int visit_page(struct pg_cache *cache, const struct pg_result *result, cache_visitor *visit,
                      void *context, bool *stop, cugen_error *err) {
  int status = CUGEN_OK;
  for (int row = 0; row < pg_rows(cache, result) && !status && !*stop; row++) {
    struct cache_record record;
    if (!pg_read_record(cache, result, row, &record)) return error_memory(err);
    if (!record.wrong) status = visit(context, &record, stop, err);
    cache_record_free(&record);
  }
  return status;
}

static const char fastest_sql[] =
    "SELECT %s FROM cugen.record WHERE superseded = 0 AND outcome = 0 AND " OF_KEY
    " ORDER BY seconds NULLS FIRST, id LIMIT $5 OFFSET $6";

/* Reads in small batches, since the first few records nearly always suffice. */
int postgres_fastest(struct cache *base, const struct cache_key *key, cache_visitor *visit,
                     void *context, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  int status = CUGEN_OK;
  bool stop = false, more = true;
  for (int at = 0, page = 8; more && !status && !stop; at += page, page = 1000) {
    struct pg_parameters parameters = {0};
    struct pg_result *result;
    pg_add_key(&parameters, key);
    pg_add_integer(&parameters, page);
    pg_add_integer(&parameters, at);
    status = pg_run(cache, PG_ALONE, fastest_sql, &parameters, "read", &result, err);
    if (!status) status = visit_page(cache, result, visit, context, &stop, err);
    more = pg_rows(cache, result) == page;
    pg_clear(cache, result);
  }
  return status;
}

/* ---- Problems ------------------------------------------------------------------------------- */

#define HAS_RECORDS "EXISTS (SELECT FROM cugen.record WHERE space_id = space.id AND superseded = 0)"

static int records_visit_problems(struct pg_cache *cache, const char *sql,
                                  const struct pg_parameters *parameters,
                                  cache_problem_visitor *visit, void *context, cugen_error *err) {
  struct pg_result *result;
  int status = pg_run(cache, PG_ALONE, sql, parameters, "read", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++)
    status = visit(context, pg_text(cache, result, row, 0), err);
  pg_clear(cache, result);
  return status;
}

int postgres_problems(struct cache *base, const struct cache_key *key, cache_problem_visitor *visit,
                      void *context, cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_text(&parameters, key->device);
  pg_add_text(&parameters, key->config);
  pg_add_text(&parameters, key->options);
  return records_visit_problems(pg_cache_of(base),
                                "SELECT problem FROM cugen.space WHERE device = $1 AND config = $2 "
                                "AND options = $3 AND " HAS_RECORDS " ORDER BY problem",
                                &parameters, visit, context, err);
}

int postgres_devices(struct cache *base, const struct cache_key *key, cache_device_visitor *visit,
                     void *context, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_parameters parameters = {0};
  struct pg_result *result;
  pg_add_text(&parameters, key->config);
  pg_add_text(&parameters, key->problem);
  int status =
      pg_run(cache, PG_ALONE,
             "SELECT device, options FROM cugen.space WHERE config = $1 AND problem = $2 AND "
             "EXISTS (SELECT "
             "FROM cugen.record WHERE space_id = space.id AND superseded = 0 AND outcome = 0) "
             "ORDER BY device, options",
             &parameters, "read", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++)
    status = visit(context, pg_text(cache, result, row, 0), pg_text(cache, result, row, 1), err);
  pg_clear(cache, result);
  return status;
}

int postgres_shorter(struct cache *base, const struct cache_key *key, const char *from,
                     const char *to, cache_problem_visitor *visit, void *context,
                     cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_key(&parameters, key);
  pg_add_text(&parameters, from);
  pg_add_text(&parameters, to);
  return records_visit_problems(
      pg_cache_of(base),
      "SELECT problem FROM cugen.space WHERE device = $1 AND config = $2 AND options = $4 AND "
      "problem >= $5 AND problem < $6 AND length(problem) < length($3::text) AND " HAS_RECORDS
      " ORDER BY length(problem) DESC, id",
      &parameters, visit, context, err);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

int postgres_greatest_rate(struct cache *base, const char *device, const char *config,
                           const char *word, struct cache_rate *out, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_parameters parameters = {0};
  struct pg_result *result;
  pg_add_text(&parameters, device);
  pg_add_text(&parameters, config);
  pg_add_text(&parameters, word);
  /* Times below 1e-30 seconds are not measurements, and the quotient may overflow. */
  int status = pg_run(
      cache, PG_ALONE,
      "SELECT flops / seconds, bytes / seconds, measured_at FROM cugen.space JOIN cugen.record ON "
      "space_id = space.id WHERE device = $1 AND config = $2 AND "
      "strpos(' ' || problem || ' ', ' ' || $3 || ' ') > 0 AND superseded = 0 AND outcome = 0 AND "
      "seconds > 1e-30 AND flops < 1e100 AND bytes < 1e100 ORDER BY (flops + bytes) / seconds DESC "
      "LIMIT 1",
      &parameters, "read", &result, err);
  if (!status && pg_rows(cache, result))
    *out = (struct cache_rate){pg_real(cache, result, 0, 0), pg_real(cache, result, 0, 1),
                               pg_integer(cache, result, 0, 2)};
  pg_clear(cache, result);
  return status;
}

/* ---- Storing -------------------------------------------------------------------------------- */

/* One statement, so that it may be repeated when its success is not known: a record that exists
   already is not stored twice. The count turns the older record into history before the new one
   is added, since only one may be current. $1 is the set, $2 the origin. */
static const char store_sql[] =
    "WITH same AS (SELECT 1 FROM cugen.record WHERE space_id = $1::bigint AND superseded = 0 AND "
    "origin = $2::text "
    "AND variant = $5 AND ROW(%s) IS NOT DISTINCT FROM ROW(%v)), older AS (UPDATE cugen.record SET "
    "superseded = 1 "
    "WHERE space_id = $1::bigint AND superseded = 0 AND variant = $5 AND (origin = $2::text OR "
    "origin = '' "
    "OR hash = $6) AND NOT EXISTS (SELECT FROM same) "
    "RETURNING 1) INSERT INTO cugen.record (space_id, superseded, origin, %s) "
    "SELECT $1::bigint, $3::integer, $2::text, %v WHERE (SELECT count(*) FROM older) >= 0 AND NOT "
    "EXISTS (SELECT "
    "FROM same) AND $4::text IS NOT NULL";

static int records_store(struct pg_cache *cache, int64_t space, const struct cache_key *key,
                         const struct cache_record *record, cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_integer(&parameters, space);
  pg_add_text(&parameters, key->origin);
  pg_add_integer(&parameters, 0);
  pg_add_text(&parameters, "");
  pg_add_record(&parameters, record);
  return pg_run(cache, PG_STORE, store_sql, &parameters, "remember a measurement", NULL, err);
}

/* The set may have been removed since its id was read. */
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
    if (!status) status = records_store(cache, space, key, record, err);
    if (!status) break;
    pg_forget_space(cache);
    if (!pg_is_passing(err)) break;
  }
  return status;
}
