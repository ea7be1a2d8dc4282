/* The checks of entries on their way into a cache and out of it; see the gate in record.h.
   record.c checks the records themselves. */
#include "base/error.h"
#include "engine.h"

const char *cache_key_wrong(const struct cache_key *key, const char **name) {
  enum { PROBLEM = 2 }; /* a kernel may have no parameters */
  for (int i = 0; i < CACHE_KEY_PARTS; i++) {
    const char *text = cache_key_text(key, i), *wrong = cache_text_wrong(text, "");
    *name = cache_key_names[i];
    if (wrong) return wrong;
    if (!*text && i != PROBLEM) return "is empty";
  }
  return NULL;
}

const char *cache_entry_wrong(const struct cache_key *key, const struct cache_record *record,
                              const char **name) {
  const char *wrong = cache_key_wrong(key, name);
  if (!wrong && record->wrong) *name = cache_columns[record->wrong_column].name;
  return wrong ? wrong : record->wrong;
}

int cache_check_entry(const struct cache *cache, const struct cache_key *key,
                      const struct cache_record *record, cugen_error *err) {
  const char *name, *wrong = cache_entry_wrong(key, record, &name);
  if (!wrong) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_CACHE,
                   "%s: a measurement of %s %s, '%s', cannot be remembered: its %s %s",
                   text_get(&cache->path), key->config, key->problem, record->variant, name, wrong);
}
