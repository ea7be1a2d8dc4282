/* Loading and storing records and images; see cache.h, and docs/cache.md for what is durable when. */
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

static bool same_work(const struct cache_record *record, const struct kernel_spec *spec) {
  return record->outcome != CUGEN_OUTCOME_OK || objective_work(spec->objective, record->flops, record->bytes) ==
                                                    objective_work(spec->objective, spec->flops, spec->bytes);
}

bool cache_record_is_of(const struct cache_record *record, const struct kernel_spec *spec, bool predicted) {
  if (!same_work(record, spec)) return false;
  if (same_hash(record->hash, spec->hash)) return true;
  if (!predicted || cache_record_is_refuted(record)) return false;
  return same_hash(record->source_hash, spec->source_hash) && same_hash(record->launches_hash, spec->launches_hash) &&
         same_hash(record->arguments_hash, spec->arguments_hash);
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

static bool read_column(sqlite3_stmt *statement, int i, char *to) {
  switch (cache_columns[i].type) {
  case COLUMN_TEXT: return (*(char **)(void *)to = strdup(cache_column_text(statement, i)));
  case COLUMN_HASH:
  case COLUMN_CHARS: strncat(to, cache_column_text(statement, i), cache_columns[i].size - 1); break;
  case COLUMN_INT: *(int *)(void *)to = sqlite3_column_int(statement, i); break;
  case COLUMN_INT64: *(int64_t *)(void *)to = sqlite3_column_int64(statement, i); break;
  case COLUMN_REAL:
    *(double *)(void *)to =
        sqlite3_column_type(statement, i) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(statement, i);
    break;
  }
  return true;
}

bool cache_read_record(sqlite3_stmt *statement, struct cache_record *out) {
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!read_column(statement, i, (char *)out + cache_columns[i].offset)) {
      cache_record_free(out);
      return false;
    }
  return true;
}

/* A growing array of records. */
struct records {
  struct cache_record *data;
  size_t count, capacity;
};

static struct cache_record *records_next(struct records *records) {
  if (records->count == records->capacity) {
    size_t capacity = records->capacity ? 2 * records->capacity : 64;
    struct cache_record *data = realloc(records->data, capacity * sizeof *data);
    if (!data) return NULL;
    records->data = data;
    records->capacity = capacity;
  }
  return &records->data[records->count];
}

static void records_free(struct records *records) {
  for (size_t i = 0; i < records->count; i++) cache_record_free(&records->data[i]);
  free(records->data);
}

/* statement NULL: it could not be prepared. */
static int load_all(struct cache *cache, sqlite3_stmt *statement, const struct cache_key *key,
                    struct records *records, cugen_error *err) {
  bool memory = true;
  if (statement && cache_bind_key(statement, key) && cache_bind_text(statement, CACHE_ORIGIN, key->origin)) {
    while (memory && sqlite3_step(statement) == SQLITE_ROW) {
      struct cache_record *next = records_next(records);
      memory = next && cache_read_record(statement, next);
      if (memory) next->elsewhere = sqlite3_column_int(statement, CACHE_COLUMNS) != 0;
      if (memory) records->count++;
    }
  }
  bool good = statement && sqlite3_reset(statement) == SQLITE_OK;
  return !memory ? error_memory(err) : good ? CUGEN_OK : cache_error(cache, "read", err);
}

static int hand_out(int status, struct records *records, struct cache_record **out, size_t *count) {
  if (status != CUGEN_OK) {
    records_free(records);
    *records = (struct records){0};
  }
  *out = records->data, *count = records->count;
  return status;
}

int cache_load(struct cache *cache, const struct cache_key *key, struct cache_record **out, size_t *count,
               cugen_error *err) {
  struct records records = {0};
  pthread_mutex_lock(&cache->lock);
  int status = load_all(cache, cache->statements[RECORD_LOAD + key->objective], key, &records, err);
  pthread_mutex_unlock(&cache->lock);
  return hand_out(status, &records, out, count);
}

