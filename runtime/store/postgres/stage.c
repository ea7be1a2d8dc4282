/* An import; see cache_stage_open in cache.h.

   Records are read into a temporary table. When all records are there, they are merged in the same
   transaction, in the order of set, variant and hash, 500 records at a time: the cache's records
   of the same variants are read, the rules of precedence.c decide here, and two statements apply
   the decisions. So an import that is killed or loses its connection leaves nothing behind.
   Other users of the server see the records when the transaction ends, and may wait if they change
   imported sets or variants at that moment. The index record_current refuses the second of two
   writers of a variant; if the import is refused, it repeats the merge. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "database.h"

enum { BATCH = 500, PIECE = 1 << 20 };

/* A record that was read, and its line in the file. */
struct seen {
  struct hash name; /* hash of the key, variant and kernel hash */
  size_t line;
};

struct postgres_stage {
  struct cache_stage base;
  struct pg_cache *cache;
  struct text lines; /* for COPY, not yet sent */
  void *seen;        /* a tree of struct seen */
  bool begun;
};

static const char doing[] = "merge records";

static struct postgres_stage *postgres_stage_of(struct cache_stage *base) {
  return (struct postgres_stage *)base;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static const char table_sql[] = "CREATE TEMPORARY TABLE staged (line bigint PRIMARY KEY, device "
                                "text COLLATE \"C\", config text COLLATE \"C\", problem text "
                                "COLLATE \"C\", options text COLLATE \"C\", %t) ON COMMIT DROP";
static const char copy_sql[] = "COPY pg_temp.staged FROM STDIN";

int postgres_stage_open(struct cache *base, const struct cache_stage *given,
                        struct cache_stage **out, cugen_error *err) {
  struct postgres_stage *stage = calloc(1, sizeof *stage);
  if (!stage) return error_memory(err);
  stage->base = *given;
  stage->cache = pg_cache_of(base);
  *out = &stage->base;
  return CUGEN_OK;
}

static void stage_end(struct postgres_stage *stage) {
  if (!stage->begun) return;
  pg_rollback(stage->cache); /* does nothing after a commit */
  pthread_mutex_unlock(&stage->cache->base.lock);
  stage->begun = false;
}

void postgres_stage_close(struct cache_stage *base) {
  struct postgres_stage *stage = postgres_stage_of(base);
  stage_end(stage);
  text_free(&stage->lines);
  tdestroy(stage->seen, free);
  free(stage);
}

/* ---- Adding --------------------------------------------------------------------------------- */

static int send_lines(struct postgres_stage *stage, cugen_error *err) {
  int status = CUGEN_OK;
  if (stage->lines.failed) return error_memory(err);
  if (!stage->begun) {
    /* From here until stage_end, only this import uses the connection and the cache. */
    pthread_mutex_lock(&stage->cache->base.lock);
    stage->begun = true;
    status = pg_begin(stage->cache, "BEGIN", doing, err);
    if (!status) status = pg_run(stage->cache, PG_ALONE, table_sql, NULL, doing, NULL, err);
  }
  if (!status && stage->lines.length)
    status = pg_copy(stage->cache, copy_sql, &stage->lines, doing, err);
  text_clear(&stage->lines);
  return status;
}

static int compare_seen(const void *a, const void *b) {
  return strcmp(((const struct seen *)a)->name.hex, ((const struct seen *)b)->name.hex);
}

static bool name_entry(const struct cache_entry *entry, struct hash *out) {
  const struct cache_record *record = &entry->record;
  struct text all = {0};
  cache_key_write(&entry->key, &all);
  text_add_n(&all, record->variant, strlen(record->variant) + 1);
  text_add(&all, record->hash.hex);
  const bool good = !all.failed;
  if (good) *out = hash_bytes(text_get(&all), all.length);
  text_free(&all);
  return good;
}

static bool note_seen(struct postgres_stage *stage, const struct cache_entry *entry, size_t line,
                      size_t *twice) {
  struct seen *mine = calloc(1, sizeof *mine), **place = NULL;
  if (mine && name_entry(entry, &mine->name)) place = tsearch(mine, &stage->seen, compare_seen);
  const bool first = place && *place == mine;
  if (first) mine->line = line;
  if (place) *twice = first ? 0 : (*place)->line;
  if (!first) free(mine);
  return place != NULL;
}

int postgres_stage_add(struct cache_stage *base, const struct cache_entry *entry, size_t line,
                       size_t *twice, cugen_error *err) {
  struct postgres_stage *stage = postgres_stage_of(base);
  struct pg_parameters all = {0};
  if (!note_seen(stage, entry, line, twice)) return error_memory(err);
  if (*twice) return CUGEN_OK;
  pg_add_integer(&all, (int64_t)line);
  pg_add_key(&all, &entry->key);
  pg_add_record(&all, &entry->record);
  pg_write_line(&all, &stage->lines);
  return stage->lines.length < PIECE && !stage->lines.failed ? CUGEN_OK : send_lines(stage, err);
}

/* ---- The cache's records of the same variants ----------------------------------------------- */

/* A record of the import, and what the cache has of it. */
struct staged {
  struct cache_record record;
  int64_t space, line;
  /* The import has records of several kernels for the variant: two config files may use one kernel
     name. The records are kept apart by their kernel hash as origin. */
  bool several;
  bool known; /* the cache has this measurement already */
  /* The cache's current record of the same kernel, and its current record of another kernel and no
     known config file; variant NULL: none. */
  struct cache_record current, unknown;
};

struct batch {
  struct staged entries[BATCH];
  int count;
};

static void clear_batch(struct batch *batch) {
  for (int i = 0; i < batch->count; i++) {
    cache_record_free(&batch->entries[i].record);
    cache_record_free(&batch->entries[i].current);
    cache_record_free(&batch->entries[i].unknown);
  }
  batch->count = 0;
}

static int read_entry(void *context, const struct cache_row *row, cugen_error *err) {
  struct batch *batch = context;
  struct staged *entry = &batch->entries[batch->count];
  *entry = (struct staged){.space = row_integer(row, CACHE_COLUMNS),
                           .line = row_integer(row, CACHE_COLUMNS + 1),
                           .several = row_integer(row, CACHE_COLUMNS + 2) > 1};
  if (!cache_row_record(row, &entry->record)) return error_memory(err);
  batch->count++;
  return CUGEN_OK;
}

static void stage_take(struct cache_record *to, struct cache_record *held) {
  cache_record_free(to);
  *to = *held;
  *held = (struct cache_record){0};
}

/* Notes a record that the cache has of an entry's variant. */
static int note_held(void *context, const struct cache_row *row, cugen_error *err) {
  struct batch *batch = context;
  struct staged *entry = &batch->entries[row_integer(row, CACHE_COLUMNS + 2)];
  const bool superseded = row_integer(row, CACHE_COLUMNS) != 0,
             nameless = row_integer(row, CACHE_COLUMNS + 1) != 0;
  struct cache_record held;
  if (!cache_row_record(row, &held)) return error_memory(err);
  if (strcmp(held.hash.hex, entry->record.hash.hex) == 0) {
    entry->known = entry->known || cache_records_equal(&held, &entry->record);
    if (!superseded) stage_take(&entry->current, &held);
  } else if (!superseded && nameless && !entry->several) {
    stage_take(&entry->unknown, &held);
  }
  cache_record_free(&held);
  return CUGEN_OK;
}

static const char held_sql[] =
    "SELECT %s, superseded, (origin = '')::integer, place FROM unnest($1::bigint[], $2::text[], "
    "$3::integer[]) AS u (space, name, place) JOIN cugen.record ON space_id = u.space AND variant "
    "= u.name ORDER BY id";

static int find_held(struct pg_cache *cache, struct batch *batch, cugen_error *err) {
  struct text spaces = {0}, variants = {0}, places = {0};
  struct pg_parameters parameters = {0};
  for (int i = 0; i < batch->count; i++) {
    pg_array_integer(&spaces, batch->entries[i].space);
    pg_array_text(&variants, batch->entries[i].record.variant);
    pg_array_integer(&places, i);
  }
  struct text *const arrays[] = {&spaces, &variants, &places};
  int status = CUGEN_OK;
  for (int i = 0; i < 3; i++) {
    pg_array_end(arrays[i]);
    pg_add_text(&parameters, text_get(arrays[i]));
    if (arrays[i]->failed) status = error_memory(err);
  }
  if (!status)
    status = pg_visit(cache, PG_ALONE, held_sql, &parameters, doing, note_held, batch, NULL, err);
  for (int i = 0; i < 3; i++) text_free(arrays[i]);
  return status;
}

/* ---- Merging -------------------------------------------------------------------------------- */

/* The changes of a batch: four arrays for retire_sql, of current records that become history, then
   four for add_sql, of lines of the import that are stored. */
enum change {
  RETIRED_SPACE,
  RETIRED_VARIANT,
  RETIRED_HASH,
  RETIRED_ORIGIN,
  ADDED_LINE,
  ADDED_SPACE,
  ADDED_HISTORY,
  ADDED_ORIGIN,
  CHANGES
};

/* Compares the new record with the current record of its kernel, or else with the current record of
   no known config file, as the new record's own file is not known. */
static void decide(const struct staged *entry, struct text changes[CHANGES],
                   cugen_cache_merged *out) {
  const struct cache_record *current = entry->current.variant   ? &entry->current
                                       : entry->unknown.variant ? &entry->unknown
                                                                : NULL;
  const bool first = !current || cache_record_goes_first(&entry->record, current);
  const char *origin = entry->several ? entry->record.hash.hex : "";
  ++*(entry->known ? &out->known : !current ? &out->added : first ? &out->better : &out->worse);
  if (entry->known) return;
  if (first && (current || entry->several)) {
    pg_array_integer(&changes[RETIRED_SPACE], entry->space);
    pg_array_text(&changes[RETIRED_VARIANT], entry->record.variant);
    pg_array_text(&changes[RETIRED_HASH], entry->record.hash.hex);
    pg_array_text(&changes[RETIRED_ORIGIN], origin);
  }
  pg_array_integer(&changes[ADDED_LINE], entry->line);
  pg_array_integer(&changes[ADDED_SPACE], entry->space);
  pg_array_integer(&changes[ADDED_HISTORY], !first);
  pg_array_text(&changes[ADDED_ORIGIN], first ? origin : "");
}

static const char retire_sql[] =
    "UPDATE cugen.record r SET superseded = 1 FROM unnest($1::bigint[], $2::text[], $3::text[], "
    "$4::text[]) AS u (space, name, mark, file) WHERE r.space_id = u.space AND r.variant = u.name "
    "AND r.superseded = 0 AND (r.hash = u.mark OR r.origin = u.file)";
static const char add_sql[] =
    "INSERT INTO cugen.record (space_id, superseded, origin, %s) SELECT u.space, u.history, "
    "u.file, %s FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::text[]) WITH ORDINALITY "
    "AS u (number, space, history, file, place) JOIN pg_temp.staged ON line = u.number ORDER BY "
    "place";

static int run_four(struct pg_cache *cache, const char *sql, struct text *arrays,
                    cugen_error *err) {
  struct pg_parameters parameters = {0};
  if (!arrays[0].length) return CUGEN_OK;
  for (int i = 0; i < 4; i++) {
    pg_array_end(&arrays[i]);
    if (arrays[i].failed) return error_memory(err);
    pg_add_text(&parameters, text_get(&arrays[i]));
  }
  return pg_run(cache, PG_ALONE, sql, &parameters, doing, NULL, err);
}

static int merge_batch(struct pg_cache *cache, struct batch *batch, cugen_cache_merged *out,
                       cugen_error *err) {
  struct text changes[CHANGES] = {{0}};
  int status = find_held(cache, batch, err);
  for (int i = 0; i < batch->count && !status; i++) decide(&batch->entries[i], changes, out);
  if (!status) status = run_four(cache, retire_sql, &changes[RETIRED_SPACE], err);
  if (!status) status = run_four(cache, add_sql, &changes[ADDED_LINE], err);
  for (int i = 0; i < CHANGES; i++) text_free(&changes[i]);
  return status;
}

static const char spaces_sql[] =
    "INSERT INTO cugen.space (device, config, problem, options) SELECT DISTINCT device, config, "
    "problem, options FROM pg_temp.staged ORDER BY config, device, options, problem ON CONFLICT DO "
    "NOTHING";
static const char merging_sql[] =
    "DECLARE merging NO SCROLL CURSOR FOR SELECT %s, s.id, line, count(*) OVER (PARTITION BY s.id, "
    "variant) FROM pg_temp.staged t JOIN cugen.space s USING (device, config, problem, options) "
    "ORDER BY s.id, variant, hash";

static int merge_within(struct postgres_stage *stage, struct batch *batch, cugen_cache_merged *out,
                        cugen_error *err) {
  struct pg_cache *cache = stage->cache;
  int status = pg_run(cache, PG_ALONE, spaces_sql, NULL, doing, NULL, err);
  if (!status) status = pg_run(cache, PG_ALONE, merging_sql, NULL, doing, NULL, err);
  for (bool more = true; more && !status;) {
    batch->count = 0;
    status = pg_visit(cache, PG_ALONE, "FETCH FORWARD 500 FROM merging", NULL, doing, read_entry,
                      batch, NULL, err);
    more = batch->count > 0;
    if (!status && more) status = merge_batch(cache, batch, out, err);
    if (!status) stage->base.merged += (size_t)batch->count;
    clear_batch(batch);
    if (!status) status = cache_stage_watch(&stage->base, err);
  }
  return status ? status : pg_commit(cache, doing, err);
}

int postgres_stage_merge(struct cache_stage *base, cugen_cache_merged *out, cugen_error *err) {
  enum { TRIES = 20 };
  struct postgres_stage *stage = postgres_stage_of(base);
  struct pg_cache *cache = stage->cache;
  struct batch *batch = calloc(1, sizeof *batch);
  cugen_error own;
  if (!err) err = &own;
  int status = batch ? send_lines(stage, err) : error_memory(err);
  /* A rollback to the savepoint keeps the temporary table, which send_lines has made before. */
  if (!status) status = pg_run(cache, PG_ALONE, "SAVEPOINT staged", NULL, doing, NULL, err);
  for (int i = 1; !status; i++) {
    *out = (cugen_cache_merged){0};
    stage->base.merged = 0;
    status = merge_within(stage, batch, out, err);
    if (!status || !pg_is_passing(err) || i == TRIES) break;
    status = pg_run(cache, PG_ALONE, "ROLLBACK TO SAVEPOINT staged", NULL, doing, NULL, err);
  }
  stage_end(stage);
  free(batch);
  return status;
}
