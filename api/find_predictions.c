/* Decides which predictions a look-up finds: those made from the description of the look-up's
   device or, for a GPU known only by its text, the latest. */
#include <string.h>

#include "lookup.h"

/* Returns the latest options of predictions with the key's device, config and problem that differ
   from the key's options only in the figures; NULL: there are none. A key with an empty problem
   means any problem. */
static const char *find_figures(const struct cache_key *key, const struct cache_space *spaces,
                                size_t count) {
  const struct cache_space *found = NULL;
  const struct record_options ours = record_options_parse(key->options);
  for (size_t i = 0; i < count; i++) {
    const struct cache_space *s = &spaces[i];
    const struct record_options theirs = record_options_parse(s->options);
    uint64_t lacks;
    bool meant = !strcmp(s->device, key->device) && !strcmp(s->config, key->config) &&
                 (!*key->problem || cache_lacks(key, s->problem, &lacks)) &&
                 theirs.kind == OPTIONS_PREDICTED && theirs.model == ours.model &&
                 !strcmp(theirs.arch, ours.arch);
    if (meant && s->records && (!found || s->measured_at > found->measured_at)) found = s;
  }
  return found ? found->options : NULL;
}

/* Takes the latest predictions, from whatever description, because the figures of a GPU without a
   description are unknown. */
static int take_latest(const struct lookup *l, struct prediction_key *out, cugen_error *err) {
  const struct cache_key key = lookup_predicted_key(l, out);
  struct cache_space *spaces;
  struct cache *cache;
  size_t count;
  int status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_spaces(cache, &spaces, &count, err);
  if (status) return status;
  const char *options = find_figures(&key, spaces, count);
  if (options) {
    text_restart(&out->options);
    text_add(&out->options, options);
    if (out->options.failed) status = error_memory(err);
  }
  cache_spaces_free(spaces, count);
  return status;
}

int api_find_predictions(const struct lookup *l, struct prediction_key *out, cugen_error *err) {
  struct device_description known;
  const char *arch = l->predicted && !l->lib->arch ? l->device.arch : l->arch;
  int status = api_key_predictions(l->lib, &l->device, arch, out, err);
  const bool described = device_parse(l->device.id).kind == CUGEN_DEVICE_MODEL ||
                         (api_described(l->lib, l->device.fingerprint, &known) && known.id[0]);
  return status || described ? status : take_latest(l, out, err);
}
