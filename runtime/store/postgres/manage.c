/* Looking through the cache as a whole, removing from it, checking it; see engine.h. */
#include "base/error.h"
#include "database.h"

/* ---- Selected sets -------------------------------------------------------------------------- */

/* The ids of the sets that the filter selects, as an array. */
struct meant {
  const struct cache_filter *filter;
  struct text ids;
};

static int add_meant(void *context, const struct cache_row *row, cugen_error *err) {
  struct meant *meant = context;
  const struct cache_key key = cache_row_key(row, 0);
  (void)err;
  if (cache_filter_takes(meant->filter, &key)) pg_array_integer(&meant->ids, row_integer(row, 4));
  return CUGEN_OK;
}

static int manage_list_meant(struct pg_cache *cache, struct meant *meant, cugen_error *err) {
  int status = postgres_query(&cache->base, CACHE_QUERY_KEYS, NULL, 0, add_meant, meant, err);
  pg_array_end(&meant->ids);
  return !status && meant->ids.failed ? error_memory(err) : status;
}

/* ---- Removing ------------------------------------------------------------------------------- */

static const char doing[] = "remove records";

/* Each statement removes rows and returns two numbers: the removed rows, and of records how many
   were superseded, of sets 0, of images the bytes. */
static const char remove_records_sql[] =
    "WITH gone AS (DELETE FROM cugen.record WHERE space_id = ANY ($1::bigint[]) AND ($2::bigint = "
    "0 OR measured_at < $2) AND ($3::integer = 0 OR " CACHE_FAILED_SQL
    ") AND ($4::text IS NULL OR origin = $4 OR (origin = '' AND $5::integer <> 0)) RETURNING "
    "superseded) SELECT count(*), coalesce(sum(superseded), 0) FROM gone";
static const char remove_spaces_sql[] =
    "WITH gone AS (DELETE FROM cugen.space s WHERE NOT EXISTS (SELECT FROM cugen.record WHERE "
    "space_id = s.id) AND NOT EXISTS (SELECT FROM cugen.claim WHERE space_id = s.id AND until > "
    "clock_timestamp()) RETURNING 1) SELECT count(*), 0 FROM gone";
/* Removes the images whose source no current record has. Records from before format 2 do not say
   their source, so the images with such a record's options stay. */
static const char remove_images_sql[] =
    "WITH gone AS (DELETE FROM cugen.image WHERE substr(key, 1, 32) NOT IN (SELECT source_hash "
    "FROM cugen.record WHERE superseded = 0) AND NOT EXISTS (SELECT FROM (SELECT DISTINCT "
    "s.options FROM cugen.record r JOIN cugen.space s ON s.id = r.space_id WHERE r.superseded = 0 "
    "AND r.source_hash = '') o WHERE strpos(key, ' ' || o.options || ' nvrtc ') > 0) RETURNING "
    "length(data)) SELECT count(*), coalesce(sum(length), 0) FROM gone";

static int remove_within(struct pg_cache *cache, const struct cache_filter *filter,
                         cugen_cache_counts *out, cugen_error *err) {
  struct pg_parameters parameters = {0};
  struct meant meant = {.filter = filter};
  int64_t records[2] = {0}, spaces[2] = {0}, images[2] = {0};
  int status = manage_list_meant(cache, &meant, err);
  pg_add_text(&parameters, text_get(&meant.ids));
  pg_add_integer(&parameters, filter->before);
  pg_add_integer(&parameters, filter->failed);
  if (filter->origin)
    pg_add_text(&parameters, filter->origin);
  else
    pg_add_null(&parameters);
  pg_add_integer(&parameters, filter->unknown);
  if (!status)
    status = pg_numbers(cache, PG_ALONE, remove_records_sql, &parameters, doing, records, 2, err);
  if (!status) status = pg_numbers(cache, PG_ALONE, remove_spaces_sql, NULL, doing, spaces, 2, err);
  if (!status) status = pg_numbers(cache, PG_ALONE, remove_images_sql, NULL, doing, images, 2, err);
  out->history = (size_t)records[1];
  out->records = (size_t)(records[0] - records[1]);
  out->sets = (size_t)spaces[0];
  out->images = (size_t)images[0];
  out->image_bytes = images[1];
  text_free(&meant.ids);
  return status;
}

