/* The records that a run works with; see tuner_run.h. */
#include "tuner_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/system.h"

double tuner_cost(const struct tuner *t, const struct cache_record *record) {
  return cache_record_cost(record, t->target->config->objective);
}

bool tuner_cost_is_known(const struct tuner *t, const struct cache_record *record) {
  return record->energy > 0 || !objective_needs_energy(t->target->config->objective);
}

bool tuner_is_wanted(const struct tuner *t, const struct cache_record *record) {
  return record->outcome == CUGEN_OUTCOME_OK &&
         (!t->target->outputs || cache_record_gave(record, t->target->outputs));
}

double tuner_search_cost(const struct tuner *t, const struct cache_record *record) {
  const struct objective *objective = t->target->config->objective;
  return objective_needs_energy(objective)
             ? objective_cost_of_time(objective, record->seconds, record->flops, record->bytes)
             : tuner_cost(t, record);
}

/* ---- What is remembered --------------------------------------------------------------------- */

static int tuner_records_by_variant(const void *a, const void *b) {
  return strcmp(((const struct cache_record *)a)->variant,
                ((const struct cache_record *)b)->variant);
}

int tuner_load_known(struct tuner *t, cugen_error *err) {
  int status = cache_load(t->target->cache, &t->target->key, &t->known, &t->known_count, err);
  if (t->known_count) qsort(t->known, t->known_count, sizeof *t->known, tuner_records_by_variant);
  return status;
}

int tuner_add_known(struct tuner *t, struct cache_record *record, bool *added, cugen_error *err) {
  size_t at = 0, high = t->known_count;
  while (at < high) {
    const size_t middle = at + (high - at) / 2;
    if (strcmp(t->known[middle].variant, record->variant) < 0)
      at = middle + 1;
    else
      high = middle;
  }
  for (size_t i = at; i < t->known_count && strcmp(t->known[i].variant, record->variant) == 0; i++)
    if (strcmp(t->known[i].hash.hex, record->hash.hex) == 0 &&
        t->known[i].measured_at == record->measured_at)
      return CUGEN_OK;
  /* Capacity as loaded from the cache. */
  if (t->known_capacity < t->known_count) t->known_capacity = t->known_count;
  struct cache_record *known =
      array_reserve(t->known, &t->known_capacity, t->known_count, sizeof *known);
  if (!known) return error_memory(err);
  t->known = known;
  memmove(&known[at + 1], &known[at], (t->known_count++ - at) * sizeof *known);
  known[at] = *record;
  record->variant = record->reason = NULL;
  *added = true;
  return CUGEN_OK;
}

/* Returns true if the variant or its compile ran into a timeout, and the timeout is longer now. */
static bool deserves_more(const struct tuner *t, const struct cache_record *record) {
  if (record->outcome == CUGEN_OUTCOME_COMPILE)
    return record->compile_late && t->options->compile_timeout > record->compile_seconds;
  return record->outcome == CUGEN_OUTCOME_TIMEOUT && record->measure_seconds > 0 &&
         t->options->variant_timeout > record->measure_seconds;
}

/* Returns a record that shows that the variant is wrong, which counts more than any prediction. */
static const struct cache_record *find_wrong(const struct tuner *t, const char *variant) {
  const struct cache_record *failed = NULL;
  cugen_error ignored;
  if (!t->target->find_failure ||
      t->target->find_failure(t->target->failures, variant, &failed, &ignored))
    return NULL;
  return failed && cache_record_is_refuted(failed) ? failed : NULL;
}

/* Config files with a kernel of the same name may each have a record of this variant. */
const struct cache_record *tuner_find_current(const struct tuner *t,
                                              const struct kernel_spec *spec) {
  const struct cache_record *wrong = find_wrong(t, spec->variant);
  if (wrong) return wrong;
  size_t low = 0, high = t->known_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(t->known[middle].variant, spec->variant) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < t->known_count && strcmp(t->known[low].variant, spec->variant) == 0; low++)
    if (cache_record_is_of(&t->known[low], spec, t->target->config->objective,
                           t->target->predicted) &&
        !deserves_more(t, &t->known[low]))
      return &t->known[low];
  return NULL;
}

/* Returns true if the record does not say whether the variant has the outputs that are asked for. A
   variant whose outputs vary has none. */
