/* Portfolios of a cache, independent of the engine; see cache.h. Portfolios are few, so a query's
   whole answer is read into memory. */
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "engine.h"

struct portfolios {
  struct cache_portfolio *data;
  size_t count;
};

static int take_portfolio(void *context, const struct cache_row *row, cugen_error *err) {
  struct portfolios *all = context;
  if (!ARRAY_ROOM(all->data, all->count)) return error_memory(err);
  struct cache_portfolio *p = &all->data[all->count++];
  int at = 0;
  *p = (struct cache_portfolio){0};
#define X(name) p->name = strdup(row_text(row, at++));
  CACHE_PORTFOLIO_KEY(X)
#undef X
  p->body = strdup(row_text(row, at++));
  p->learnt_at = cache_time(row_integer(row, at), 1);
#define X(name) &&p->name
  return p->body CACHE_PORTFOLIO_KEY(X) ? CUGEN_OK : error_memory(err);
#undef X
}

/* Called under the lock. */
static int list(struct cache *cache, const struct cache_key *key, struct portfolios *out,
                cugen_error *err) {
  *out = (struct portfolios){0};
  const char *const values[] = {key ? key->device : "", key ? key->config : "",
                                key ? key->options : ""};
  int status = cache->engine->query(cache, key ? CACHE_QUERY_PORTFOLIOS_OF : CACHE_QUERY_PORTFOLIOS,
                                    values, key ? 3 : 0, take_portfolio, out, err);
  if (!status) return CUGEN_OK;
  cache_portfolios_free(out->data, out->count);
  *out = (struct portfolios){0};
  return status;
}

int cache_portfolios(struct cache *cache, const struct cache_key *key, struct cache_portfolio **out,
                     size_t *count, cugen_error *err) {
  struct portfolios all;
  pthread_mutex_lock(&cache->lock);
  int status = list(cache, key, &all, err);
  pthread_mutex_unlock(&cache->lock);
  *out = all.data, *count = all.count;
  return status;
}

static int store_portfolios_change(struct cache *cache, const struct cache_portfolio *portfolios,
                                   size_t count, bool removed, cugen_error *err) {
  if (!count) return CUGEN_OK;
  pthread_mutex_lock(&cache->lock);
  int status = cache->engine->portfolios_change(cache, portfolios, count, removed, err);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

int cache_portfolios_store(struct cache *cache, const struct cache_portfolio *portfolios,
                           size_t count, cugen_error *err) {
  for (size_t i = 0; i < count; i++) {
    const char *name, *wrong = cache_portfolio_wrong(&portfolios[i], &name);
    if (wrong)
      return error_set(
          err, CUGEN_ERROR_CACHE, "%s: the portfolio of %s %s cannot be remembered: its %s %s",
          text_get(&cache->path), portfolios[i].config, portfolios[i].class, name, wrong);
  }
  return store_portfolios_change(cache, portfolios, count, false, err);
}

/* ---- Removing ------------------------------------------------------------------------------- */

static bool portfolios_is_meant(const struct cache_filter *filter,
                                const struct cache_portfolio *p) {
  const struct cache_key key = {
      .device = p->device, .config = p->config, .problem = p->class, .options = p->options};
  if (filter->failed || (filter->before && p->learnt_at >= filter->before)) return false;
  if (filter->origin && strcmp(filter->origin, p->origin) != 0 && !(filter->unknown && !*p->origin))
    return false;
  return cache_filter_takes(filter, &key);
}

int cache_portfolios_remove(struct cache *cache, const struct cache_filter *filter, bool really,
                            size_t *count, cugen_error *err) {
  struct cache_portfolio *all;
  size_t found, meant = 0;
  *count = 0;
  int status = cache_portfolios(cache, NULL, &all, &found, err);
  for (size_t i = 0; i < found; i++) { /* moves the selected portfolios to the front */
    if (!portfolios_is_meant(filter, &all[i])) continue;
    const struct cache_portfolio swapped = all[meant];
    all[meant++] = all[i];
    all[i] = swapped;
  }
  if (!status && really) status = store_portfolios_change(cache, all, meant, true, err);
  if (!status) *count = meant;
  cache_portfolios_free(all, found);
  return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

int cache_check_portfolios(struct cache_check *check, cugen_error *err) {
  struct portfolios all;
  int status = list(check->cache, NULL, &all, err);
  for (size_t i = 0; i < all.count; i++) {
    const struct cache_portfolio *p = &all.data[i];
    struct portfolio_body body;
    cugen_error why;
    const char *name, *wrong = cache_portfolio_wrong(p, &name);
    check->out->portfolios++;
    if (wrong)
      cache_check_add(check->wrong, "the portfolio of %s %s: %s %s", p->config, p->class, name,
                      wrong);
    if (portfolio_body_parse(p->body, &body, &why) == CUGEN_OK)
      portfolio_body_free(&body);
    else if (why.status == CUGEN_ERROR_MEMORY)
      check->wrong->failed = true;
    else
      cache_check_add(check->wrong, "the portfolio of %s %s: %s", p->config, p->class, why.message);
  }
  cache_portfolios_free(all.data, all.count);
  return status;
}
