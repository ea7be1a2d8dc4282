/* Keys of sets of records: their parts, their form as one text, the checks of keys and entries on
   their way into a cache and out of it (the gate in record.h; record.c checks the records
   themselves), and which keys a filter selects; see cache.h and engine.h. */
#include <string.h>

#include "base/error.h"
#include "base/key.h"
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

/* ---- The gate ------------------------------------------------------------------------------- */

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

/* ---- Filters -------------------------------------------------------------------------------- */

/* Returns whether the problem has all of these settings. */
static bool filter_has_settings(const char *problem, const char *settings) {
  struct setting one;
  while (setting_next(&settings, &one))
    if (!settings_have(problem, &one)) return false;
  return true;
}

/* Predictions are not timed in any way, and comparisons with a baseline do not count as timed. */
static bool filter_is_timed(const struct cache_key *key, enum measure_way way) {
  const struct record_options options = record_options_parse(key->options);
  return !device_parse(key->device).predicted && options.kind != OPTIONS_BASELINE &&
         options.measure == way;
}

static bool is_on(const struct cache_filter *filter, const char *device) {
  if (!filter->device) return true;
  return filter->whole_device ? strcmp(device, filter->device) == 0
                              : strstr(device, filter->device) != NULL;
}

bool cache_filter_takes(const struct cache_filter *filter, const struct cache_key *key) {
  return (!filter->config || strcmp(filter->config, key->config) == 0) &&
         is_on(filter, key->device) &&
         (!filter->problem || filter_has_settings(key->problem, filter->problem)) &&
         (!filter->timed || filter_is_timed(key, filter->measure));
}
