/* Looking through the cache as a whole, and removing from it; see cache.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cache_tables.h"

/* ---- Sets of records ----------------------------------------------------------------------------------------- */

/* Neither right nor without a prediction. */
#define FAILED "outcome NOT IN (0, 7)"
_Static_assert(CUGEN_OUTCOME_OK == 0 && CUGEN_OUTCOME_UNPREDICTED == 7, "as above");

static const char spaces_sql[] =
    "SELECT s.id, s.device, s.config, s.problem, s.options, "
    "count(r.id) FILTER (WHERE NOT r.superseded), count(r.id) FILTER (WHERE NOT r.superseded AND r." FAILED "), "
    "count(r.id) FILTER (WHERE r.superseded), max(r.measured_at), b.variant, b.seconds, b.flops, b.bytes "
    "FROM space s JOIN record r ON r.space_id = s.id "
    "LEFT JOIN record b ON b.id = (SELECT id FROM record WHERE space_id = s.id AND superseded = 0 AND outcome = 0 "
    "ORDER BY seconds, id LIMIT 1) GROUP BY s.id ORDER BY s.config, s.device, s.options, s.problem";

void cache_spaces_free(struct cache_space *spaces, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *strings[] = {spaces[i].device, spaces[i].config, spaces[i].problem, spaces[i].options, spaces[i].best};
    for (size_t s = 0; s < sizeof strings / sizeof *strings; s++) free(strings[s]);
  }
  free(spaces);
}

static bool read_space(sqlite3_stmt *row, struct cache_space *out) {
  *out = (struct cache_space){.id = sqlite3_column_int64(row, 0),
                              .device = strdup(cache_column_text(row, 1)),
                              .config = strdup(cache_column_text(row, 2)),
                              .problem = strdup(cache_column_text(row, 3)),
                              .options = strdup(cache_column_text(row, 4)),
                              .records = (size_t)sqlite3_column_int64(row, 5),
                              .failed = (size_t)sqlite3_column_int64(row, 6),
                              .history = (size_t)sqlite3_column_int64(row, 7),
                              .measured_at = sqlite3_column_int64(row, 8),
                              .best = strdup(cache_column_text(row, 9)),
                              .seconds = sqlite3_column_double(row, 10),
                              .flops = sqlite3_column_double(row, 11),
                              .bytes = sqlite3_column_double(row, 12)};
  return out->device && out->config && out->problem && out->options && out->best;
}

struct spaces {
  struct cache_space *data;
  size_t count, capacity;
};

static bool add_space(struct spaces *spaces, sqlite3_stmt *row) {
  if (spaces->count == spaces->capacity) {
    size_t capacity = 2 * spaces->capacity + 16;
    struct cache_space *data = realloc(spaces->data, capacity * sizeof *data);
    if (!data) return false;
    spaces->data = data;
    spaces->capacity = capacity;
  }
  return read_space(row, &spaces->data[spaces->count++]);
}

/* Under the lock. */
static int list_spaces(struct cache *cache, struct spaces *spaces, cugen_error *err) {
  bool memory = true;
  sqlite3_stmt *statement = cache_query(cache, spaces_sql);
  while (statement && memory && sqlite3_step(statement) == SQLITE_ROW) memory = add_space(spaces, statement);
  bool good = statement && sqlite3_reset(statement) == SQLITE_OK;
  int status = !memory ? error_memory(err) : good ? CUGEN_OK : cache_error(cache, "read", err);
  sqlite3_finalize(statement);
  if (!status) return CUGEN_OK;
  cache_spaces_free(spaces->data, spaces->count);
  *spaces = (struct spaces){0};
  return status;
}

int cache_spaces(struct cache *cache, struct cache_space **out, size_t *count, cugen_error *err) {
  struct spaces spaces = {0};
  pthread_mutex_lock(&cache->lock);
  int status = list_spaces(cache, &spaces, err);
  pthread_mutex_unlock(&cache->lock);
  *out = spaces.data, *count = spaces.count;
  return status;
}

/* ---- Which of them -------------------------------------------------------------------------------------------- */

/* Whether "M=64" is one of the words of "M=64 N=32". */
static bool has_word(const char *problem, const char *word, size_t length) {
  for (const char *at = problem; *at; at += strcspn(at, " "), at += strspn(at, " "))
    if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0')) return true;
  return false;
}

static bool has_words(const char *problem, const char *words) {
  for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
    size_t length = strcspn(words, " ");
    if (!has_word(problem, words, length)) return false;
    words += length;
  }
  return true;
}

bool cache_filter_takes(const struct cache_filter *filter, const struct cache_space *space) {
  return (!filter->config || strcmp(filter->config, space->config) == 0) &&
         (!filter->device || strstr(space->device, filter->device)) &&
         (!filter->problem || has_words(space->problem, filter->problem));
}

/* ---- Removing ------------------------------------------------------------------------------------------------- */

#define RECORDS_MEANT                                                                                                \
  "space_id = ?1 AND (?2 = 0 OR measured_at < ?2) AND (?3 = 0 OR " FAILED ") AND (?4 IS NULL OR origin = ?4 OR "     \
  "(origin = '' AND ?5))"

/* An image is made for a source; what was remembered before format 2 does not say which was its own. Each list is made once, not for
   each image. */
#define IMAGES_UNWANTED                                                                                              \
  "substr(main.image.key, 1, 32) NOT IN (SELECT source_hash FROM record WHERE superseded = 0) AND "                  \
  "NOT EXISTS (SELECT 1 FROM (SELECT DISTINCT s.options FROM record r JOIN space s ON s.id = r.space_id WHERE "      \
  "r.superseded = 0 AND r.source_hash = '') o WHERE instr(main.image.key, ' ' || o.options || ' nvrtc '))"

