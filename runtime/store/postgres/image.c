/* Images as rows; runtime/store/image.c checks their seals. See engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system.h"
#include "database.h"

/* ---- Loading -------------------------------------------------------------------------------- */

/* Columns come as bytes, with numbers in network byte order. */
static int64_t number_at(struct pg_cache *cache, const struct pg_result *result, int row,
                         int column) {
  const unsigned char *bytes = (const unsigned char *)pg_text(cache, result, row, column);
  const int length = cache->pq.length(result, row, column);
  uint64_t value = 0;
  for (int i = 0; i < length && i < 8; i++) value = value << 8 | bytes[i];
  return (int64_t)value;
}

static bool image_read_entries(struct pg_cache *cache, const struct pg_result *result,
                               struct compiled *out) {
  enum { NAME = 4 };
  for (int row = 0; row < pg_rows(cache, result) && out->entry_count < KERNEL_MAX_ENTRIES; row++) {
    if (cache->pq.is_null(result, row, NAME)) continue; /* an image without entries */
    int64_t numbers[CACHE_RESOURCES];
    for (int i = 0; i < CACHE_RESOURCES; i++)
      numbers[i] = number_at(cache, result, row, NAME + 1 + i);
    char *name = strdup(pg_text(cache, result, row, NAME));
    if (!name) return false;
    out->entries[out->entry_count] = name;
    out->resources[out->entry_count++] = cache_resources_of(numbers);
  }
  return true;
}

static bool image_read_image(struct pg_cache *cache, const struct pg_result *result,
                             struct cache_image_row *out) {
  enum { HASH, LOG, DATA, SEAL };
  struct compiled *compiled = &out->compiled;
  const size_t length = (size_t)cache->pq.length(result, 0, DATA);
  out->sealed = cache->pq.length(result, 0, SEAL) == SEAL_BYTES;
  if (out->sealed) memcpy(out->mac, pg_text(cache, result, 0, SEAL), SEAL_BYTES);
  strncat(compiled->image_hash.hex, pg_text(cache, result, 0, HASH),
          sizeof compiled->image_hash.hex - 1);
  compiled->log = strdup(pg_text(cache, result, 0, LOG));
  compiled->image = malloc(length ? length : 1);
  if (!compiled->log || !compiled->image) return false;
  memcpy(compiled->image, pg_text(cache, result, 0, DATA), length);
  compiled->image_length = length;
  return image_read_entries(cache, result, compiled);
}

#define FITS "length(data) <= 67108864"
_Static_assert(CACHE_MAX_IMAGE == 67108864, "as above");

/* Only the first row contains the image's bytes. */
static const char load_sql[] =
    "SELECT i.hash, i.log, CASE WHEN row_number() OVER (ORDER BY e.position) = 1 THEN i.data END, "
    "i.seal, e.name, e.registers, e.max_threads, e.static_shared, e.local_bytes, e.spill_bytes, "
    "e.constant_bytes FROM cugen.image i LEFT JOIN cugen.image_entry e ON e.key = i.key WHERE "
    "i.key = $1 AND " FITS " ORDER BY e.position";

int postgres_image_load(struct cache *base, const char *name, struct cache_image_row *out,
                        bool *found, cugen_error *err) {
  struct pg_cache *cache = pg_cache_of(base);
  struct pg_parameters parameters = {0};
  struct pg_result *result;
  pg_add_text(&parameters, name);
  int status =
      pg_run(cache, PG_BINARY, load_sql, &parameters, "read a compiled kernel", &result, err);
  *found = !status && pg_rows(cache, result) > 0;
  if (*found && !image_read_image(cache, result, out)) status = error_memory(err);
  pg_clear(cache, result);
  return status;
}

/* ---- Storing -------------------------------------------------------------------------------- */

/* The entries of a replaced image would conflict with the new image's. Images of one name always
   have the same entries, so the statement overwrites them. */
