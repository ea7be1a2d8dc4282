/* Storing records; see cache.h, and docs/cache.md for what is durable when. */
#include "cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/system.h"
#include "cache_tables.h"

/* ---- Transactions -------------------------------------------------------------------------------------------- */

static bool set_waiting(struct cache *cache, bool wait) {
  if (wait == cache->waits) return true;
  cache->waits = wait;
  return cache_sql(cache->db, wait ? "PRAGMA synchronous = EXTRA" : "PRAGMA synchronous = NORMAL");
}

bool cache_step(struct cache *cache, enum cache_statement which) {
  if (which == BEGIN && !(cache_before_writing(cache) && set_waiting(cache, !cache->hurry))) return false;
  sqlite3_stmt *statement = cache->statements[which];
  sqlite3_step(statement);
  return sqlite3_reset(statement) == SQLITE_OK;
}

/* The message of a failure is taken before the rollback overwrites it. */
int cache_finish(struct cache *cache, bool good, const char *doing, cugen_error *err) {
  if (good && cache_step(cache, COMMIT)) return CUGEN_OK;
  int status = cache_error(cache, doing, err);
  if (!sqlite3_get_autocommit(cache->db)) cache_step(cache, ROLLBACK);
  return status;
}

bool cache_bind_text(sqlite3_stmt *statement, int place, const char *string) {
  return sqlite3_bind_text(statement, place, string ? string : "", -1, SQLITE_STATIC) == SQLITE_OK;
}

bool cache_bind_key(sqlite3_stmt *statement, const struct cache_key *key) {
  return cache_bind_text(statement, 1, key->device) && cache_bind_text(statement, 2, key->config) &&
         cache_bind_text(statement, 3, key->problem) && cache_bind_text(statement, 4, key->options);
}

/* Waiting for the disk takes milliseconds, as long as measuring a small kernel. A commit to a write-ahead log that was not
   waited for outlives this process, and the next that is waited for makes it safe from a power cut, too. */
static const double most_unsafe = 0.2;

void cache_hurry(struct cache *cache) {
  if (cache->patience == CACHE_BUSY_SECONDS) cache->patience = CACHE_STORE_SECONDS;
  cache->hurry = cache->log && clock_seconds() - cache->synced < most_unsafe;
}

void cache_hurried(struct cache *cache, int status) {
  if (status == CUGEN_OK) cache->unsynced = cache->hurry;
  if (status == CUGEN_OK && !cache->hurry) cache->synced = clock_seconds();
  cache->hurry = false;
  if (cache->patience == CACHE_STORE_SECONDS) cache->patience = CACHE_BUSY_SECONDS;
}

void cache_set_patience(struct cache *cache, double seconds) {
  cache->patience = seconds;
}

void cache_pause(void) {
  enum { MICROSECONDS = 3000 };
  const struct timespec time = {0, MICROSECONDS * 1000};
  nanosleep(&time, NULL);
}

/* ---- Records ------------------------------------------------------------------------------------------------- */

void cache_record_free(struct cache_record *record) {
  free(record->variant);
  free(record->reason);
  record->variant = record->reason = NULL;
}

bool cache_record_is_refuted(const struct cache_record *record) {
  return record->outcome == CUGEN_OUTCOME_WRONG || record->outcome == CUGEN_OUTCOME_BOUNDS ||
         record->outcome == CUGEN_OUTCOME_TRAP;
}

double cache_record_cost(const struct cache_record *record, enum objective objective) {
  double work = objective_work(objective, record->flops, record->bytes);
  return work > 0 ? record->seconds / work : (double)INFINITY;
}

void cache_record_take_hashes(struct cache_record *record, const struct kernel_spec *spec) {
  record->hash = spec->hash;
  record->source_hash = spec->source_hash;
  record->launches_hash = spec->launches_hash;
  record->arguments_hash = spec->arguments_hash;
  record->proof_hash = spec->proof_hash;
}

static bool same_hash(struct hash a, struct hash b) {
  return strcmp(a.hex, b.hex) == 0;
}

/* The parts that do not depend on what a result is held against. */
static bool same_parts(const struct cache_record *record, const struct kernel_spec *spec) {
  return same_hash(record->source_hash, spec->source_hash) && same_hash(record->launches_hash, spec->launches_hash) &&
         same_hash(record->arguments_hash, spec->arguments_hash);
}

bool cache_record_is_same(const struct cache_record *record, const struct kernel_spec *spec) {
  if (!record->lacks) return same_hash(record->hash, spec->hash);
  return same_parts(record, spec) && same_hash(record->proof_hash, kernel_spec_proof_without(spec, record->lacks));
}

static bool same_work(const struct cache_record *record, const struct kernel_spec *spec) {
  return record->outcome != CUGEN_OUTCOME_OK || objective_work(spec->objective, record->flops, record->bytes) ==
                                                    objective_work(spec->objective, spec->flops, spec->bytes);
}

bool cache_record_is_of(const struct cache_record *record, const struct kernel_spec *spec, bool predicted) {
  if (!same_work(record, spec)) return false;
  if (cache_record_is_same(record, spec)) return true;
  return predicted && !cache_record_is_refuted(record) && same_parts(record, spec);
}

static bool bind_column(sqlite3_stmt *statement, int place, const struct cache_column *column, const char *from) {
  switch (column->type) {
  case COLUMN_TEXT: return cache_bind_text(statement, place, *(char *const *)(const void *)from);
  case COLUMN_HASH:
  case COLUMN_CHARS: return cache_bind_text(statement, place, from);
  case COLUMN_INT: return sqlite3_bind_int(statement, place, *(const int *)(const void *)from) == SQLITE_OK;
  case COLUMN_INT64: return sqlite3_bind_int64(statement, place, *(const int64_t *)(const void *)from) == SQLITE_OK;
  case COLUMN_REAL: return sqlite3_bind_double(statement, place, *(const double *)(const void *)from) == SQLITE_OK;
  }
  return false;
}

bool cache_bind_record(sqlite3_stmt *statement, const struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!bind_column(statement, 5 + i, &cache_columns[i], (const char *)record + cache_columns[i].offset))
      return false;
  return true;
}

bool cache_bind_store(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                      bool unknown) {
  sqlite3_stmt *supersede = cache->statements[RECORD_SUPERSEDE], *add = cache->statements[RECORD_ADD];
  return cache_bind_key(supersede, key) && cache_bind_text(supersede, 5, record->variant) &&
         cache_bind_text(supersede, 6, record->hash.hex) && sqlite3_bind_int(supersede, 7, unknown) == SQLITE_OK &&
         cache_bind_text(supersede, CACHE_ORIGIN, key->origin) && cache_bind_key(add, key) &&
         cache_bind_record(add, record) && cache_bind_text(add, CACHE_ORIGIN, key->origin);
}

const char *cache_column_text(sqlite3_stmt *statement, int i) {
  const unsigned char *text = sqlite3_column_text(statement, i);
  return text ? (const char *)text : "";
}

int cache_store(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                cugen_error *err) {
  sqlite3_stmt *const *statements = cache->statements;
  pthread_mutex_lock(&cache->lock);
  cache_hurry(cache);
  bool good = cache_bind_key(statements[SPACE_ADD], key) && cache_bind_store(cache, key, record, true) &&
              cache_step(cache, BEGIN) && cache_step(cache, SPACE_ADD) && cache_step(cache, RECORD_SUPERSEDE) &&
              cache_step(cache, RECORD_ADD);
  int status = cache_finish(cache, good, "remember a measurement", err);
  cache_hurried(cache, status);
  pthread_mutex_unlock(&cache->lock);
  return status;
}