static bool bind_meant(sqlite3_stmt *statement, const struct cache_filter *filter, int64_t space) {
  return statement && sqlite3_bind_int64(statement, 1, space) == SQLITE_OK &&
         sqlite3_bind_int64(statement, 2, filter->before) == SQLITE_OK &&
         sqlite3_bind_int(statement, 3, filter->failed) == SQLITE_OK &&
         (!filter->origin || cache_bind_text(statement, 4, filter->origin)) &&
         sqlite3_bind_int(statement, 5, filter->unknown) == SQLITE_OK;
}

static bool finish_query(sqlite3_stmt *statement, bool good) {
  return sqlite3_finalize(statement) == SQLITE_OK && good;
}

static bool remove_records(struct cache *cache, const struct cache_filter *filter, int64_t space,
                           struct cache_removal *out) {
  sqlite3_stmt *count =
      cache_query(cache, "SELECT count(*), ifnull(sum(superseded), 0) FROM record WHERE " RECORDS_MEANT);
  bool good = bind_meant(count, filter, space) && sqlite3_step(count) == SQLITE_ROW;
  size_t all = good ? (size_t)sqlite3_column_int64(count, 0) : 0;
  size_t history = good ? (size_t)sqlite3_column_int64(count, 1) : 0;
  good = finish_query(count, good);
  out->records += all - history;
  out->history += history;
  if (!good || all == 0) return good;
  sqlite3_stmt *drop = cache_query(cache, "DELETE FROM record WHERE " RECORDS_MEANT);
  return finish_query(drop, bind_meant(drop, filter, space) && sqlite3_step(drop) == SQLITE_DONE);
}

static bool run(struct cache *cache, const char *sql) {
  sqlite3_stmt *statement = cache_query(cache, sql);
  return finish_query(statement, statement && sqlite3_step(statement) == SQLITE_DONE);
}

static bool remove_images(struct cache *cache, struct cache_removal *out) {
  sqlite3_stmt *count =
      cache_query(cache, "SELECT count(*), ifnull(sum(length(data)), 0) FROM main.image WHERE " IMAGES_UNWANTED);
  bool good = count && sqlite3_step(count) == SQLITE_ROW;
  if (good) {
    out->images = (size_t)sqlite3_column_int64(count, 0);
    out->image_bytes = sqlite3_column_int64(count, 1);
  }
  return finish_query(count, good) && run(cache, "DELETE FROM main.image WHERE " IMAGES_UNWANTED);
}

static bool remove_all(struct cache *cache, const struct cache_filter *filter, const struct spaces *spaces,
                       struct cache_removal *out) {
  bool good = true;
  for (size_t i = 0; good && i < spaces->count; i++)
    if (cache_filter_takes(filter, &spaces->data[i])) good = remove_records(cache, filter, spaces->data[i].id, out);
  good = good && run(cache, "DELETE FROM space WHERE NOT EXISTS (SELECT 1 FROM record WHERE space_id = space.id)");
  out->spaces = good ? (size_t)sqlite3_changes(cache->db) : 0;
  return good && remove_images(cache, out);
}

/* Gives the space back to the disk when that is quick: others wait meanwhile. Not important enough to fail. */
static void shrink(struct cache *cache) {
  enum { QUICK_PAGES = 4096 }; /* 16 MiB */
  sqlite3_stmt *statement = cache_query(cache, "SELECT page_count - freelist_count FROM pragma_page_count, "
                                               "pragma_freelist_count");
  bool quick = statement && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) < QUICK_PAGES;
  sqlite3_finalize(statement);
  if (quick) cache_sql(cache->db, "VACUUM");
}

/* Counting is removing and taking it back: so it is exact. */
static int remove_meant(struct cache *cache, const struct cache_filter *filter, bool really,
                        struct cache_removal *out, cugen_error *err) {
  struct spaces spaces = {0};
  static const char doing[] = "remove records";
  if (!cache_step(cache, BEGIN)) return cache_finish(cache, false, doing, err);
  int status = list_spaces(cache, &spaces, err);
  bool good = !status && remove_all(cache, filter, &spaces, out);
  if (!status && (really || !good)) status = cache_finish(cache, good, doing, err);
  if (!sqlite3_get_autocommit(cache->db)) cache_step(cache, ROLLBACK);
  cache_spaces_free(spaces.data, spaces.count);
  if (really && !status) shrink(cache);
  return status;
}

int cache_has_origin(struct cache *cache, const char *origin, bool *has, cugen_error *err) {
  pthread_mutex_lock(&cache->lock);
  sqlite3_stmt *statement = cache_query(cache, "SELECT 1 FROM record WHERE origin = ?1 LIMIT 1");
  int code = statement && cache_bind_text(statement, 1, origin) ? sqlite3_step(statement) : SQLITE_ERROR;
  *has = code == SQLITE_ROW;
  int status = code == SQLITE_ROW || code == SQLITE_DONE ? CUGEN_OK : cache_error(cache, "read", err);
  sqlite3_finalize(statement);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

int cache_remove(struct cache *cache, const struct cache_filter *filter, bool really, struct cache_removal *out,
                 cugen_error *err) {
  *out = (struct cache_removal){0};
  pthread_mutex_lock(&cache->lock);
  int status = remove_meant(cache, filter, really, out, err);
  pthread_mutex_unlock(&cache->lock);
  return status;
}
