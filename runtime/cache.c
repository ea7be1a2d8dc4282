/* Storing records, storing and loading images; see cache.h, and docs/cache.md for what is durable when. */
#include "cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system.h"
#include "cache_tables.h"
#include "plan.h"

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
  if (!sqlite3_get_autocommit(cache->db)) cache_sql(cache->db, "ROLLBACK");
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

static void hurry(struct cache *cache) {
  cache->hurry = cache->log && clock_seconds() - cache->synced < most_unsafe;
}

static void hurried(struct cache *cache, int status) {
  if (status == CUGEN_OK) cache->unsynced = cache->hurry;
  if (status == CUGEN_OK && !cache->hurry) cache->synced = clock_seconds();
  cache->hurry = false;
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
  hurry(cache);
  bool good = cache_bind_key(statements[SPACE_ADD], key) && cache_bind_store(cache, key, record, true) &&
              cache_step(cache, BEGIN) && cache_step(cache, SPACE_ADD) && cache_step(cache, RECORD_SUPERSEDE) &&
              cache_step(cache, RECORD_ADD);
  int status = cache_finish(cache, good, "remember a measurement", err);
  hurried(cache, status);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

/* ---- Images -------------------------------------------------------------------------------------------------- */

/* Where a compiled entry's resources stand in image_entry, from the column after the name on. */
static void read_resources(sqlite3_stmt *statement, struct kernel_resources *out) {
  out->registers = sqlite3_column_int(statement, 1);
  out->max_threads = sqlite3_column_int(statement, 2);
  out->static_shared = sqlite3_column_int64(statement, 3);
  out->local_bytes = sqlite3_column_int64(statement, 4);
  out->spill_bytes = sqlite3_column_int64(statement, 5);
  out->constant_bytes = sqlite3_column_int64(statement, 6);
}

static bool bind_resources(sqlite3_stmt *statement, const struct kernel_resources *resources) {
  const int64_t values[] = {resources->registers,   resources->max_threads, resources->static_shared,
                            resources->local_bytes, resources->spill_bytes, resources->constant_bytes};
  for (int i = 0; i < 6; i++)
    if (sqlite3_bind_int64(statement, 4 + i, values[i]) != SQLITE_OK) return false;
  return true;
}

/* The image itself. One whose content is not what was stored counts as not found: it can be compiled again, and
   storing it then replaces the damaged one. False when memory ran out. */
static bool read_image(sqlite3_stmt *statement, struct compiled *out, bool *found) {
  const void *data = sqlite3_column_blob(statement, 3);
  size_t length = data ? (size_t)sqlite3_column_bytes(statement, 3) : 0;
  *found = strcmp(hash_bytes(data ? data : "", length).hex, cache_column_text(statement, 0)) == 0;
  if (!*found) return true;
  strncat(out->image_hash.hex, cache_column_text(statement, 1), sizeof out->image_hash.hex - 1);
  out->log = strdup(cache_column_text(statement, 2));
  out->image = malloc(length ? length : 1);
  if (!out->log || !out->image) return false;
  if (data) memcpy(out->image, data, length);
  out->image_length = length;
  return true;
}

static bool read_entries(sqlite3_stmt *statement, struct compiled *out) {
  while (out->entry_count < KERNEL_MAX_ENTRIES && sqlite3_step(statement) == SQLITE_ROW) {
    char *name = strdup(cache_column_text(statement, 0));
    if (!name) return false;
    read_resources(statement, &out->resources[out->entry_count]);
    out->entries[out->entry_count++] = name;
  }
  return true;
}

static int load_image(struct cache *cache, const char *key, struct compiled *out, bool *found, cugen_error *err) {
  sqlite3_stmt *image = cache->statements[IMAGE_LOAD], *entries = cache->statements[IMAGE_ENTRIES];
  bool memory = true;
  bool good = cache_bind_text(image, 1, key) && cache_bind_text(entries, 1, key);
  if (good && sqlite3_step(image) == SQLITE_ROW) memory = read_image(image, out, found);
  if (memory && *found) memory = read_entries(entries, out);
  int codes = sqlite3_reset(image) | sqlite3_reset(entries);
  if (!memory) return error_memory(err);
  return good && codes == SQLITE_OK ? CUGEN_OK : cache_error(cache, "read a compiled kernel", err);
}

int cache_image_key(const struct kernel_spec *spec, const char *arch, const char *options, int nvrtc_version,
                    struct text *out, cugen_error *err) {
  text_addf(out, "%s %s %s nvrtc %d", spec->source_hash.hex, arch, options, nvrtc_version);
  plan_add_entries(spec, out);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

int cache_image_load(struct cache *cache, const char *key, struct compiled *out, bool *found, cugen_error *err) {
  *out = (struct compiled){0};
  *found = false;
  pthread_mutex_lock(&cache->lock);
  int status = load_image(cache, key, out, found, err);
  pthread_mutex_unlock(&cache->lock);
  if (status != CUGEN_OK) {
    compiled_free(out);
    *out = (struct compiled){0};
    *found = false;
  }
  return status;
}

static bool store_entries(struct cache *cache, const char *key, const struct compiled *compiled) {
  sqlite3_stmt *statement = cache->statements[IMAGE_ENTRY_ADD];
  for (size_t i = 0; i < compiled->entry_count; i++)
    if (!cache_bind_text(statement, 1, key) || sqlite3_bind_int(statement, 2, (int)i) != SQLITE_OK ||
        !cache_bind_text(statement, 3, compiled->entries[i]) || !bind_resources(statement, &compiled->resources[i]) ||
        !cache_step(cache, IMAGE_ENTRY_ADD))
      return false;
  return true;
}

int cache_image_store(struct cache *cache, const char *key, const struct compiled *compiled, cugen_error *err) {
  sqlite3_stmt *drop = cache->statements[IMAGE_DROP], *add = cache->statements[IMAGE_ADD];
  pthread_mutex_lock(&cache->lock);
  hurry(cache);
  struct hash checksum = hash_bytes(compiled->image, compiled->image_length);
  bool good = cache_bind_text(drop, 1, key) && cache_bind_text(add, 1, key) &&
              cache_bind_text(add, 2, checksum.hex) && cache_bind_text(add, 3, compiled->image_hash.hex) &&
              sqlite3_bind_int64(add, 4, clock_unix()) == SQLITE_OK && cache_bind_text(add, 5, compiled->log) &&
              sqlite3_bind_blob64(add, 6, compiled->image, compiled->image_length, SQLITE_STATIC) == SQLITE_OK &&
              cache_step(cache, BEGIN) && cache_step(cache, IMAGE_DROP) && cache_step(cache, IMAGE_ADD) &&
              store_entries(cache, key, compiled);
  int status = cache_finish(cache, good, "keep a compiled kernel", err);
  hurried(cache, status);
  sqlite3_clear_bindings(add); /* it pointed at the caller's memory */
  pthread_mutex_unlock(&cache->lock);
  return status;
}