static const char store_sql[] =
    "WITH kept AS (INSERT INTO cugen.image (key, hash, made_at, log, data, seal) VALUES ($1, $2, "
    "$3, $4, $5, $6) ON CONFLICT (key) DO UPDATE SET hash = excluded.hash, made_at = "
    "excluded.made_at, log = excluded.log, data = excluded.data, seal = excluded.seal RETURNING "
    "key) INSERT INTO cugen.image_entry SELECT kept.key, e.* FROM kept, unnest($7::integer[], "
    "$8::text[], $9::integer[], $10::integer[], $11::bigint[], $12::bigint[], $13::bigint[], "
    "$14::bigint[]) e ON CONFLICT (key, position) DO UPDATE SET name = excluded.name, registers = "
    "excluded.registers, max_threads = excluded.max_threads, static_shared = "
    "excluded.static_shared, local_bytes = excluded.local_bytes, spill_bytes = "
    "excluded.spill_bytes, constant_bytes = excluded.constant_bytes";

enum { ARRAYS = 2 + CACHE_RESOURCES };

int postgres_image_store(struct cache *base, const char *name, const struct compiled *compiled,
                         const unsigned char *mac, cugen_error *err) {
  struct pg_parameters parameters = {0};
  struct text arrays[ARRAYS] = {{0}};
  bool failed = false;
  pg_add_text(&parameters, name);
  pg_add_text(&parameters, compiled->image_hash.hex);
  pg_add_integer(&parameters, clock_unix());
  pg_add_text(&parameters, compiled->log);
  pg_add_bytes(&parameters, compiled->image, compiled->image_length);
  pg_add_bytes(&parameters, mac, SEAL_BYTES);
  for (size_t i = 0; i < compiled->entry_count; i++) {
    int64_t numbers[CACHE_RESOURCES];
    cache_resources_get(&compiled->resources[i], numbers);
    pg_array_integer(&arrays[0], (int64_t)i);
    pg_array_text(&arrays[1], compiled->entries[i]);
    for (int n = 0; n < CACHE_RESOURCES; n++) pg_array_integer(&arrays[2 + n], numbers[n]);
  }
  for (int i = 0; i < ARRAYS; i++) {
    pg_array_end(&arrays[i]);
    pg_add_text(&parameters, text_get(&arrays[i]));
    failed |= arrays[i].failed;
  }
  int status = failed ? error_memory(err)
                      : pg_run(pg_cache_of(base), PG_STORE, store_sql, &parameters,
                               "keep a compiled kernel", NULL, err);
  for (int i = 0; i < ARRAYS; i++) text_free(&arrays[i]);
  return status;
}

#define COST(by)                                                                                   \
  "CASE WHEN " by " > 1e-30 AND seconds < 1e30 THEN seconds / " by                                 \
  " ELSE 'Infinity'::double precision END"
#define FASTEST_BY(cost)                                                                           \
  "(SELECT DISTINCT ON (space_id, origin) source_hash FROM cugen.record WHERE outcome = 0 AND "    \
  "superseded = 0 ORDER BY space_id, origin, " cost ")"

/* The sources of the fastest records of each set and config file: by time, time per flop, time per
   byte, and energy. */
#define FASTEST                                                                                    \
  FASTEST_BY("seconds NULLS LAST")                                                                 \
  " UNION " FASTEST_BY(COST("flops")) " UNION " FASTEST_BY(COST("bytes")) " UNION " FASTEST_BY(    \
      "CASE WHEN energy > 0 THEN energy END NULLS LAST")

/* $1: `most` of image_trim in engine.h */
static const char trim_sql[] =
    "DELETE FROM cugen.image WHERE (SELECT coalesce(sum(length(data)), 0) FROM cugen.image) > "
    "$1::bigint AND id IN (SELECT id FROM (SELECT id, sum(length(data)) OVER (ORDER BY id DESC) AS "
    "bytes FROM cugen.image WHERE substr(key, 1, 32) NOT IN (" FASTEST
    ")) o WHERE bytes > $1::bigint)";

int postgres_image_trim(struct cache *base, size_t most, cugen_error *err) {
  struct pg_parameters parameters = {0};
  pg_add_integer(&parameters, (int64_t)most);
  return pg_run(pg_cache_of(base), PG_ALONE, trim_sql, &parameters,
                "remove the oldest compiled kernels", NULL, err);
}
