/* The checks of entries on their way into a cache and out of it; see the gate in record.h.
   record.c checks the records themselves. */
#include "base/error.h"
#include "engine.h"

const char *cache_key_wrong(const struct cache_key *key, const char **name) {
  const struct {
    const char *name, *text;
  } parts[] = {{"device", key->device},
               {"config", key->config},
               {"problem", key->problem},
               {"options", key->options}};
  enum { PROBLEM = 2 };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *wrong = cache_text_wrong(parts[i].text, "");
    *name = parts[i].name;
    if (wrong) return wrong;
    if (!*parts[i].text && i != PROBLEM) return "is empty"; /* a kernel may have no parameters */
  }
  return NULL;
}

bool cache_entry_is_sound(const struct cache_entry *entry) {
  const char *name;
  return !entry->record.wrong && !cache_key_wrong(&entry->key, &name);
}

int cache_check_entry(const struct cache *cache, const struct cache_key *key,
                      const struct cache_record *record, cugen_error *err) {
  const char *name, *wrong = cache_key_wrong(key, &name);
  if (!wrong) wrong = record->wrong, name = cache_columns[record->wrong_column].name;
  if (!wrong) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_CACHE,
                   "%s: a measurement of %s %s, '%s', cannot be remembered: its %s %s",
                   text_get(&cache->path), key->config, key->problem, record->variant, name, wrong);
}
