/* Merging records that were measured elsewhere into the cache, one by one; see cache_merge_next
   in database.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "database.h"

/* ---- The cache's records of the variant ----------------------------------------------------- */

/* Each statement reads only the records that it needs: a variant may have a million records. */
static const char *const merge_sql[CACHE_MERGE_STATEMENTS] = {
    [MERGE_SAME] = "SELECT %s, superseded FROM record WHERE space_id = ?1 AND variant = ?2 AND "
                   "hash = ?3 ORDER BY id",
    [MERGE_UNKNOWN] = "SELECT %s FROM record WHERE space_id = ?1 AND variant = ?2 AND superseded = "
                      "0 AND origin = ''",
    [MERGE_RETIRE_SAME] = "UPDATE record SET superseded = 1 WHERE space_id = ?1 AND variant = ?2 "
                          "AND hash = ?3 AND +superseded = 0",
    [MERGE_RETIRE_ORIGIN] = "UPDATE record SET superseded = 1 WHERE space_id = ?1 AND variant = ?2 "
                            "AND superseded = 0 AND origin = ?3",
    [MERGE_ADD] = "INSERT INTO record (space_id, superseded, origin, %s) VALUES (?1, ?2, ?3, %v)",
    [MERGE_SPACE] =
        "SELECT id FROM space WHERE device = ?1 AND config = ?2 AND problem = ?3 AND options = ?4",
};

/* Reads the cache's records of the entry's kernel. *known: the entry is among them. *current: the
   current record among those that were read. */
static bool find_same(struct cache_merge *merge, const struct cache_entry *entry,
                      struct cache_record *current, bool *known) {
  sqlite3_stmt *statement = merge->statements[MERGE_SAME];
  while (!*known && sqlite3_step(statement) == SQLITE_ROW) {
    const struct cache_row row = cache_row_of(statement);
    struct cache_record held;
    if (!cache_row_record(&row, &held)) return !(merge->no_memory = true);
    *known = cache_records_equal(&held, &entry->record);
    if (sqlite3_column_int(statement, CACHE_COLUMNS) == 0) {
      cache_record_free(current);
      *current = held;
    } else {
      cache_record_free(&held);
    }
  }
  return sqlite3_reset(statement) == SQLITE_OK;
}

static bool find_unknown(struct cache_merge *merge, struct cache_record *current) {
  sqlite3_stmt *statement = merge->statements[MERGE_UNKNOWN];
  const struct cache_row row = cache_row_of(statement);
  if (sqlite3_step(statement) == SQLITE_ROW && !cache_row_record(&row, current))
    return !(merge->no_memory = true);
  return sqlite3_reset(statement) == SQLITE_OK;
}

static bool bind_three(struct cache_merge *merge, enum cache_merge_statement which,
                       const char *variant, const char *third) {
  sqlite3_stmt *statement = merge->statements[which];
  return sqlite3_bind_int64(statement, 1, merge->space) == SQLITE_OK &&
         cache_bind_text(statement, 2, variant) && (!third || cache_bind_text(statement, 3, third));
}

/* ---- One record ----------------------------------------------------------------------------- */

static bool retire(struct cache_merge *merge, const struct cache_entry *entry) {
  const char *variant = entry->record.variant;
  return bind_three(merge, MERGE_RETIRE_SAME, variant, entry->record.hash.hex) &&
         cache_run(merge->statements[MERGE_RETIRE_SAME]) &&
         bind_three(merge, MERGE_RETIRE_ORIGIN, variant,
                    entry->key.origin ? entry->key.origin : "") &&
         cache_run(merge->statements[MERGE_RETIRE_ORIGIN]);
}

static bool merge_add(struct cache_merge *merge, const struct cache_entry *entry, bool history) {
  sqlite3_stmt *statement = merge->statements[MERGE_ADD];
  return sqlite3_bind_int64(statement, 1, merge->space) == SQLITE_OK &&
         sqlite3_bind_int(statement, 2, history) == SQLITE_OK &&
         cache_bind_text(statement, 3, history ? "" : entry->key.origin) &&
         cache_bind_record(statement, &entry->record) && cache_run(statement);
}

/* Compares the new record with the current record of its kernel, or else with the current record of
   no known config file, as the new record's own file is not known. */
static bool merge_entry(struct cache_merge *merge, const struct cache_entry *entry) {
  struct cache_record current = {0};
  bool known = false,
       good = bind_three(merge, MERGE_SAME, entry->record.variant, entry->record.hash.hex) &&
              find_same(merge, entry, &current, &known);
  if (good && !known && !current.variant && !entry->key.origin)
    good = bind_three(merge, MERGE_UNKNOWN, entry->record.variant, NULL) &&
           find_unknown(merge, &current);
  bool any = current.variant, first = !any || cache_record_goes_first(&entry->record, &current);
  cache_record_free(&current);
  if (!good) return false;
  ++*(known   ? &merge->out->known
      : !any  ? &merge->out->added
      : first ? &merge->out->better
              : &merge->out->worse);
  if (known) return true;
  if (first && (any || entry->key.origin) && !retire(merge, entry)) return false;
  return merge_add(merge, entry, !first);
}

static bool merge_find_space(struct cache_merge *merge, const struct cache_key *key) {
  struct sqlite_cache *cache = merge->cache;
  sqlite3_stmt *statement = merge->statements[MERGE_SPACE];
  if (!cache_bind_key(cache->statements[SPACE_ADD], key) || !cache_step(cache, SPACE_ADD))
    return false;
  bool found = cache_bind_key(statement, key) && sqlite3_step(statement) == SQLITE_ROW;
  merge->space = found ? sqlite3_column_int64(statement, 0) : 0;
  return sqlite3_reset(statement) == SQLITE_OK && found;
}

bool cache_merge_next(struct cache_merge *merge, const struct cache_entry *entry) {
  return (merge->space || merge_find_space(merge, &entry->key)) && merge_entry(merge, entry);
}

bool cache_merge_prepare(struct cache_merge *merge) {
  merge->space = 0;
  for (int i = 0; i < CACHE_MERGE_STATEMENTS; i++) {
    if (!merge->statements[i]) merge->statements[i] = cache_query(merge->cache, merge_sql[i]);
    if (!merge->statements[i]) return false;
  }
  return true;
}

void cache_merge_end(struct cache_merge *merge) {
  for (int i = 0; i < CACHE_MERGE_STATEMENTS; i++) sqlite3_finalize(merge->statements[i]);
}
