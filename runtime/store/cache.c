/* The functions of cache.h: each calls the function of its engine under the lock; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine.h"

/* ---- Opening -------------------------------------------------------------------------------- */

/* A cache in memory seals its images with a key of its own. */
static void open_seal(struct cache *cache, bool memory) {
  if (!memory) seal_open(false, &cache->seal, &cache->unsealed);
  if (!cache->seal.known && !cache->in_file) seal_fresh(&cache->seal);
}

static bool is_memory(const char *path) {
  return !path || !*path || strcmp(path, "none") == 0;
}

/* The last engine takes every path that the others do not. */
static const struct cache_engine *engine_of(const char *path) {
  size_t i = 0;
  while (cache_engines[i + 1] && !cache_engines[i]->takes(path)) i++;
  return cache_engines[i];
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
  open_seal(*out, is_memory(path));
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

int cache_problems(struct cache *cache, const struct cache_key *key,
                   int (*visit)(void *context, const char *problem, cugen_error *err),
                   void *context, cugen_error *err) {
  LOCKED(cache, problems(cache, key, visit, context, err));
}

int cache_devices(struct cache *cache, const struct cache_key *key,
                  int (*visit)(void *context, const char *device, const char *options,
                               cugen_error *err),
                  void *context, cugen_error *err) {
  LOCKED(cache, devices(cache, key, visit, context, err));
}

static int store_cache_store(struct cache *cache, const struct cache_key *key,
                             const struct cache_record *record, cugen_error *err) {
  LOCKED(cache, store(cache, key, record, err));
}

int cache_store(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                cugen_error *err) {
  struct cache_record settled = *record;
  settled.wrong = NULL;
  settled.reason = strdup(record->reason ? record->reason : "");
  if (!settled.reason) return error_memory(err);
  cache_record_settle(&settled);
  int status = cache_check_entry(cache, key, &settled, err);
  if (!status) status = store_cache_store(cache, key, &settled, err);
  free(settled.reason);
  return status;
}

int cache_sync(struct cache *cache, cugen_error *err) {
  return cache->engine->sync(cache, err);
}

void cache_set_patience(struct cache *cache, double seconds) {
  cache->engine->set_patience(cache, seconds);
}

int cache_greatest_rate(struct cache *cache, const char *device, const char *config,
                        const char *word, struct cache_rate *out, cugen_error *err) {
  *out = (struct cache_rate){0};
  LOCKED(cache, greatest_rate(cache, device, config, word, out, err));
}

int cache_has_origin(struct cache *cache, const char *origin, bool *has, cugen_error *err) {
  *has = false;
  LOCKED(cache, has_origin(cache, origin, has, err));
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
  int status = cache->engine->verify(cache, out, wrong, foreign, err);
  if (!status) status = cache_check_portfolios(&check, err);
  pthread_mutex_unlock(&cache->lock);
  return status || !(wrong->failed || foreign->failed) ? status : error_memory(err);
}

/* ---- Sets of records ------------------------------------------------------------------------ */

int cache_spaces(struct cache *cache, struct cache_space **out, size_t *count, cugen_error *err) {
  struct cache_spaces spaces = {0};
  pthread_mutex_lock(&cache->lock);
  int status = cache->engine->spaces(cache, &spaces, err);
  pthread_mutex_unlock(&cache->lock);
  if (status) {
    cache_spaces_free(spaces.data, spaces.count);
    spaces = (struct cache_spaces){0};
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
  return cache->engine->stage_open(cache, planned, watch, out, err);
}

int cache_stage_add(struct cache_stage *stage, const struct cache_entry *entry, size_t line,
                    size_t *twice, cugen_error *err) {
  *twice = 0;
  return stage->engine->stage_add(stage, entry, line, twice, err);
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
