/* Chooses a variant for a GPU without records from those of other GPUs: the best of the same
   problem on a GPU of the same model (or a part of one, with fewer multiprocessors), else on a GPU
   of the same compute capability, the most similar first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "priors.h"

/* A GPU that has correct records of the problem. */
struct other {
  struct device_description device;
  char *options;
  struct record_options read;
  bool same_model;
  double distance; /* api_gpu_distance to the look-up's GPU */
};

struct others {
  const struct lookup *lookup;
  struct other *all;
  size_t count;
};

static double bandwidth(const struct device_facts *facts) {
  return (double)facts->memory_clock_khz * (double)facts->memory_bus_bits;
}

static double other_gpu_ratio(double a, double b) {
  return a > 0 && b > 0 ? fmax(a, b) / fmin(a, b) : 1;
}

double api_gpu_distance(const struct device_facts *a, const struct device_facts *b) {
  return fmax(other_gpu_ratio((double)a->sm_count, (double)b->sm_count),
              other_gpu_ratio(bandwidth(a), bandwidth(b)));
}

/* Adds the device if its records can serve: timed in the look-up's way, on another GPU of the same
   compute capability. */
static int other_gpu_visit(void *context, const char *device, const char *options,
                           cugen_error *err) {
  struct others *others = context;
  const struct lookup *l = others->lookup;
  const struct device_description *own = &l->device;
  struct other other = {.read = record_options_parse(options)};
  if (strcmp(device, own->fingerprint) == 0 || other.read.kind != OPTIONS_MEASURED ||
      other.read.measure != l->measure)
    return CUGEN_OK;
  if (!api_described(l->lib, device, &other.device) || !other.device.fingerprint[0] ||
      other.device.facts.compute_capability != own->facts.compute_capability)
    return CUGEN_OK;
  other.same_model = strcmp(other.device.name, own->name) == 0;
  other.distance = api_gpu_distance(&other.device.facts, &own->facts);
  if (!ARRAY_ROOM(others->all, others->count)) return error_memory(err);
  other.options = strdup(options);
  if (!other.options) return error_memory(err);
  others->all[others->count++] = other;
  return CUGEN_OK;
}

/* Orders by model, then by distance, then by text. */
static int other_gpu_compare(const void *left, const void *right) {
  const struct other *a = left, *b = right;
  if (a->same_model != b->same_model) return a->same_model ? -1 : 1;
  if (a->distance < b->distance || a->distance > b->distance)
    return a->distance < b->distance ? -1 : 1;
  const int devices = strcmp(a->device.fingerprint, b->device.fingerprint);
  return devices ? devices : strcmp(a->options, b->options);
}

/* Opens a look-up for the other GPU, to judge that GPU's records, which are under *key. Facts that
   are not known of the other GPU are those of the look-up's own. Close *out also after a
   failure. */
static int open_other(const struct lookup *l, const struct other *other, struct lookup *out,
                      struct cache_key *key, cugen_error *err) {
  int status = lookup_for_problem(l, l->problem, out, err);
  if (!status) {
    if (other->device.id[0]) out->device = other->device;
    out->device.facts.sm_count = other->device.facts.sm_count;
    out->described = true;
    status = lookup_set_arch(out, other->read.arch, err);
  }
  *key = lookup_measured_key(out);
  key->device = other->device.fingerprint;
  key->options = other->options;
  return status;
}

static int try_other(struct lookup *l, const struct other *other, struct failures *failures,
                     struct selection *out, bool *found, cugen_error *err) {
  struct lookup there;
  struct cache_key key;
  int status = open_other(l, other, &there, &key, err);
  if (!status) status = api_best_under(&there, &key, false, l->space, failures, &out->best, err);
  *found = !status && out->best.found;
  if (*found) {
    out->how = CUGEN_PLAN_OTHER_GPU;
    out->index = lookup_lent(l, out->best.index);
    out->same_model = other->same_model;
    text_add(&out->problem, text_get(&l->problem_text));
    text_add(&out->other, other->device.fingerprint);
  }
  lookup_close(&there);
  return status;
}

static void free_others(struct others *others) {
  for (size_t i = 0; i < others->count; i++) free(others->all[i].options);
  free(others->all);
}

/* Finds the other GPUs, the most similar first. Free *out also after a failure. */
static int find_others(const struct lookup *l, struct cache **cache, struct others *out,
                       cugen_error *err) {
  *out = (struct others){.lookup = l};
  if (!l->device.facts.is_gpu || !l->device.fingerprint[0]) return CUGEN_OK;
  int status = api_cache_to_read(l->lib, cache, err);
  const struct cache_key key = lookup_measured_key(l);
  if (!status) status = cache_devices(*cache, &key, other_gpu_visit, out, err);
  if (out->count) qsort(out->all, out->count, sizeof *out->all, other_gpu_compare);
  return status;
}

int api_select_other_gpu(struct lookup *l, struct failures *failures, struct selection *out,
                         bool *found, cugen_error *err) {
  struct others others;
  struct cache *cache;
  int status = find_others(l, &cache, &others, err);
  for (size_t i = 0; i < others.count && !status && !*found; i++)
    status = try_other(l, &others.all[i], failures, out, found, err);
  free_others(&others);
  return status;
}

/* ---- Leaders for tuning --------------------------------------------------------------------- */

static int take_other(struct lookup *l, struct cache *cache, const struct other *other,
                      struct priors *out, cugen_error *err) {
  struct lookup there;
  struct cache_key key;
  const size_t before = out->count;
  int status = open_other(l, other, &there, &key, err);
  if (!status) status = cache_fastest(cache, &key, priors_take, out, err);
  if (out->count > before)
    text_addf(&out->gpus, "%s%s", out->gpus.length ? " or " : "", other->device.name);
  lookup_close(&there);
  return status;
}

int api_other_gpu_leaders(struct lookup *l, struct priors *out, cugen_error *err) {
  struct others others;
  struct cache *cache;
  int status = find_others(l, &cache, &others, err);
  for (size_t i = 0; i < others.count && !status && !priors_full(out); i++)
    status = take_other(l, cache, &others.all[i], out, err);
  free_others(&others);
  return status;
}
