/* Looking through the cache as a whole, removing from it, checking it; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/outputs.h"
#include "database.h"

/* Failed records: their outcome is neither OK nor UNPREDICTED. */
#define FAILED "outcome NOT IN (0, 7)"
_Static_assert(CUGEN_OUTCOME_OK == 0 && CUGEN_OUTCOME_UNPREDICTED == 7, "as above");

/* ---- Sets of records ------------------------------------------------------------------------ */

static const char spaces_sql[] =
    "SELECT s.id, s.device, s.config, s.problem, s.options, c.records, c.failed, c.history, "
    "c.latest, b.variant, "
    "coalesce(b.seconds, 0), coalesce(b.flops, 0), coalesce(b.bytes, 0), b.origin FROM cugen.space "
    "s JOIN (SELECT "
    "space_id, "
    "count(*) FILTER (WHERE superseded = 0) AS records, count(*) FILTER (WHERE superseded = 0 "
    "AND " FAILED ") AS failed, "
    "count(*) FILTER (WHERE superseded <> 0) AS history, max(measured_at) AS latest FROM "
    "cugen.record GROUP BY "
    "space_id) c ON c.space_id = s.id LEFT JOIN LATERAL (SELECT * FROM cugen.record WHERE space_id "
    "= s.id AND "
    "superseded = 0 AND outcome = 0 ORDER BY seconds NULLS FIRST, id LIMIT 1) b ON true "
    "ORDER BY s.config, s.device, s.options, s.problem";

static bool manage_read_space(struct pg_cache *cache, const struct pg_result *result, int row,
                              struct cache_space *out) {
  char **const texts[] = {&out->device,  &out->config, &out->problem,
                          &out->options, &out->best,   &out->origin};
  static const int columns[] = {1, 2, 3, 4, 9, 13};
  out->id = pg_integer(cache, result, row, 0);
  out->records = (size_t)pg_integer(cache, result, row, 5);
  out->failed = (size_t)pg_integer(cache, result, row, 6);
  out->history = (size_t)pg_integer(cache, result, row, 7);
  out->measured_at = pg_integer(cache, result, row, 8);
  out->seconds = pg_real(cache, result, row, 10);
  out->flops = pg_real(cache, result, row, 11);
  out->bytes = pg_real(cache, result, row, 12);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (!(*texts[i] = strdup(pg_text(cache, result, row, columns[i])))) return false;
  return true;
}

int postgres_spaces(struct cache *base, struct cache_spaces *out, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_result *result;
  int status = pg_run(cache, PG_ALONE, spaces_sql, NULL, "read", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++) {
    struct cache_space *next = cache_spaces_next(out);
    if (!next || !manage_read_space(cache, result, row, next)) status = error_memory(err);
  }
  pg_clear(cache, result);
  return status;
}

int postgres_has_origin(struct cache *base, const char *origin, bool *has, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_parameters parameters = {0};
  struct pg_result *result;
  pg_add_text(&parameters, origin);
  int status = pg_run(cache, PG_ALONE, "SELECT 1 FROM cugen.record WHERE origin = $1 LIMIT 1",
                      &parameters, "read", &result, err);
  *has = !status && pg_rows(cache, result) > 0;
  pg_clear(cache, result);
  return status;
}

/* ---- Selected sets -------------------------------------------------------------------------- */

/* The ids of the sets that the filter selects, as an array; within a transaction. */
static int manage_list_meant(struct pg_cache *cache, const struct cache_filter *filter,
                             struct text *ids, cugen_error *err) {
  struct pg_result *result;
  int status =
      pg_run(cache, PG_WITHIN, "SELECT id, device, config, problem, options FROM cugen.space", NULL,
             "read", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++) {
    const struct cache_key key = {.device = pg_text(cache, result, row, 1),
                                  .config = pg_text(cache, result, row, 2),
                                  .problem = pg_text(cache, result, row, 3),
                                  .options = pg_text(cache, result, row, 4)};
    if (cache_filter_takes(filter, &key)) pg_array_integer(ids, pg_integer(cache, result, row, 0));
  }
  pg_clear(cache, result);
  pg_array_end(ids);
  return !status && ids->failed ? error_memory(err) : status;
}

/* ---- Removing ------------------------------------------------------------------------------- */

static const char doing[] = "remove records";

/* Each statement removes rows and returns their number. Its second number is the superseded ones
   among removed records, the bytes of removed images, or 0. */
static const char remove_records_sql[] =
    "WITH gone AS (DELETE FROM cugen.record WHERE space_id = ANY ($1::bigint[]) AND ($2::bigint = "
    "0 OR measured_at < "
    "$2) "
    "AND ($3::integer = 0 OR " FAILED
    ") AND ($4::text IS NULL OR origin = $4 OR (origin = '' AND $5::integer <> 0)) "
    "RETURNING superseded) SELECT count(*), coalesce(sum(superseded), 0) FROM gone";
static const char remove_spaces_sql[] = "WITH gone AS (DELETE FROM cugen.space s WHERE NOT EXISTS "
                                        "(SELECT FROM cugen.record WHERE space_id = s.id) AND "
                                        "NOT EXISTS (SELECT FROM cugen.claim WHERE space_id = s.id "
                                        "AND until > clock_timestamp()) RETURNING 1) "
                                        "SELECT count(*), 0 FROM gone";
