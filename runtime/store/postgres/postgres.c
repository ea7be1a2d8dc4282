/* Opening and closing the cache, and this engine's table of functions; see database.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "base/error.h"
#include "database.h"
#include "runtime/compile/toolkit.h"

/* ---- libpq ---------------------------------------------------------------------------------- */

static const char library[] = "libpq.so.5";

static const struct toolkit_symbol symbols[] = {
#define X(member, symbol, result, parameters) {#symbol, offsetof(struct libpq, member), true},
    PQ_FUNCTIONS(X)
#undef X
};

int libpq_open(struct libpq *out, cugen_error *err) {
  int status = toolkit_load(library, symbols, sizeof symbols / sizeof *symbols, out, err);
  if (status)
    error_append(err, "; a store on PostgreSQL needs libpq (Debian and Ubuntu: apt-get install "
                      "libpq5), or name a file with cugen_options.cache");
  return status;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static const char unreadable[] =
    "the connection string is not postgresql://USER@HOST:PORT/DB?OPTION=VALUE; percent-encode in "
    "names and passwords: %40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25 for %";

void postgres_name(const char *path, struct text *out) {
  if (!pg_address_show(path, out)) text_add(out, "...");
}

/* Always false: only the server knows whether there are tables, and opening makes missing ones. */
bool postgres_is_missing(const char *path) {
  (void)path;
  return false;
}

static int open_address(struct pg_cache *cache, const char *path, cugen_error *err) {
  const bool readable = pg_address_show(path, &cache->base.path);
  cache->address = strdup(path);
  if (cache->base.path.failed || !cache->address) return error_memory(err);
  if (!readable)
    return error_set(err, CUGEN_ERROR_USAGE, "%s...: %s", text_get(&cache->base.path), unreadable);
  int status = libpq_open(&cache->pq, err);
  if (!status) status = pg_connect(cache, err);
  return status ? status : pg_open_tables(cache, err);
}

int postgres_open(const char *path, struct process_stop stop, struct cache **out,
                  struct text *warning, cugen_error *err) {
  (void)warning;
  struct pg_cache *cache = calloc(1, sizeof *cache);
  if (!cache) return error_memory(err);
  cache->base.in_file = true;
  cache->stop = stop;
  pthread_mutex_init(&cache->base.lock, NULL);
  int status = open_address(cache, path, err);
  if (status)
    postgres_close(&cache->base);
  else
    *out = &cache->base;
  return status;
}

void postgres_close(struct cache *base) {
  struct pg_cache *cache = pg_cache_of(base);
  pg_disconnect(cache);
  pthread_mutex_destroy(&base->lock);
  text_free(&base->path);
  text_free(&base->unsealed);
  text_free(&base->unwritable);
  text_free(&cache->memo);
  seal_forget(&base->seal);
  free(cache->address);
  free(cache);
}

/* Does nothing, because the server has already made committed data durable. */
int postgres_sync(struct cache *base, cugen_error *err) {
  (void)base, (void)err;
  return CUGEN_OK;
}

const struct cache_engine cache_postgres = {
    .kind = CUGEN_CACHE_SERVER,
    CACHE_ENGINE_FUNCTIONS(CACHE_ENGINE_MEMBER, postgres)
        CACHE_CLAIM_FUNCTIONS(CACHE_ENGINE_MEMBER, postgres)};
