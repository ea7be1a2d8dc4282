/* Storing a record; see cache.h, and docs/cache.md for what is durable when. */
#include "database.h"

static bool bind_store(struct sqlite_cache *cache, const struct cache_key *key,
                       const struct cache_record *record) {
  sqlite3_stmt *supersede = cache->statements[RECORD_SUPERSEDE],
               *add = cache->statements[RECORD_ADD];
  return cache_bind_key(supersede, key) && cache_bind_text(supersede, 5, record->variant) &&
         cache_bind_text(supersede, 6, record->hash.hex) &&
         cache_bind_text(supersede, CACHE_ORIGIN, key->origin) && cache_bind_key(add, key) &&
         cache_bind_record(add, record) && cache_bind_text(add, CACHE_ORIGIN, key->origin);
}

int sqlite_store(struct cache *base, const struct cache_key *key, const struct cache_record *record,
                 cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *const *statements = cache->statements;
  cache_hurry(cache);
  bool good = cache_bind_key(statements[SPACE_ADD], key) && bind_store(cache, key, record) &&
              cache_step(cache, BEGIN) && cache_step(cache, SPACE_ADD) &&
              cache_step(cache, RECORD_SUPERSEDE) && cache_step(cache, RECORD_ADD);
  int status = cache_finish(cache, good, "remember a measurement", err);
  cache_hurried(cache, status);
  return status;
}
