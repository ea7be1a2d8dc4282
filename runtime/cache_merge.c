/* Merging records that were measured elsewhere into the cache; see cache_merge in cache.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cache_tables.h"

/* ---- Two records of a variant --------------------------------------------------------------------------------- */

static bool same_column(const struct cache_column *column, const char *a, const char *b) {
  switch (column->type) {
  case COLUMN_TEXT: /* the reason is for people, and not every character of it survives a text file */
    return strcmp(column->name, "reason") == 0 ||
           strcmp(*(char *const *)(const void *)a, *(char *const *)(const void *)b) == 0;
  case COLUMN_CHARS:
  case COLUMN_HASH: return strcmp(a, b) == 0;
  case COLUMN_INT:
  case COLUMN_INT64: return memcmp(a, b, column->size) == 0;
  case COLUMN_REAL: break;
  }
  double x = *(const double *)(const void *)a, y = *(const double *)(const void *)b;
  return isnan(x) ? isnan(y) : x == y;
}

static bool same_record(const struct cache_record *a, const struct cache_record *b) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!same_column(&cache_columns[i], (const char *)a + cache_columns[i].offset,
                     (const char *)b + cache_columns[i].offset))
      return false;
  return true;
}

static int rank(const struct cache_record *record) {
  if (cache_record_is_refuted(record)) return 0;
  return record->outcome == CUGEN_OUTCOME_OK ? 1 : 2;
}

static bool goes_first(const struct cache_record *new, const struct cache_record *old) {
  if (strcmp(new->hash.hex, old->hash.hex) != 0) return new->measured_at > old->measured_at;
  if (rank(new) != rank(old)) return rank(new) < rank(old);
  if (new->outcome != CUGEN_OUTCOME_OK) return new->measured_at > old->measured_at;
  if (new->seconds == old->seconds) return new->verdict == CACHE_RIGHT && old->verdict != CACHE_RIGHT;
  return new->seconds < old->seconds;
}

/* ---- One set of records ---------------------------------------------------------------------------------------- */

static const char held_sql[] =
    "SELECT %s, superseded, origin <> '' FROM record WHERE space_id = (SELECT id FROM space WHERE "
    "device = ?1 AND config = ?2 AND problem = ?3 AND options = ?4) ORDER BY variant, id";
static const char history_sql[] = "INSERT INTO record (space_id, superseded, %s) VALUES ((SELECT id FROM space WHERE "
                                  "device = ?1 AND config = ?2 AND "
                                  "problem = ?3 AND options = ?4), 1, %v)";

/* What the cache holds of a set, by variant. */
struct held {
  struct held_record {
    struct cache_record record;
    bool current;
  } * data;
  size_t count, capacity, at; /* at: entries come in the same order */
};

static void held_free(struct held *held) {
  for (size_t i = 0; i < held->count; i++) cache_record_free(&held->data[i].record);
  free(held->data);
  *held = (struct held){0};
}

static bool add_held(struct held *held, sqlite3_stmt *row) {
  if (held->count == held->capacity) {
    size_t capacity = 2 * held->capacity + 64;
    struct held_record *data = realloc(held->data, capacity * sizeof *data);
    if (!data) return false;
    held->data = data;
    held->capacity = capacity;
  }
  struct held_record *next = &held->data[held->count];
  next->current = sqlite3_column_int(row, CACHE_COLUMNS) == 0;
  if (!cache_read_record(row, &next->record)) return false;
  next->record.elsewhere = sqlite3_column_int(row, CACHE_COLUMNS + 1) != 0;
  held->count++;
  return true;
}

struct merge {
  struct cache *cache;
  struct cache_merged *out;
  sqlite3_stmt *held_statement, *history_statement;
  struct held held;
  bool memory; /* false: it ran out */
};

static bool load_held(struct merge *merge, const struct cache_key *key) {
  sqlite3_stmt *statement = merge->held_statement;
  held_free(&merge->held);
  if (!cache_bind_key(statement, key)) return false;
  while (merge->memory && sqlite3_step(statement) == SQLITE_ROW) merge->memory = add_held(&merge->held, statement);
  return sqlite3_reset(statement) == SQLITE_OK && merge->memory;
}