/* Removes in one transaction. Without `really`, the transaction is rolled back after counting. If a
   tuner stores into a set that is being removed, the transaction is repeated. */
int postgres_remove(struct cache *base, const struct cache_filter *filter, bool really,
                    cugen_cache_counts *out, cugen_error *err) {
  enum { TRIES = 20 };
  struct pg_cache *cache = pg_cache_of(base);
  cugen_error own;
  int status = CUGEN_OK;
  if (!err) err = &own;
  for (int i = 0; i < TRIES; i++) {
    *out = (cugen_cache_counts){0};
    status = pg_begin(cache, "BEGIN", doing, err);
    if (!status) status = remove_within(cache, filter, out, err);
    if (!status && really) status = pg_commit(cache, doing, err);
    if (status || !really) pg_rollback(cache);
    if (!status || !pg_is_passing(err)) break;
  }
  pg_forget_space(cache);
  if (status) *out = (cugen_cache_counts){0};
  return status;
}

/* ---- All records in order ------------------------------------------------------------------- */

#define EACH                                                                                       \
  "DECLARE walk NO SCROLL CURSOR FOR SELECT %s, s.device, s.config, s.problem, s.options FROM "    \
  "cugen.record r JOIN "                                                                           \
  "cugen.space s ON s.id = r.space_id WHERE superseded = 0 AND space_id = ANY ($1::bigint[])"
static const char any_order_sql[] = EACH;
static const char each_sql[] = EACH " ORDER BY s.config, s.device, s.options, s.problem, variant, "
                                    "outcome <> 0, seconds NULLS FIRST, r.id";

/* Visits the rows of a query within a transaction. declare: the statement that declares the cursor
   "walk" for the query. */
static int visit_rows(struct pg_cache *cache, const char *declare,
                      const struct pg_parameters *parameters, const char *what,
                      cache_row_visitor *visit, void *context, cugen_error *err) {
  int status = pg_run(cache, PG_ALONE, declare, parameters, what, NULL, err);
  for (int rows = 1; rows && !status;)
    status = pg_visit(cache, PG_ALONE, "FETCH FORWARD 500 FROM walk", NULL, what, visit, context,
                      &rows, err);
  return status ? status : pg_run(cache, PG_ALONE, "CLOSE walk", NULL, what, NULL, err);
}

static int visit_entry(void *pass, const struct cache_row *row, cugen_error *err) {
  const struct cache_key key = cache_row_key(row, CACHE_COLUMNS);
  return cache_pass_entry(pass, &key, row, err);
}

static int each_within(struct pg_cache *cache, const struct cache_filter *filter,
                       const struct cache_visit *visit, cugen_error *err) {
  struct pg_parameters parameters = {0};
  struct meant meant = {.filter = filter};
  struct cache_pass pass = {.visit = visit, .counting = true};
  int status = manage_list_meant(cache, &meant, err);
  pg_add_text(&parameters, text_get(&meant.ids));
  if (!status)
    status = visit_rows(cache, any_order_sql, &parameters, "read", visit_entry, &pass, err);
  if (!status) status = visit->begin(visit->context, pass.count, pass.left_out, err);
  pass.counting = false;
  if (!status) status = visit_rows(cache, each_sql, &parameters, "read", visit_entry, &pass, err);
  text_free(&meant.ids);
  return status;
}

#define BEGIN_READING "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

int postgres_each(struct cache *base, const struct cache_filter *filter,
                  const struct cache_visit *visit, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  int status = pg_begin(cache, BEGIN_READING, "read", err);
  if (!status) status = each_within(cache, filter, visit, err);
  pg_rollback(cache);
  return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

static const char walk_sql[] =
    "DECLARE walk NO SCROLL CURSOR FOR SELECT %s, id, superseded FROM cugen.record ORDER BY id";

int postgres_verify(struct cache_check *check, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(check->cache);
  int status = pg_check_tables(cache, err);
  if (!status) status = pg_begin(cache, BEGIN_READING, "check", err);
  if (!status) status = visit_rows(cache, walk_sql, NULL, "check", cache_check_record, check, err);
  if (!status) status = cache_check_rest(check, err);
  pg_rollback(cache);
  return status;
}
