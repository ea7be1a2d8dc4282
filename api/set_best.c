/* Finds the best variant of each set in a listing of the cache: the one that a plan would take
   among tied variants. This needs the set's config, which is opened once for all sets from the file
   that the records name. If the file or the problem no longer exists, the fastest record is kept.
   Whether the kernel has changed since the record is not checked. */
#include "set_best.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "runtime/devices.h"

struct source_config {
  char *origin, *name; /* as in the records */
  struct opened_config opened;
  bool usable;
};

void set_best_close(struct set_best *s) {
  for (size_t i = 0; i < s->count; i++) {
    opened_config_close(&s->configs[i]->opened);
    free(s->configs[i]->origin);
    free(s->configs[i]->name);
    free(s->configs[i]);
  }
  free(s->configs);
  *s = (struct set_best){0};
}

/* ---- The config of a set -------------------------------------------------------------------- */

/* Finds the config, or opens it. An origin is a real path, or the name of a config without a file.
   A config of unknown origin is searched by its name. Returns NULL if memory is out. */
static struct source_config *set_best_find_config(struct set_best *s,
                                                  const struct cache_space *space) {
  cugen_error ignored;
  for (size_t i = 0; i < s->count; i++)
    if (strcmp(s->configs[i]->origin, space->origin) == 0 &&
        strcmp(s->configs[i]->name, space->config) == 0)
      return s->configs[i];
  if (!ARRAY_ROOM(s->configs, s->count)) return NULL;
  struct source_config *config = s->configs[s->count] = calloc(1, sizeof *config);
  if (!config) return NULL;
  s->count++;
  config->origin = strdup(space->origin);
  config->name = strdup(space->config);
  if (!config->origin || !config->name) return NULL;
  const char *path = config->origin[0] == '/' ? config->origin : config->name;
  config->usable =
      opened_config_open(s->lib, path, &config->opened, &ignored) == CUGEN_OK &&
      strcmp(config->opened.config->name, config->name) == 0 &&
      (!*config->origin || strcmp(text_get(&config->opened.origin), config->origin) == 0);
  return config;
}

/* ---- The look-up of a set ------------------------------------------------------------------- */

/* Describes the device without asking a driver, unless the config needs facts that only the driver
   knows. */
static bool set_best_describe(struct lookup *l, const char *text) {
  const cugen_device_name named = device_parse(text);
  cugen_error ignored;
  l->ops = named.kind == CUGEN_DEVICE_CPU ? &cpu_device_ops : &cuda_device_ops;
  if (l->ops == &cpu_device_ops)
    return l->ops->describe(l->lib->toolkit, 0, &l->device, &ignored) == CUGEN_OK;
  text = named.predicted ? named.name : text;
  if (!api_described(l->lib, text, &l->device) || !l->device.fingerprint[0]) return false;
  return !api_check_facts(l->config, l->problem, &l->device, text, &ignored) ||
         api_prefer_present(l->lib, &l->device);
}

/* ---- The best record of a set --------------------------------------------------------------- */

/* The best record so far, which owns its strings. */
struct leader {
  struct lookup *lookup;
  struct cache_record record;
  double least; /* the least cost */
};

/* Finds the order of the record's variant; UINT64_MAX: the variant was not found. The call opens
   the space. */
static int find_order(struct lookup *l, struct cache_record *record, cugen_error *err) {
  cugen_error why;
  int status = lookup_space(l, &why);
  if (!status) status = space_find_one(l->space, record->variant, &record->order, &why);
  record->order =
      status ? UINT64_MAX : cache_record_order(record, record->order, l->config->objective);
  return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
}

static int set_best_visit(void *context, struct cache_record *record, bool *stop,
                          cugen_error *err) {
  struct leader *leader = context;
  const double cost = cache_record_cost(record, leader->lookup->config->objective);
  const bool first = !leader->record.variant;
  int status = CUGEN_OK;
  if (first) leader->least = cost;
  *stop = !cache_leads(leader->least, UINT64_MAX, cost, 0);
  if (*stop) return CUGEN_OK;
  if (!first) status = find_order(leader->lookup, &leader->record, err);
  if (!first && !status) status = find_order(leader->lookup, record, err);
  if (status || (!first && !cache_leads(leader->least, leader->record.order, cost, record->order)))
    return status;
  cache_record_free(&leader->record);
  leader->record = *record;
  record->variant = record->reason = NULL;
  return CUGEN_OK;
}

static int set_best_find_best(struct lookup *l, struct cache_space *space, cugen_error *err) {
  struct leader leader = {.lookup = l};
  struct cache_key key = lookup_measured_key(l);
  struct cache *cache;
  key.device = space->device, key.options = space->options;
  int status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_fastest(cache, &key, set_best_visit, &leader, err);
  if (!status && leader.record.variant) {
    free(space->best);
    space->best = leader.record.variant;
    leader.record.variant = NULL;
    space->seconds = leader.record.seconds;
    space->flops = leader.record.flops;
    space->bytes = leader.record.bytes;
  }
  cache_record_free(&leader.record);
  return status;
}

int set_best_find(struct set_best *s, struct cache_space *space, cugen_error *err) {
  struct problem problem;
  const struct record_options said = record_options_parse(space->options);
  bool known = false;
  if (!*space->best) return CUGEN_OK;
  struct source_config *source = set_best_find_config(s, space);
  if (!source) return error_memory(err);
  if (!source->usable) return CUGEN_OK;
  struct lookup l = {.lib = s->lib,
                     .opened = &source->opened,
                     .config = source->opened.config,
                     .origin = *space->origin ? source->origin : NULL,
                     .problem = &problem};
  int status = api_read_problem(l.config, space->problem, &problem, &known, err);
  if (status || !known) return status;
  if (set_best_describe(&l, space->device)) {
    status = lookup_set_arch(&l, said.kind == OPTIONS_MEASURED ? said.arch : l.device.arch, err);
    if (!status) status = lookup_set_problem(&l, l.problem, err);
    if (!status) status = set_best_find_best(&l, space, err);
  }
  lookup_close(&l);
  problem_free(&problem);
  return status;
}
