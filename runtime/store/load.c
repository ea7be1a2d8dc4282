/* Loading records; see cache.h.

   When a config gets a new problem parameter with a default, it still describes the same kernel
   wherever the parameter has that default. Older records have a shorter problem text without the
   parameter, and a look-up also finds the problems that lack only such parameters
   (cache_key.may_lack). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "engine.h"

/* ---- One set of records --------------------------------------------------------------------- */

static int hand_out(int status, struct cache_records *records, struct cache_record **out,
                    size_t *count) {
  if (status != CUGEN_OK) {
    cache_records_free(records);
    *records = (struct cache_records){0};
  }
  *out = records->data, *count = records->count;
  return status;
}

int cache_take_record(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_records *out = context;
  if (!ARRAY_ROOM(out->data, out->count)) return error_memory(err);
  struct cache_record *next = &out->data[out->count];
  if (!cache_row_record(row, next)) return error_memory(err);
  next->elsewhere = row_integer(row, CACHE_COLUMNS) != 0;
  if (next->wrong)
    cache_record_free(next); /* an invalid record is treated as missing */
  else
    out->count++;
  return CUGEN_OK;
}

void cache_records_free(struct cache_records *records) {
  for (size_t i = 0; i < records->count; i++) cache_record_free(&records->data[i]);
  free(records->data);
}

static int ask_key(struct cache *cache, enum cache_query which, const struct cache_key *key,
                   cache_row_visitor *visit, void *context, cugen_error *err) {
  const char *const values[] = {key->device, key->config, key->problem, key->options, key->origin};
  return cache->engine->query(cache, which, values, which == CACHE_QUERY_FASTEST ? 4 : 5, visit,
                              context, err);
}

/* ---- Problems that lack parameters ---------------------------------------------------------- */

bool cache_lacks(const struct cache_key *key, const char *problem, uint64_t *lacks) {
  const char *wanted = key->problem;
  struct setting mine, theirs;
  bool more = setting_next(&problem, &theirs);
  *lacks = 0;
  for (unsigned i = 0; setting_next(&wanted, &mine); i++)
    if (more && setting_equal(&mine, &theirs))
      more = setting_next(&problem, &theirs);
    else if (i < KERNEL_MAX_LACKED && key->may_lack >> i & 1)
      *lacks |= UINT64_C(1) << i;
    else
      return false;
  return !more;
}

enum { MOST_SHORTER = 64 }; /* most problems that a look-up joins */
struct shorter {
  const struct cache_key *key;
  char *problems[MOST_SHORTER]; /* the longest problems come first */
  uint64_t lacks[MOST_SHORTER];
  size_t count;
};

static void shorter_free(struct shorter *shorter) {
  for (size_t i = 0; i < shorter->count; i++) free(shorter->problems[i]);
}

static int load_add_problem(void *context, const struct cache_row *row, cugen_error *err) {
  struct shorter *out = context;
  const char *problem = row_text(row, 0);
  if (out->count == MOST_SHORTER || !cache_lacks(out->key, problem, &out->lacks[out->count]))
    return CUGEN_OK;
  out->problems[out->count] = strdup(problem);
  return out->problems[out->count] ? (out->count++, CUGEN_OK) : error_memory(err);
}

static int find_shorter(struct cache *cache, const struct cache_key *key, struct shorter *out,
                        cugen_error *err) {
  struct text from = {0}, to = {0};
  int status = CUGEN_OK;
  out->key = key;
  out->count = 0;
  if (key->may_lack) {
    /* A problem that lacks settings sorts between `from` and `to`, because it begins with the
       required settings. */
    const char *at = key->problem;
    struct setting setting;
    for (uint64_t bits = key->may_lack; !(bits & 1) && setting_next(&at, &setting); bits >>= 1)
      text_addf(&from, "%s%.*s", from.length ? " " : "", (int)setting.length, setting.text);
    text_addf(&to, "%s%s", text_get(&from),
              from.length ? "!" /* follows ' ' */ : "\xf4\x8f\xbf\xbf");
    const char *const values[] = {key->device,  key->config,     key->problem,
                                  key->options, text_get(&from), text_get(&to)};
    status = from.failed || to.failed ? error_memory(err)
                                      : cache->engine->query(cache, CACHE_QUERY_SHORTER, values, 6,
                                                             load_add_problem, out, err);
  }
  text_free(&from);
  text_free(&to);
  return status;
}

/* ---- Joining sets of records ---------------------------------------------------------------- */

/* Orders records by variant and kernel, whatever their reference. */
static int load_by_kernel(const void *a, const void *b) {
  const struct cache_record *x = *(const struct cache_record *const *)a,
                            *y = *(const struct cache_record *const *)b;
  int order = strcmp(x->variant, y->variant);
  if (!order) order = strcmp(x->source_hash.hex, y->source_hash.hex);
  if (!order) order = strcmp(x->launches_hash.hex, y->launches_hash.hex);
  return order ? order : strcmp(x->arguments_hash.hex, y->arguments_hash.hex);
}

/* Drops each record from `begin` on if a record in front of `begin`, whose problem is longer, is of
   the same kernel. Returns false if out of memory. */
static bool drop_renewed(struct cache_records *all, size_t begin) {
  size_t kept = begin;
  const struct cache_record **sorted = malloc((begin + 1) * sizeof *sorted);
  if (!sorted) return false;
  for (size_t i = 0; i < begin; i++) sorted[i] = &all->data[i];
  qsort(sorted, begin, sizeof *sorted, load_by_kernel);
  for (size_t i = begin; i < all->count; i++) {
    const struct cache_record *record = &all->data[i];
    if (bsearch(&record, sorted, begin, sizeof *sorted, load_by_kernel))
      cache_record_free(&all->data[i]);
    else
      all->data[kept++] = all->data[i];
  }
  all->count = kept;
  free(sorted);
  return true;
}

