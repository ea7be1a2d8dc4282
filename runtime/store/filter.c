/* Which records a filter selects; see cache.h. */
#include <string.h>

#include "cache.h"

/* Whether "M=64" is one of the words of "M=64 N=32". */
static bool filter_has_word(const char *problem, const char *word, size_t length) {
  for (const char *at = problem; *at; at += strcspn(at, " "), at += strspn(at, " "))
    if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0')) return true;
  return false;
}

static bool has_words(const char *problem, const char *words) {
  for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
    size_t length = strcspn(words, " ");
    if (!filter_has_word(problem, words, length)) return false;
    words += length;
  }
  return true;
}

/* Predictions have no way of timing. */
static bool filter_is_timed(const struct cache_key *key, enum measure_way way) {
  size_t length;
  return !device_parse(key->device).predicted && measure_way_of(key->options, &length) == way;
}

static bool is_on(const struct cache_filter *filter, const char *device) {
  if (!filter->device) return true;
  return filter->whole_device ? strcmp(device, filter->device) == 0
                              : strstr(device, filter->device) != NULL;
}

bool cache_filter_takes(const struct cache_filter *filter, const struct cache_key *key) {
  return (!filter->config || strcmp(filter->config, key->config) == 0) &&
         is_on(filter, key->device) &&
         (!filter->problem || has_words(key->problem, filter->problem)) &&
         (!filter->timed || filter_is_timed(key, filter->measure));
}
