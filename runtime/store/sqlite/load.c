/* Loading records; see cache.h.

   A config that gets another problem parameter, with a default, describes the same kernel as before wherever the parameter has
   that default. Its records are of a problem whose text is shorter, and a look-up takes them too: one query finds the
   problems that lack nothing but such parameters (the key's settings with '?'). Whether such a record is of the kernel as it
   is now its hashes say, like any other's: see cache_record_is_same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "database.h"

/* ---- One set of records --------------------------------------------------------------------------------------- */

/* A growing array of records. */
struct records {
  struct cache_record *data;
  size_t count, capacity;
};

static struct cache_record *records_next(struct records *records) {
  struct cache_record *data = array_reserve(records->data, &records->capacity, records->count, sizeof *data);
  if (!data) return NULL;
  records->data = data;
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

/* ---- Problems that lack parameters ----------------------------------------------------------------------------- */

/* The first line of the settings, without '?'. */
struct setting {
  const char *text, *next;
  size_t length;
  bool may_lack;
};

static struct setting first_setting(const char *settings) {
  struct setting setting = {.text = settings, .may_lack = *settings == '?'};
  setting.text += setting.may_lack;
  setting.length = strcspn(setting.text, "\n");
  setting.next = setting.text + setting.length;
  setting.next += *setting.next == '\n';
  return setting;
}

bool cache_lacks(const struct cache_key *key, const char *problem, uint64_t *lacks) {
  const char *settings = key->settings;
  *lacks = 0;
  if (!settings) return strcmp(problem, key->problem) == 0;
  for (unsigned i = 0; *settings; i++) {
    const struct setting setting = first_setting(settings);
    const char *end = problem + setting.length;
    settings = setting.next;
    if (strncmp(problem, setting.text, setting.length) == 0 && (*end == ' ' || !*end))
      problem = end + (*end == ' ');
    else if (setting.may_lack && i < KERNEL_MAX_LACKED)
      *lacks |= (uint64_t)1 << i;
    else
      return false;
  }
  return !*problem;
}

/* A problem that lacks some stands between these two, since it begins with the settings that none may lack. False: none is
   lacked. */
static bool write_range(const char *settings, struct text *from, struct text *to) {
  bool may_lack = false;
  while (settings && *settings && !may_lack) {
    const struct setting setting = first_setting(settings);
    may_lack = setting.may_lack;
    if (may_lack) break;
    if (from->length) text_add_char(from, ' ');
    text_add_n(from, setting.text, setting.length);
    settings = setting.next;
  }
  text_addf(to, "%s%s", text_get(from), from->length ? "!" /* behind ' ' */ : "\xf4\x8f\xbf\xbf");
  return may_lack;
}

enum { MOST_SHORTER = 64 }; /* of one problem */
struct shorter {
  char *problems[MOST_SHORTER]; /* those with the most settings first */
  uint64_t lacks[MOST_SHORTER];
  size_t count;
};

static void shorter_free(struct shorter *shorter) {
  for (size_t i = 0; i < shorter->count; i++) free(shorter->problems[i]);
}

static int list_shorter(struct cache *cache, const struct cache_key *key, const struct text *from,
                        const struct text *to, struct shorter *out, cugen_error *err) {
  sqlite3_stmt *statement = cache->statements[SPACE_SHORTER];
  bool memory = !from->failed && !to->failed;
  if (memory && cache_bind_key(statement, key) && cache_bind_text(statement, 5, text_get(from)) &&
      cache_bind_text(statement, 6, text_get(to)))
    while (memory && out->count < MOST_SHORTER && sqlite3_step(statement) == SQLITE_ROW) {
      const char *problem = cache_column_text(statement, 0);
      if (!cache_lacks(key, problem, &out->lacks[out->count])) continue;
      memory = (out->problems[out->count] = strdup(problem)) != NULL;
      out->count += memory;
    }
  bool good = sqlite3_reset(statement) == SQLITE_OK;
  return !memory ? error_memory(err) : good ? CUGEN_OK : cache_error(cache, "read", err);
}

static int find_shorter(struct cache *cache, const struct cache_key *key, struct shorter *out, cugen_error *err) {
  struct text from = {0}, to = {0};
  out->count = 0;
  int status = write_range(key->settings, &from, &to) ? list_shorter(cache, key, &from, &to, out, err) : CUGEN_OK;
  text_free(&from);
  text_free(&to);
  return status;
}

/* ---- Sets in one ------------------------------------------------------------------------------------------------ */

static int by_variant(const void *a, const void *b) {
  return strcmp((*(const struct cache_record *const *)a)->variant, (*(const struct cache_record *const *)b)->variant);
}

static bool same_kernel(const struct cache_record *a, const struct cache_record *b) {
  return strcmp(a->source_hash.hex, b->source_hash.hex) == 0 &&
         strcmp(a->launches_hash.hex, b->launches_hash.hex) == 0 &&
         strcmp(a->arguments_hash.hex, b->arguments_hash.hex) == 0;
}

/* Whether one of those, by variant, is a later record of this kernel. */
static bool is_renewed(const struct cache_record *record, struct cache_record *const *sorted, size_t count) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(sorted[middle]->variant, record->variant) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && strcmp(sorted[low]->variant, record->variant) == 0; low++)
    if (same_kernel(sorted[low], record)) return true;
  return false;
}