static int visit_record(sqlite3_stmt *statement, cache_visitor *visit, void *context, bool *stop, cugen_error *err) {
  struct cache_record record;
  if (!cache_read_record(statement, &record)) return error_memory(err);
  int status = visit(context, &record, stop, err);
  cache_record_free(&record);
  return status;
}

int cache_fastest(struct cache *cache, const struct cache_key *key, cache_visitor *visit, void *context,
                  cugen_error *err) {
  sqlite3_stmt *statement = cache->statements[RECORD_BEST + key->objective];
  int status = CUGEN_OK;
  bool stop = false;
  pthread_mutex_lock(&cache->lock);
  if (cache_bind_key(statement, key))
    while (!status && !stop && sqlite3_step(statement) == SQLITE_ROW)
      status = visit_record(statement, visit, context, &stop, err);
  bool good = sqlite3_reset(statement) == SQLITE_OK;
  if (!status && !good) status = cache_error(cache, "read", err);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

int cache_history(struct cache *cache, const struct cache_key *key, struct cache_record **out, size_t *count,
                  cugen_error *err) {
  struct records records = {0};
  pthread_mutex_lock(&cache->lock);
  sqlite3_stmt *statement =
      cache_query(cache, "SELECT %s, 0 FROM record WHERE superseded = 1 AND origin IN ('', " CACHE_ORIGIN_PLACE
                         ") AND space_id = (SELECT id FROM space WHERE device = ?1 "
                         "AND config = ?2 AND problem = ?3 AND options = ?4) ORDER BY id DESC");
  int status = load_all(cache, statement, key, &records, err);
  sqlite3_finalize(statement);
  pthread_mutex_unlock(&cache->lock);
  return hand_out(status, &records, out, count);
}

int cache_problems(struct cache *cache, const struct cache_key *key,
                   int (*visit)(void *context, const char *problem, cugen_error *err), void *context,
                   cugen_error *err) {
  sqlite3_stmt *statement = cache->statements[SPACE_LIST];
  int status = CUGEN_OK;
  pthread_mutex_lock(&cache->lock);
  if (cache_bind_text(statement, 1, key->device) && cache_bind_text(statement, 2, key->config) &&
      cache_bind_text(statement, 4, key->options))
    while (!status && sqlite3_step(statement) == SQLITE_ROW)
      status = visit(context, cache_column_text(statement, 0), err);
  bool good = sqlite3_reset(statement) == SQLITE_OK;
  if (!status && !good) status = cache_error(cache, "read", err);
  pthread_mutex_unlock(&cache->lock);
  return status;
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

int cache_greatest_rate(struct cache *cache, const char *device, const char *config, const char *word,
                        struct cache_rate *out, cugen_error *err) {
  *out = (struct cache_rate){0};
  pthread_mutex_lock(&cache->lock);
  sqlite3_stmt *statement = cache_query(
      cache, "SELECT flops / seconds, bytes / seconds, measured_at FROM space JOIN record ON space_id = space.id "
             "WHERE device = ?1 AND config = ?2 AND instr(' ' || problem || ' ', ' ' || ?3) > 0 "
             "AND superseded = 0 AND outcome = 0 AND seconds > 0 ORDER BY (flops + bytes) / seconds DESC LIMIT 1");
  bool good = statement && cache_bind_text(statement, 1, device) && cache_bind_text(statement, 2, config) &&
              cache_bind_text(statement, 3, word);
  if (good && sqlite3_step(statement) == SQLITE_ROW)
    *out = (struct cache_rate){sqlite3_column_double(statement, 0), sqlite3_column_double(statement, 1),
                               sqlite3_column_int64(statement, 2)};
  good = good && sqlite3_reset(statement) == SQLITE_OK;
  int status = good ? CUGEN_OK : cache_error(cache, "read", err);
  sqlite3_finalize(statement);
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