/* As in SQLite's engine: an image belongs to a source; records from before format 2 do not say
   which source was theirs. */
static const char remove_images_sql[] =
    "WITH gone AS (DELETE FROM cugen.image WHERE substr(key, 1, 32) NOT IN (SELECT source_hash "
    "FROM cugen.record "
    "WHERE superseded = 0) AND NOT EXISTS (SELECT FROM (SELECT DISTINCT s.options FROM "
    "cugen.record r "
    "JOIN cugen.space s ON s.id = r.space_id WHERE r.superseded = 0 AND r.source_hash = '') o "
    "WHERE strpos(key, ' ' "
    "|| o.options || ' nvrtc ') > 0) RETURNING length(data)) SELECT count(*), "
    "coalesce(sum(length), 0) FROM gone";

static int manage_count(struct pg_cache *cache, const char *sql,
                        const struct pg_parameters *parameters, size_t *number, int64_t *sum,
                        cugen_error *err) {
  struct pg_result *result;
  int status = pg_run(cache, PG_WITHIN, sql, parameters, doing, &result, err);
  *number = status ? 0 : (size_t)pg_integer(cache, result, 0, 0);
  *sum = status ? 0 : pg_integer(cache, result, 0, 1);
  pg_clear(cache, result);
  return status;
}

static int remove_within(struct pg_cache *cache, const struct cache_filter *filter,
                         cugen_cache_counts *out, cugen_error *err) {
  struct pg_parameters parameters = {0};
  struct text ids = {0};
  int64_t history = 0, none;
  int status = manage_list_meant(cache, filter, &ids, err);
  pg_add_text(&parameters, text_get(&ids));
  pg_add_integer(&parameters, filter->before);
  pg_add_integer(&parameters, filter->failed);
  if (filter->origin)
    pg_add_text(&parameters, filter->origin);
  else
    pg_add_null(&parameters);
  pg_add_integer(&parameters, filter->unknown);
  if (!status)
    status = manage_count(cache, remove_records_sql, &parameters, &out->records, &history, err);
  out->history = (size_t)history;
  out->records -= out->history;
  if (!status) status = manage_count(cache, remove_spaces_sql, NULL, &out->sets, &none, err);
  if (!status)
    status = manage_count(cache, remove_images_sql, NULL, &out->images, &out->image_bytes, err);
  text_free(&ids);
  return status;
}

/* Removes everything in one transaction. To count, everything is removed and the transaction is
   rolled back. If a tuner stores into a set that is being removed, the transaction is repeated. */