static bool drop_renewed(const struct records *all, struct records *more) {
  size_t kept = 0;
  struct cache_record **sorted = malloc((all->count + 1) * sizeof *sorted);
  if (!sorted) return false;
  for (size_t i = 0; i < all->count; i++) sorted[i] = &all->data[i];
  qsort(sorted, all->count, sizeof *sorted, by_variant);
  for (size_t i = 0; i < more->count; i++)
    if (is_renewed(&more->data[i], sorted, all->count))
      cache_record_free(&more->data[i]);
    else
      more->data[kept++] = more->data[i];
  more->count = kept;
  free(sorted);
  return true;
}

/* As the statements sort: NULL is the least of times. */
static bool goes_before(const struct cache_record *a, const struct cache_record *b) {
  const bool failed = a->outcome != CUGEN_OUTCOME_OK;
  if (failed != (b->outcome != CUGEN_OUTCOME_OK)) return !failed;
  return (isnan(a->seconds) ? (double)-INFINITY : a->seconds) < (isnan(b->seconds) ? (double)-INFINITY : b->seconds);
}

/* Both are in order, and so is what comes of them. Takes what `more` has. */
static bool merge(struct records *all, struct records *more) {
  if (!drop_renewed(all, more)) return false;
  size_t count = all->count + more->count, left = 0, right = 0;
  struct cache_record *data = malloc((count + 1) * sizeof *data);
  if (!data) return false;
  for (size_t i = 0; i < count; i++) {
    bool from_more = left == all->count || (right < more->count && goes_before(&more->data[right], &all->data[left]));
    data[i] = from_more ? more->data[right++] : all->data[left++];
  }
  free(all->data);
  *all = (struct records){data, count, count + 1};
  more->count = 0;
  return true;
}

/* ---- By another objective ---- */

/* A record's cost, and its place by time, which decides where costs are equal or not known. */
struct ranked {
  bool failed;
  double cost;
  size_t place;
};

static int by_cost(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->failed != y->failed) return x->failed - y->failed;
  if (x->cost != y->cost) return (x->cost > y->cost) - (x->cost < y->cost);
  return (x->place > y->place) - (x->place < y->place);
}

/* What is in order of time. */
static bool sort_by(struct records *all, const struct objective *objective) {
  if (objective_kind_of(objective) == OBJECTIVE_TIME) return true;
  struct ranked *ranked = calloc(all->count + 1, sizeof *ranked);
  struct cache_record *data = malloc((all->count + 1) * sizeof *data);
  for (size_t i = 0; ranked && i < all->count; i++) {
    const double cost = cache_record_cost(&all->data[i], objective);
    ranked[i] = (struct ranked){all->data[i].outcome != CUGEN_OUTCOME_OK, isnan(cost) ? (double)INFINITY : cost, i};
  }
  const bool good = ranked && data;
  if (good) {
    qsort(ranked, all->count, sizeof *ranked, by_cost);
    for (size_t i = 0; i < all->count; i++) data[i] = all->data[ranked[i].place];
    free(all->data);
    *all = (struct records){data, all->count, all->count + 1};
  } else {
    free(data);
  }
  free(ranked);
  return good;
}

