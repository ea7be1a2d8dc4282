/* The functions of cache.h that call the cache's engine, most of them under the lock; see
   engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "engine.h"

/* ---- Opening -------------------------------------------------------------------------------- */

static bool is_memory(const char *path) {
  return !path || !*path || strcmp(path, "none") == 0;
}

/* The last engine takes every path that no other engine takes. */
static const struct cache_engine *engine_of(const char *path) {
  static const struct cache_engine *const engines[] = {&cache_postgres, &cache_sqlite};
  enum { LAST = sizeof engines / sizeof *engines - 1 };
  for (size_t i = 0; i < LAST; i++)
    if (engines[i]->takes(path)) return engines[i];
  return engines[LAST];
}

int cache_open(const char *path, struct cache **out, struct text *warning, cugen_error *err) {
  return cache_open_watched(path, (struct process_stop){0}, out, warning, err);
}

int cache_open_watched(const char *path, struct process_stop stop, struct cache **out,
                       struct text *warning, cugen_error *err) {
  const char *name = is_memory(path) ? "none" : path;
  *out = NULL;
  const struct cache_engine *engine = engine_of(name);
  int status = engine->open(name, stop, out, warning, err);
  if (status) return status;
  (*out)->engine = engine;
  if (!is_memory(path)) seal_open(false, &(*out)->seal, &(*out)->unsealed);
  /* A cache whose data end with this process seals images with a fresh key, if the user's key is
     not known. */
  if (!(*out)->seal.known && !(*out)->in_file) seal_fresh(&(*out)->seal);
  return CUGEN_OK;
}

cugen_cache_kind cache_parse(const char *text) {
  if (!text) return CUGEN_CACHE_FILE;
  return is_memory(text) ? CUGEN_CACHE_MEMORY : engine_of(text)->kind;
}

void cache_name(const char *path, struct text *out) {
  engine_of(path)->name(path, out);
}

bool cache_is_missing(const char *path) {
  return !is_memory(path) && engine_of(path)->is_missing(path);
}

void cache_close(struct cache *cache) {
  if (cache) cache->engine->close(cache);
}

const char *cache_path(const struct cache *cache) {
  return text_get(&cache->path);
}

const char *cache_why_unwritable(const struct cache *cache) {
  return text_get(&cache->unwritable);
}

/* ---- Calls of the engine -------------------------------------------------------------------- */

#define LOCKED(cache, call)                                                                        \
  do {                                                                                             \
    pthread_mutex_lock(&(cache)->lock);                                                            \
    const int locked_status = (cache)->engine->call;                                               \
    pthread_mutex_unlock(&(cache)->lock);                                                          \
    return locked_status;                                                                          \
  } while (0)

/* A caller's function, for problems or for devices; the other member is NULL. */
struct visit {
  int (*problem)(void *context, const char *problem, cugen_error *err);
  int (*device)(void *context, const char *device, const char *options, cugen_error *err);
  void *context;
};

static int visit_texts(void *context, const struct cache_row *row, cugen_error *err) {
  const struct visit *v = context;
  return v->problem ? v->problem(v->context, row_text(row, 0), err)
                    : v->device(v->context, row_text(row, 0), row_text(row, 1), err);
}

int cache_problems(struct cache *cache, const struct cache_key *key,
                   int (*visit)(void *context, const char *problem, cugen_error *err),
                   void *context, cugen_error *err) {
  const char *const values[] = {key->device, key->config, key->options};
  struct visit both = {visit, NULL, context};
  LOCKED(cache, query(cache, CACHE_QUERY_PROBLEMS, values, 3, visit_texts, &both, err));
}

int cache_devices(struct cache *cache, const struct cache_key *key,
                  int (*visit)(void *context, const char *device, const char *options,
                               cugen_error *err),
                  void *context, cugen_error *err) {
  const char *const values[] = {key->config, key->problem};
  struct visit both = {NULL, visit, context};
  LOCKED(cache, query(cache, CACHE_QUERY_DEVICES, values, 2, visit_texts, &both, err));
}

int cache_store(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                cugen_error *err) {
  struct cache_record settled = *record;
  settled.wrong = NULL;
  settled.reason = strdup(record->reason ? record->reason : "");
  if (!settled.reason) return error_memory(err);
  cache_record_settle(&settled);
  int status = cache_check_entry(cache, key, &settled, err);
  if (!status) {
    pthread_mutex_lock(&cache->lock);
    status = cache->engine->store(cache, key, &settled, err);
    pthread_mutex_unlock(&cache->lock);
  }
  free(settled.reason);
  return status;
}

int cache_sync(struct cache *cache, cugen_error *err) {
  return cache->engine->sync(cache, err);
}

static int take_rate(void *out, const struct cache_row *row, cugen_error *err) {
  (void)err;
  *(struct cache_rate *)out =
      (struct cache_rate){row_real(row, 0), row_real(row, 1), row_integer(row, 2)};
  return CUGEN_OK;
}

int cache_greatest_rate(struct cache *cache, const char *device, const char *config,
                        const char *word, struct cache_rate *out, cugen_error *err) {
  struct text found = {0};
  *out = (struct cache_rate){0};
  text_add(&found, " ");
  if (*word) text_addf(&found, "%s ", word);
  const char *const values[] = {device, config, text_get(&found)};
  pthread_mutex_lock(&cache->lock);
  int status = found.failed
                   ? error_memory(err)
                   : cache->engine->query(cache, CACHE_QUERY_RATE, values, 3, take_rate, out, err);
  pthread_mutex_unlock(&cache->lock);
  text_free(&found);
  return status;
}

