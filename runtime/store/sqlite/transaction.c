/* Transactions: the checks before the first transaction, how long a transaction waits for other
   processes, and when it waits for the disk; see database.h. */
#include <time.h>

#include "base/system.h"
#include "database.h"

bool cache_before_writing(struct sqlite_cache *cache) {
  if (cache->checked) return true;
  if (cache_check_tables(cache->db, "main", text_get(&cache->base.path), &cache->refusal))
    return false;
  cache->checked = true;
  /* The log is switched on only now, so that the application id is in the file itself from the
     first commit, and a damaged file is left as it is. The log only improves speed: if another
     process is in the way, a later handle switches it on. */
  cache->log = cache->log_wanted && cache_is_logged(cache->db);
  return true;
}

/* wait: a commit is to be on disk when it returns. */
static bool set_waiting(struct sqlite_cache *cache, bool wait) {
  if (wait == cache->waits) return true;
  cache->waits = wait;
  return cache_sql(cache->db, wait ? "PRAGMA synchronous = EXTRA" : "PRAGMA synchronous = NORMAL");
}

bool cache_step(struct sqlite_cache *cache, enum cache_statement which) {
  if (which == BEGIN && !(cache_before_writing(cache) && set_waiting(cache, !cache->hurry)))
    return false;
  return cache_run(cache->statements[which]);
}

/* The failure's message is taken before the rollback overwrites it. */
int cache_finish(struct sqlite_cache *cache, bool good, const char *doing, cugen_error *err) {
  if (good && cache_step(cache, COMMIT) && !cache_is_moved(cache->db)) return CUGEN_OK;
  int status = cache_error(cache, doing, err);
  if (!sqlite3_get_autocommit(cache->db)) cache_step(cache, ROLLBACK);
  return status;
}

/* ---- The disk ------------------------------------------------------------------------------- */

/* Seconds after a wait for the disk in which commits need not wait: waiting takes milliseconds, as
   long as measuring a small kernel. A commit to a write-ahead log that did not wait outlives this
   process, and the next commit that waits makes it safe from a power cut, too. */
static const double most_unsafe = 0.2;

void cache_hurry(struct sqlite_cache *cache, bool stores) {
  if (stores && cache->patience == CACHE_BUSY_SECONDS) cache->patience = CACHE_STORE_SECONDS;
  cache->hurry = cache->log && clock_seconds() - cache->synced < most_unsafe;
}

void cache_hurried(struct sqlite_cache *cache, int status) {
  if (status == CUGEN_OK) cache->unsynced = cache->hurry;
  if (status == CUGEN_OK && !cache->hurry) cache->synced = clock_seconds();
  cache->hurry = false;
  if (cache->patience == CACHE_STORE_SECONDS) cache->patience = CACHE_BUSY_SECONDS;
}

void cache_pause(void) {
  enum { MICROSECONDS = 3000 };
  const struct timespec time = {0, MICROSECONDS * 1000};
  nanosleep(&time, NULL);
}

int sqlite_sync(struct cache *base, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  int status = CUGEN_OK;
  pthread_mutex_lock(&cache->base.lock);
  if (cache->unsynced)
    sqlite3_wal_checkpoint_v2(cache->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  cache->unsynced = false;
  if (cache_is_moved(cache->db))
    status = cache_error_database(cache->db, text_get(&cache->base.path), "sync", err);
  pthread_mutex_unlock(&cache->base.lock);
  return status;
}