static int add_shorter(struct cache *cache, const struct cache_key *key, const struct shorter *shorter, size_t i,
                       struct records *all, cugen_error *err) {
  struct records more = {0};
  struct cache_key other = *key;
  other.problem = shorter->problems[i];
  int status = load_all(cache, cache->statements[RECORD_LOAD], &other, &more, err);
  for (size_t r = 0; r < more.count; r++) more.data[r].lacks = shorter->lacks[i];
  if (!status && !merge(all, &more)) status = error_memory(err);
  records_free(&more);
  return status;
}

static int load_with(struct cache *cache, const struct cache_key *key, const struct shorter *shorter,
                     struct records *all, cugen_error *err) {
  int status = load_all(cache, cache->statements[RECORD_LOAD], key, all, err);
  for (size_t i = 0; i < shorter->count && !status; i++) status = add_shorter(cache, key, shorter, i, all, err);
  if (!status && !sort_by(all, key->objective)) status = error_memory(err);
  return status;
}

int cache_load(struct cache *cache, const struct cache_key *key, struct cache_record **out, size_t *count,
               cugen_error *err) {
  struct records records = {0};
  struct shorter shorter;
  pthread_mutex_lock(&cache->lock);
  int status = find_shorter(cache, key, &shorter, err);
  if (!status) status = load_with(cache, key, &shorter, &records, err);
  pthread_mutex_unlock(&cache->lock);
  shorter_free(&shorter);
  return hand_out(status, &records, out, count);
}

/* ---- The fastest ------------------------------------------------------------------------------------------------ */

static int visit_row(sqlite3_stmt *statement, cache_visitor *visit, void *context, bool *stop, cugen_error *err) {
  struct cache_record record;
  if (!cache_read_record(statement, &record)) return error_memory(err);
  int status = visit(context, &record, stop, err);
  cache_record_free(&record);
  return status;
}

static int visit_rows(struct cache *cache, const struct cache_key *key, cache_visitor *visit, void *context,
                      cugen_error *err) {
  sqlite3_stmt *statement = cache->statements[RECORD_FASTEST];
  int status = CUGEN_OK;
  bool stop = false;
  if (cache_bind_key(statement, key))
    while (!status && !stop && sqlite3_step(statement) == SQLITE_ROW)
      status = visit_row(statement, visit, context, &stop, err);
  bool good = sqlite3_reset(statement) == SQLITE_OK;
  return !status && !good ? cache_error(cache, "read", err) : status;
}

static int visit_merged(struct cache *cache, const struct cache_key *key, const struct shorter *shorter,
                        cache_visitor *visit, void *context, cugen_error *err) {
  struct records records = {0};
  int status = load_with(cache, key, shorter, &records, err);
  bool stop = false;
  for (size_t i = 0; i < records.count && !status && !stop && records.data[i].outcome == CUGEN_OUTCOME_OK; i++)
    status = visit(context, &records.data[i], &stop, err);
  records_free(&records);
  return status;
}

int cache_fastest(struct cache *cache, const struct cache_key *key, cache_visitor *visit, void *context,
                  cugen_error *err) {
  struct shorter shorter;
  pthread_mutex_lock(&cache->lock);
  int status = find_shorter(cache, key, &shorter, err);
  if (!status)
    status = shorter.count || objective_kind_of(key->objective) != OBJECTIVE_TIME
                 ? visit_merged(cache, key, &shorter, visit, context, err)
                 : visit_rows(cache, key, visit, context, err);
  pthread_mutex_unlock(&cache->lock);
  shorter_free(&shorter);
  return status;
}

/* ---- The rest --------------------------------------------------------------------------------------------------- */

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