static bool add_history(struct merge *merge, const struct cache_entry *entry) {
  sqlite3_stmt *statement = merge->history_statement;
  bool good = cache_bind_key(statement, &entry->key) && cache_bind_record(statement, &entry->record) &&
              sqlite3_step(statement) == SQLITE_DONE;
  return sqlite3_reset(statement) == SQLITE_OK && good;
}

static bool add_current(struct merge *merge, const struct cache_entry *entry) {
  struct cache *cache = merge->cache;
  return cache_bind_store(cache, &entry->key, &entry->record, !entry->key.origin) &&
         cache_step(cache, RECORD_SUPERSEDE) && cache_step(cache, RECORD_ADD);
}

/* What the new record is compared with: the current one of the same kernel, else one of a config file that nobody knows, as its own
   is. Others stay beside it. */
static bool meets(const struct held_record *held, const struct cache_entry *entry) {
  if (!held->current) return false;
  bool unknown = !held->record.elsewhere && !entry->key.origin;
  return unknown || strcmp(held->record.hash.hex, entry->record.hash.hex) == 0;
}

static bool merge_entry(struct merge *merge, const struct cache_entry *entry) {
  struct held *held = &merge->held;
  const struct cache_record *current = NULL;
  const char *variant = entry->record.variant;
  while (held->at < held->count && strcmp(held->data[held->at].record.variant, variant) < 0) held->at++;
  for (size_t i = held->at; i < held->count && strcmp(held->data[i].record.variant, variant) == 0; i++) {
    if (same_record(&held->data[i].record, &entry->record)) return merge->out->known++, true;
    if (!meets(&held->data[i], entry)) continue;
    if (!current || strcmp(held->data[i].record.hash.hex, entry->record.hash.hex) == 0)
      current = &held->data[i].record;
  }
  bool first = !current || goes_first(&entry->record, current);
  ++*(!current ? &merge->out->added : first ? &merge->out->better : &merge->out->worse);
  return first ? add_current(merge, entry) : add_history(merge, entry);
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

static bool same_key(const struct cache_key *a, const struct cache_key *b) {
  return strcmp(a->device, b->device) == 0 && strcmp(a->config, b->config) == 0 &&
         strcmp(a->problem, b->problem) == 0 && strcmp(a->options, b->options) == 0;
}

static bool begin_set(struct merge *merge, const struct cache_key *key) {
  struct cache *cache = merge->cache;
  return cache_bind_key(cache->statements[SPACE_ADD], key) && cache_step(cache, SPACE_ADD) && load_held(merge, key);
}

static bool merge_all(struct merge *merge, const struct cache_entry *entries, size_t count) {
  bool good = true;
  for (size_t i = 0; i < count && good; i++) {
    if (i == 0 || !same_key(&entries[i].key, &entries[i - 1].key)) good = begin_set(merge, &entries[i].key);
    good = good && merge_entry(merge, &entries[i]);
  }
  return good;
}

int cache_merge(struct cache *cache, const struct cache_entry *entries, size_t count, struct cache_merged *out,
                cugen_error *err) {
  *out = (struct cache_merged){0};
  struct merge merge = {.cache = cache, .out = out, .memory = true};
  pthread_mutex_lock(&cache->lock);
  /* Nothing after a call that failed: what SQLite says of it would be gone. */
  bool good = cache_step(cache, BEGIN);
  if (good) good = (merge.held_statement = cache_query(cache, held_sql)) != NULL;
  if (good) good = (merge.history_statement = cache_query(cache, history_sql)) != NULL;
  good = good && merge_all(&merge, entries, count);
  int status = cache_finish(cache, good, "merge records", err);
  sqlite3_finalize(merge.held_statement);
  sqlite3_finalize(merge.history_statement);
  pthread_mutex_unlock(&cache->lock);
  held_free(&merge.held);
  if (status) *out = (struct cache_merged){0};
  return merge.memory || !status ? status : error_memory(err);
}
