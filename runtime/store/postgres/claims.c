/* Claims of variants; see cache.h.

   A claim is a row with an expiry time by the server's clock. One statement takes the variants
   that are free, whose claims have expired, or that this owner has claimed already, and refuses
   variants that have a record. The insert waits for a concurrent insert of the same row, so that
   two owners never hold the same variant at once. A claim is not given back when its variant's
   record is stored: until it expires, it keeps out owners that have not seen the record yet. Claims
   do not wait for the disk, because a lost claim only means that a variant is measured twice. */
#include "base/error.h"
#include "database.h"

static const char doing[] = "claim variants";

/* Claims the first lease->most ($7) of the free variants. The rows are inserted in the order of
   names, so that two owners who want the same variants do not deadlock. A row of the result has a
   variant's index, from 1, and 1 if the variant has a record or 0 if it was granted. */
static const char claim_sql[] =
    "WITH wanted AS ("
    "SELECT name, place, EXISTS ("
    "SELECT FROM cugen.record WHERE space_id = $1::bigint AND variant = name AND hash = kernel "
    "AND superseded = 0 AND measured_at >= $6) AS recorded "
    "FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u (name, kernel, place), "
    "(SELECT set_config('synchronous_commit', 'off', true)) AS quick), "
    "free AS ("
    "SELECT name FROM wanted WHERE NOT recorded AND NOT EXISTS ("
    "SELECT FROM cugen.claim o WHERE o.space_id = $1::bigint AND o.variant = name AND o.owner <> "
    "$4 "
    "AND o.until >= clock_timestamp()) ORDER BY place LIMIT $7::bigint), "
    "got AS ("
    "INSERT INTO cugen.claim AS c (space_id, variant, owner, until) "
    "SELECT $1::bigint, name, $4, clock_timestamp() + make_interval(secs => $5) FROM free ORDER BY "
    "name "
    "ON CONFLICT (space_id, variant) DO UPDATE SET owner = excluded.owner, until = excluded.until "
    "WHERE c.owner = excluded.owner OR c.until < clock_timestamp() RETURNING variant) "
    "SELECT place, recorded::integer FROM wanted WHERE recorded "
    "UNION ALL SELECT place, 0 FROM wanted JOIN got ON variant = name";

struct asked {
  struct cache_claim *claims;
  /* numbers of all claims and of granted claims, and the index of the last granted claim */
  size_t count, granted, last;
};

static int note_state(void *context, const struct cache_row *row, cugen_error *err) {
  struct asked *a = context;
  const size_t at = (size_t)row_integer(row, 0) - 1;
  const bool recorded = row_integer(row, 1) != 0;
  (void)err;
  if (at >= a->count) return CUGEN_OK;
  a->claims[at].state = recorded ? CACHE_CLAIM_RECORDED : CACHE_CLAIM_GRANTED;
  a->granted += !recorded;
  if (!recorded && at > a->last) a->last = at;
  return CUGEN_OK;
}

static int claims_claim(struct pg_cache *cache, int64_t space, const struct cache_lease *lease,
                        struct cache_claim *claims, size_t count, cugen_error *err) {
  struct text names = {0}, kernels = {0};
  struct pg_parameters parameters = {0};
  struct asked asked = {.claims = claims, .count = count};
  for (size_t i = 0; i < count; i++) {
    claims[i].state = CACHE_CLAIM_TAKEN;
    pg_array_text(&names, claims[i].variant);
    pg_array_text(&kernels, claims[i].hash);
  }
  pg_array_end(&names);
  pg_array_end(&kernels);
  pg_add_integer(&parameters, space);
  pg_add_text(&parameters, text_get(&names));
  pg_add_text(&parameters, text_get(&kernels));
  pg_add_text(&parameters, lease->owner);
  pg_add_real(&parameters, lease->seconds);
  pg_add_integer(&parameters, lease->since);
  if (lease->most)
    pg_add_integer(&parameters, (int64_t)lease->most);
  else
    pg_add_null(&parameters);
  int status = names.failed || kernels.failed ? error_memory(err) : CUGEN_OK;
  if (!status)
    status =
        pg_visit(cache, PG_STORE, claim_sql, &parameters, doing, note_state, &asked, NULL, err);
  /* If lease->most variants were granted, later variants were not tried. */
  for (size_t i = asked.last + 1;
       !status && lease->most && asked.granted == lease->most && i < count; i++)
    if (claims[i].state == CACHE_CLAIM_TAKEN) claims[i].state = CACHE_CLAIM_LEFT;
  text_free(&names);
  text_free(&kernels);
  return status;
}

/* Tries again if another process has removed the set since its id was read. */
int postgres_claim(struct cache *base, const struct cache_key *key, const struct cache_lease *lease,
                   struct cache_claim *claims, size_t count, cugen_error *err) {
  enum { TRIES = 3 };
  struct pg_cache *cache = pg_cache_of(base);
  cugen_error own;
  int64_t space;
  int status = CUGEN_OK;
  if (!err) err = &own;
  for (int i = 0; i < TRIES; i++) {
    status = pg_space(cache, key, true, &space, err);
    if (!status) status = claims_claim(cache, space, lease, claims, count, err);
    if (!status || !pg_is_passing(err)) break;
    pg_forget_space(cache);
  }
  return status;
}

/* Also removes the claims of any owner that expired more than an hour ago. */
int postgres_unclaim(struct cache *base, const char *owner, cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_text(&parameters, owner);
  return pg_run(
      pg_cache_of(base), PG_ALONE,
      "DELETE FROM cugen.claim WHERE owner = $1 OR until < clock_timestamp() - interval '1 hour'",
      &parameters, doing, NULL, err);
}