static int note_row(void *has, const struct cache_row *row, cugen_error *err) {
  (void)row, (void)err;
  *(bool *)has = true;
  return CUGEN_OK;
}

int cache_has_origin(struct cache *cache, const char *origin, bool *has, cugen_error *err) {
  *has = false;
  LOCKED(cache, query(cache, CACHE_QUERY_ORIGIN, &origin, 1, note_row, has, err));
}

int cache_remove(struct cache *cache, const struct cache_filter *filter, bool really,
                 cugen_cache_counts *out, cugen_error *err) {
  *out = (cugen_cache_counts){0};
  pthread_mutex_lock(&cache->lock);
  int status = cache->engine->remove(cache, filter, really, out, err);
  pthread_mutex_unlock(&cache->lock);
  const int synced = really ? cache_sync(cache, status ? NULL : err) : CUGEN_OK;
  return status ? status : synced;
}

int cache_each(struct cache *cache, const struct cache_filter *filter,
               const struct cache_visit *visit, cugen_error *err) {
  LOCKED(cache, each(cache, filter, visit, err));
}

int cache_verify(struct cache *cache, cugen_cache_counts *out, struct text *wrong,
                 struct text *foreign, cugen_error *err) {
  *out = (cugen_cache_counts){0};
  pthread_mutex_lock(&cache->lock);
  struct cache_check check = {cache, out, wrong, foreign};
  int status = cache->engine->verify(&check, err);
  if (!status) status = cache_check_portfolios(&check, err);
  pthread_mutex_unlock(&cache->lock);
  return status || !(wrong->failed || foreign->failed) ? status : error_memory(err);
}

/* ---- Sets of records ------------------------------------------------------------------------ */

struct spaces {
  struct cache_space *data;
  size_t count;
};

static int take_space(void *context, const struct cache_row *row, cugen_error *err) {
  enum { TEXTS = 6 };
  struct spaces *all = context;
  if (!ARRAY_ROOM(all->data, all->count)) return error_memory(err);
  struct cache_space *s = &all->data[all->count++];
  *s = (struct cache_space){.id = row_integer(row, TEXTS),
                            .records = (size_t)row_integer(row, TEXTS + 1),
                            .failed = (size_t)row_integer(row, TEXTS + 2),
                            .history = (size_t)row_integer(row, TEXTS + 3),
                            .measured_at = row_integer(row, TEXTS + 4),
                            .seconds = row_real(row, TEXTS + 5),
                            .flops = row_real(row, TEXTS + 6),
                            .bytes = row_real(row, TEXTS + 7)};
  char **const texts[TEXTS] = {&s->device,  &s->config, &s->problem,
                               &s->options, &s->best,   &s->origin};
  for (int i = 0; i < TEXTS; i++)
    if (!(*texts[i] = strdup(row_text(row, i)))) return error_memory(err);
  return CUGEN_OK;
}

void cache_spaces_free(struct cache_space *spaces, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *strings[] = {spaces[i].device,  spaces[i].config, spaces[i].problem,
                       spaces[i].options, spaces[i].best,   spaces[i].origin};
    for (size_t s = 0; s < sizeof strings / sizeof *strings; s++) free(strings[s]);
  }
  free(spaces);
}

int cache_spaces(struct cache *cache, struct cache_space **out, size_t *count, cugen_error *err) {
  struct spaces spaces = {0};
  pthread_mutex_lock(&cache->lock);
  int status = cache->engine->query(cache, CACHE_QUERY_SPACES, NULL, 0, take_space, &spaces, err);
  pthread_mutex_unlock(&cache->lock);
  if (status) {
    cache_spaces_free(spaces.data, spaces.count);
    spaces = (struct spaces){0};
  }
  *out = spaces.data, *count = spaces.count;
  return status;
}

/* ---- Claims --------------------------------------------------------------------------------- */

bool cache_keeps_claims(const struct cache *cache) {
  return cache->engine->claim != NULL;
}

int cache_claim(struct cache *cache, const struct cache_key *key, const struct cache_lease *lease,
                struct cache_claim *claims, size_t count, cugen_error *err) {
  LOCKED(cache, claim(cache, key, lease, claims, count, err));
}

int cache_unclaim(struct cache *cache, const char *owner, cugen_error *err) {
  LOCKED(cache, unclaim(cache, owner, err));
}

int cache_news(struct cache *cache, const struct cache_key *key, struct cache_news *news,
               cugen_error *err) {
  LOCKED(cache, news(cache, key, news, err));
}

/* ---- Imports -------------------------------------------------------------------------------- */

int cache_stage_open(struct cache *cache, size_t planned, const struct cache_watch *watch,
                     struct cache_stage **out, cugen_error *err) {
  *out = NULL;
  const struct cache_stage given = {.engine = cache->engine,
                                    .watch = watch ? *watch : (struct cache_watch){0},
                                    .planned = planned};
  return cache->engine->stage_open(cache, &given, out, err);
}

int cache_stage_add(struct cache_stage *stage, const struct cache_entry *entry, size_t line,
                    size_t *twice, cugen_error *err) {
  enum { CHECKS = 1024 };
  *twice = 0;
  int status = stage->engine->stage_add(stage, entry, line, twice, err);
  return status || ++stage->added % CHECKS ? status : cache_stage_watch(stage, err);
}

int cache_stage_merge(struct cache_stage *stage, cugen_cache_merged *out, cugen_error *err) {
  *out = (cugen_cache_merged){0};
  int status = stage->engine->stage_merge(stage, out, err);
  if (status) *out = (cugen_cache_merged){0};
  return status;
}

void cache_stage_close(struct cache_stage *stage) {
  if (stage) stage->engine->stage_close(stage);
}