int postgres_remove(struct cache *base, const struct cache_filter *filter, bool really,
                    cugen_cache_counts *out, cugen_error *err) {
  enum { TRIES = 20 };
  struct pg_cache *cache = pg_cache_of(base);
  cugen_error own;
  int status = CUGEN_OK;
  if (!err) err = &own;
  for (int i = 0; i < TRIES; i++) {
    *out = (cugen_cache_counts){0};
    status = pg_run(cache, PG_ALONE, "BEGIN", NULL, doing, NULL, err);
    if (!status) status = remove_within(cache, filter, out, err);
    if (!status && really) status = pg_run(cache, PG_WITHIN, "COMMIT", NULL, doing, NULL, err);
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

typedef int row_visitor(void *context, struct pg_cache *cache, const struct pg_result *result,
                        int row, cugen_error *err);

/* Visits the rows of the declared cursor. */
static int visit_rows(struct pg_cache *cache, row_visitor *visit, void *context, cugen_error *err) {
  int status = CUGEN_OK;
  for (int rows = 1; rows && !status;) {
    struct pg_result *result;
    status = pg_run(cache, PG_WITHIN, "FETCH FORWARD 500 FROM walk", NULL, "read", &result, err);
    rows = status ? 0 : pg_rows(cache, result);
    for (int row = 0; row < rows && !status; row++)
      status = visit(context, cache, result, row, err);
    pg_clear(cache, result);
  }
  return status;
}

struct each {
  const struct cache_visit *visit;
  bool counting; /* the first pass counts */
  size_t count, left_out;
};

static int visit_entry(void *context, struct pg_cache *cache, const struct pg_result *result,
                       int row, cugen_error *err) {
  struct each *each = context;
  struct cache_entry entry = {.key = {.device = pg_text(cache, result, row, CACHE_COLUMNS),
                                      .config = pg_text(cache, result, row, CACHE_COLUMNS + 1),
                                      .problem = pg_text(cache, result, row, CACHE_COLUMNS + 2),
                                      .options = pg_text(cache, result, row, CACHE_COLUMNS + 3)}};
  if (!pg_read_record(cache, result, row, &entry.record)) return error_memory(err);
  int status = CUGEN_OK;
  if (each->counting)
    ++*(cache_entry_is_sound(&entry) ? &each->count : &each->left_out);
  else if (cache_entry_is_sound(&entry))
    status = each->visit->record(each->visit->context, &entry, err);
  cache_record_free(&entry.record);
  return status;
}

static int each_within(struct pg_cache *cache, const struct cache_filter *filter,
                       const struct cache_visit *visit, cugen_error *err) {
  struct pg_parameters parameters = {0};
  struct text ids = {0};
  struct each each = {.visit = visit, .counting = true};
  int status = manage_list_meant(cache, filter, &ids, err);
  pg_add_text(&parameters, text_get(&ids));
  if (!status) status = pg_run(cache, PG_WITHIN, any_order_sql, &parameters, "read", NULL, err);
  if (!status) status = visit_rows(cache, visit_entry, &each, err);
  if (!status) status = pg_run(cache, PG_WITHIN, "CLOSE walk", NULL, "read", NULL, err);
  if (!status) status = visit->begin(visit->context, each.count, each.left_out, err);
  each.counting = false;
  if (!status) status = pg_run(cache, PG_WITHIN, each_sql, &parameters, "read", NULL, err);
  if (!status) status = visit_rows(cache, visit_entry, &each, err);
  text_free(&ids);
  return status;
}

#define BEGIN_READING "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

int postgres_each(struct cache *base, const struct cache_filter *filter,
                  const struct cache_visit *visit, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  int status = pg_run(cache, PG_ALONE, BEGIN_READING, NULL, "read", NULL, err);
  if (!status) status = each_within(cache, filter, visit, err);
  pg_rollback(cache);
  return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

static int check_record(void *context, struct pg_cache *cache, const struct pg_result *result,
                        int row, cugen_error *err) {
  struct cache_check *check = context;
  const long long id = pg_integer(cache, result, row, CACHE_COLUMNS);
  const int64_t superseded = pg_integer(cache, result, row, CACHE_COLUMNS + 1);
  struct cache_record record;
  ++*(superseded ? &check->out->history : &check->out->records);
  if (superseded != 0 && superseded != 1)
    cache_check_add(check, "record %lld: superseded is neither 0 nor 1", id);
  if (!pg_read_record(cache, result, row, &record)) return error_memory(err);
  cache_check_record(check, id, &record,
                     record.wrong ? pg_text(cache, result, row, record.wrong_column) : "");
  cache_record_free(&record);
  return CUGEN_OK;
}

#define KERNELS "8"
_Static_assert(KERNEL_MAX_ENTRIES == 8, "as below");

/* Queries whose rows are defects. */
static const struct {
  const char *sql, *what, *many;
} checks[] = {
    {"SELECT variant, count(*) FROM cugen.record WHERE superseded = 0 GROUP BY space_id, variant, "
     "hash HAVING "
     "count(*) > 1",
     "variant", "records that are not superseded"},
    {"SELECT key, entries FROM (SELECT key, (SELECT count(*) FROM cugen.image_entry e WHERE e.key "
     "= i.key) AS "
     "entries "
     "FROM cugen.image i) c WHERE entries NOT BETWEEN 1 AND " KERNELS,
     "image", "kernels"},
};

static int check_rows(struct pg_cache *cache, size_t which, struct cache_check *check,
                      cugen_error *err) {
  struct pg_result *result;
  int status = pg_run(cache, PG_WITHIN, checks[which].sql, NULL, "check", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++)
    cache_check_add(check, "%s '%s' has %s %s", checks[which].what, pg_text(cache, result, row, 0),
                    pg_text(cache, result, row, 1), checks[which].many);
  pg_clear(cache, result);
  return status;
}

static int check_within(struct pg_cache *cache, struct cache_check *check, cugen_error *err) {
  struct pg_result *result;
  int status =
      pg_run(cache, PG_WITHIN, "SELECT device, config, problem, options, id FROM cugen.space", NULL,
             "check", &result, err);
  for (int row = 0; !status && row < pg_rows(cache, result); row++) {
    const struct cache_key key = {.device = pg_text(cache, result, row, 0),
                                  .config = pg_text(cache, result, row, 1),
                                  .problem = pg_text(cache, result, row, 2),
                                  .options = pg_text(cache, result, row, 3)};
    check->out->sets++;
    cache_check_key(check, pg_integer(cache, result, row, 4), &key);
  }
  pg_clear(cache, result);
  for (size_t i = 0; !status && i < sizeof checks / sizeof *checks; i++)
    status = check_rows(cache, i, check, err);
  if (!status)
    status = pg_run(
        cache, PG_WITHIN,
        "DECLARE walk NO SCROLL CURSOR FOR SELECT %s, id, superseded FROM cugen.record ORDER BY id",
        NULL, "check", NULL, err);
  return status ? status : visit_rows(cache, check_record, check, err);
}

int postgres_verify(struct cache *base, cugen_cache_counts *out, struct text *wrong,
                    struct text *foreign, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct cache_check check = {base, out, wrong, foreign};
  int status = pg_check_tables(cache, err);
  if (!status) status = pg_run(cache, PG_ALONE, BEGIN_READING, NULL, "check", NULL, err);
  if (!status) status = check_within(cache, &check, err);
  pg_rollback(cache);
  return status ? status : cache_check_images(&check, err);
}
