/* Keys of sets of records, part by part, and as one text; see cache.h and engine.h. */
#include <string.h>

#include "engine.h"

const char *const cache_key_names[CACHE_KEY_PARTS] = {"device", "config", "problem", "options"};

const char **cache_key_part(struct cache_key *key, int i) {
  const char **const parts[CACHE_KEY_PARTS] = {&key->device, &key->config, &key->problem,
                                               &key->options};
  return parts[i];
}

const char *cache_key_text(const struct cache_key *key, int i) {
  const char *const texts[CACHE_KEY_PARTS] = {key->device, key->config, key->problem, key->options};
  return texts[i];
}

void cache_key_write(const struct cache_key *key, struct text *out) {
  for (int i = 0; i < CACHE_KEY_PARTS; i++)
    text_add_n(out, cache_key_text(key, i), strlen(cache_key_text(key, i)) + 1);
}

bool cache_key_is(const struct text *written, const struct cache_key *key) {
  const char *at = text_get(written), *end = at + written->length;
  for (int i = 0; i < CACHE_KEY_PARTS; at += strlen(at) + 1, i++)
    if (at >= end || strcmp(at, cache_key_text(key, i)) != 0) return false;
  return true;
}

struct cache_key cache_key_read(const struct text *written) {
  struct cache_key key = {0};
  const char *at = text_get(written);
  for (int i = 0; i < CACHE_KEY_PARTS; at += strlen(at) + 1, i++) *cache_key_part(&key, i) = at;
  return key;
}
