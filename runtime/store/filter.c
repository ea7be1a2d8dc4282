/* Decides which records a filter selects; see cache.h. */
#include <string.h>

#include "base/key.h"
#include "cache.h"

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