/* A record's cost, and its place in the list, which decides between equal costs. */
struct ranked {
  bool failed;
  double cost;
  size_t place;
};

static int load_by_cost(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->failed != y->failed) return x->failed - y->failed;
  if (x->cost != y->cost) return (x->cost > y->cost) - (x->cost < y->cost);
  return (x->place > y->place) - (x->place < y->place);
}

/* Sorts right records by cost in front of all others. An unknown time comes first, as in the SQL
   statements; any other unknown cost comes last. Returns false if out of memory. */
static bool sort_by(struct cache_records *all, const struct objective *objective) {
  const bool time = objective_kind_of(objective) == OBJECTIVE_TIME;
  const double unknown = time ? (double)-INFINITY : (double)INFINITY;
  struct ranked *ranked = calloc(all->count + 1, sizeof *ranked);
  struct cache_record *data = malloc((all->count + 1) * sizeof *data);
  const bool good = ranked && data;
  for (size_t i = 0; good && i < all->count; i++) {
    const struct cache_record *record = &all->data[i];
    const double cost = time ? record->seconds : cache_record_cost(record, objective);
    ranked[i] =
        (struct ranked){record->outcome != CUGEN_OUTCOME_OK, isnan(cost) ? unknown : cost, i};
  }
  if (good) qsort(ranked, all->count, sizeof *ranked, load_by_cost);
  for (size_t i = 0; good && i < all->count; i++) data[i] = all->data[ranked[i].place];
  free(good ? all->data : data);
  if (good) all->data = data;
  free(ranked);
  return good;
}

/* Loads the records of the key and of the shorter problems. Each set comes in the order of time,
   so one set alone is sorted only for another objective. */
static int load_with(struct cache *cache, const struct cache_key *key,
                     const struct shorter *shorter, struct cache_records *all, cugen_error *err) {
  int status = ask_key(cache, CACHE_QUERY_LOAD, key, cache_take_record, all, err);
  for (size_t i = 0; i < shorter->count && !status; i++) {
    const size_t begin = all->count;
    struct cache_key other = *key;
    other.problem = shorter->problems[i];
    status = ask_key(cache, CACHE_QUERY_LOAD, &other, cache_take_record, all, err);
    for (size_t r = begin; r < all->count; r++) all->data[r].lacks = shorter->lacks[i];
    if (!status && !drop_renewed(all, begin)) status = error_memory(err);
  }
  if (!status && shorter->count && !sort_by(all, NULL)) status = error_memory(err);
  if (!status && objective_kind_of(key->objective) != OBJECTIVE_TIME &&
      !sort_by(all, key->objective))
    status = error_memory(err);
  return status;
}

int cache_load(struct cache *cache, const struct cache_key *key, struct cache_record **out,
               size_t *count, cugen_error *err) {
  struct cache_records records = {0};
  struct shorter shorter;
  pthread_mutex_lock(&cache->lock);
  int status = find_shorter(cache, key, &shorter, err);
  if (!status) status = load_with(cache, key, &shorter, &records, err);
  pthread_mutex_unlock(&cache->lock);
  shorter_free(&shorter);
  return hand_out(status, &records, out, count);
}

/* ---- The fastest ---------------------------------------------------------------------------- */

static int visit_merged(struct cache *cache, const struct cache_key *key,
                        const struct shorter *shorter, cache_visitor *visit, void *context,
                        cugen_error *err) {
  struct cache_records records = {0};
  int status = load_with(cache, key, shorter, &records, err);
  bool stop = false;
  for (size_t i = 0;
       i < records.count && !status && !stop && records.data[i].outcome == CUGEN_OUTCOME_OK; i++)
    status = visit(context, &records.data[i], &stop, err);
  cache_records_free(&records);
  return status;
}

struct fastest {
  cache_visitor *visit;
  void *context;
};

static int visit_fastest(void *context, const struct cache_row *row, cugen_error *err) {
  const struct fastest *f = context;
  struct cache_record record;
  bool stop = false;
  if (!cache_row_record(row, &record)) return error_memory(err);
  int status = record.wrong ? CUGEN_OK : f->visit(f->context, &record, &stop, err);
  cache_record_free(&record);
  return !status && stop ? CACHE_STOP : status;
}

int cache_fastest(struct cache *cache, const struct cache_key *key, cache_visitor *visit,
                  void *context, cugen_error *err) {
  struct shorter shorter;
  pthread_mutex_lock(&cache->lock);
  int status = find_shorter(cache, key, &shorter, err);
  if (!status)
    status = shorter.count || objective_kind_of(key->objective) != OBJECTIVE_TIME
                 ? visit_merged(cache, key, &shorter, visit, context, err)
                 : ask_key(cache, CACHE_QUERY_FASTEST, key, visit_fastest,
                           &(struct fastest){visit, context}, err);
  pthread_mutex_unlock(&cache->lock);
  shorter_free(&shorter);
  return status;
}

/* ---- Superseded records --------------------------------------------------------------------- */

int cache_history(struct cache *cache, const struct cache_key *key, struct cache_record **out,
                  size_t *count, cugen_error *err) {
  struct cache_records records = {0};
  pthread_mutex_lock(&cache->lock);
  int status = ask_key(cache, CACHE_QUERY_HISTORY, key, cache_take_record, &records, err);
  pthread_mutex_unlock(&cache->lock);
  return hand_out(status, &records, out, count);
}