static bool is_to_compare(const struct tuner *t, const struct cache_record *record) {
  return t->target->outputs && record->outcome == CUGEN_OUTCOME_OK && !record->outputs.varies &&
         !cache_record_knows_outputs(record, t->options->seed);
}

const struct cache_record *tuner_find_known(const struct tuner *t, const struct kernel_spec *spec) {
  const struct cache_record *known = tuner_find_current(t, spec);
  return known && is_to_compare(t, known) ? NULL : known;
}

const struct cache_record *tuner_find_timed(const struct tuner *t, const struct kernel_spec *spec) {
  const struct cache_record *known = t->options->again ? NULL : tuner_find_current(t, spec);
  return known && is_to_compare(t, known) ? known : NULL;
}

void tuner_keep_times(const struct cache_record *timed, struct cache_record *record) {
  struct cache_record merged = *timed;
  if (record->outcome != CUGEN_OUTCOME_OK) return;
  merged.variant = record->variant, merged.reason = record->reason;
  merged.elsewhere = false, merged.lacks = 0;
  merged.hash = record->hash, merged.proof_hash = record->proof_hash;
  merged.outputs = record->outputs;
  *record = merged;
}

int tuner_open_again(struct tuner *t, const struct cache_record *record, struct candidate **out,
                     cugen_error *err) {
  const bool known = record >= t->known && record < t->known + t->known_count;
  uint64_t index;
  *out = NULL;
  if (!space_look_up(t->target->space, record->variant, &index) || !tuner_wants_index(t, index))
    return CUGEN_OK;
  int status = candidate_open(&t->bench, index, out, err);
  if (status || !known || tuner_find_known(t, &(*out)->real) == record) return status;
  candidate_close(&t->bench, *out);
  *out = NULL;
  return CUGEN_OK;
}

/* ---- Records of this run -------------------------------------------------------------------- */

void tuner_stamp(const struct tuner *t, struct cache_record *record) {
  record->run_began = t->began_at;
  record->run_seconds = clock_seconds() - t->begin;
}

static int grow_records(struct tuner *t, cugen_error *err) {
  size_t capacity = t->record_capacity ? 2 * t->record_capacity : 64;
  struct cache_record *records = realloc(t->records, capacity * sizeof *records);
  if (!records) return error_memory(err);
  t->records = records;
  struct hash *images = realloc(t->images, capacity * sizeof *images);
  if (!images) return error_memory(err);
  t->images = images;
  t->record_capacity = capacity;
  return CUGEN_OK;
}

int tuner_keep_record(struct tuner *t, struct cache_record *record, struct hash image,
                      cugen_error *err) {
  int status = t->record_count == t->record_capacity ? grow_records(t, err) : CUGEN_OK;
  if (status) return status;
  t->images[t->record_count] = image;
  t->records[t->record_count++] = *record;
  return CUGEN_OK;
}

bool tuner_has_record(const struct tuner *t, const char *variant) {
  for (size_t i = 0; i < t->record_count; i++)
    if (strcmp(t->records[i].variant, variant) == 0) return true;
  return false;
}

const struct cache_record *tuner_find_equal(const struct tuner *t, struct hash image) {
  for (size_t i = 0; i < t->record_count && image.hex[0]; i++)
    if (strcmp(t->images[i].hex, image.hex) == 0) return &t->records[i];
  return NULL;
}

void tuner_keep_energy(const struct cache_record *from, struct cache_record *to) {
  if (to->energy > 0 || to->outcome != CUGEN_OUTCOME_OK) return;
  to->energy = from->energy;
  to->energy_resolution = from->energy_resolution;
}

int tuner_copy_record(const struct cache_record *from, const struct kernel_spec *spec,
                      struct cache_record *out, cugen_error *err) {
  *out = *from;
  cache_record_take_hashes(out, spec);
  out->variant = strdup(spec->variant);
  out->reason = strdup(from->reason);
  if (out->variant && out->reason) return CUGEN_OK;
  cache_record_free(out);
  return error_memory(err);
}

static void tuner_records_free_records(struct cache_record *records, size_t count) {
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
}

void tuner_free_records(struct tuner *t) {
  tuner_records_free_records(t->known, t->known_count);
  tuner_records_free_records(t->records, t->record_count);
  free(t->images);
}
