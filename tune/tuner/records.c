/* The records that a run works with; see records.h. */
#include "records.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/system.h"

/* ---- What is known -------------------------------------------------------------------------- */

static int run_records_by_variant(const void *a, const void *b) {
  return strcmp(((const struct cache_record *)a)->variant,
                ((const struct cache_record *)b)->variant);
}

int run_records_load(struct run_records *r, cugen_error *err) {
  int status =
      cache_load(r->run->target->cache, &r->run->target->key, &r->known, &r->known_count, err);
  if (r->known_count) qsort(r->known, r->known_count, sizeof *r->known, run_records_by_variant);
  r->known_capacity = r->known_count;
  return status;
}

/* Returns the place of the variant's first known record, or where a first record belongs. */
static size_t place_of(const struct run_records *r, const char *variant) {
  size_t low = 0, high = r->known_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(r->known[middle].variant, variant) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_record_of(const struct run_records *r, size_t at, const char *variant) {
  return at < r->known_count && strcmp(r->known[at].variant, variant) == 0;
}

int run_records_learn(struct run_records *r, struct cache_record *record, bool *added,
                      cugen_error *err) {
  const size_t at = place_of(r, record->variant);
  for (size_t i = at; is_record_of(r, i, record->variant); i++)
    if (strcmp(r->known[i].hash.hex, record->hash.hex) == 0 &&
        r->known[i].measured_at == record->measured_at)
      return CUGEN_OK;
  struct cache_record *known =
      array_reserve(r->known, &r->known_capacity, r->known_count, sizeof *known);
  if (!known) return error_memory(err);
  r->known = known;
  memmove(&known[at + 1], &known[at], (r->known_count++ - at) * sizeof *known);
  known[at] = *record;
  record->variant = record->reason = NULL;
  *added = true;
  return CUGEN_OK;
}

/* Returns true if the variant or its compile ran into a timeout, and the timeout is longer now. */
static bool deserves_more(const cugen_tune_options *options, const struct cache_record *record) {
  if (record->outcome == CUGEN_OUTCOME_COMPILE)
    return record->compile_late && options->compile_timeout > record->compile_seconds;
  return record->outcome == CUGEN_OUTCOME_TIMEOUT && record->measure_seconds > 0 &&
         options->variant_timeout > record->measure_seconds;
}

/* Returns a record that shows that the variant is wrong, or the known record of exactly this kernel
   unless it deserves more time, or NULL. */
static const struct cache_record *find_current(const struct run_records *r,
                                               const struct kernel_spec *spec) {
  const struct tune_target *target = r->run->target;
  const struct cache_record *failed = NULL;
  cugen_error ignored;
  /* A record that shows that the variant is wrong counts more than any prediction. */
  if (target->find_failure &&
      target->find_failure(target->failures, spec->variant, &failed, &ignored) == CUGEN_OK &&
      failed && cache_record_is_refuted(failed))
    return failed;
  for (size_t i = place_of(r, spec->variant); is_record_of(r, i, spec->variant); i++)
    if (cache_record_is_of(&r->known[i], spec, target->config->objective, target->predicted) &&
        !deserves_more(r->run->options, &r->known[i]))
      return &r->known[i];
  return NULL;
}

/* Returns true if the record does not say whether the variant has the outputs that are asked for. A
   variant whose outputs vary cannot have them. */
static bool is_to_compare(const struct tuner_run *run, const struct cache_record *record) {
  return run->target->outputs && record->outcome == CUGEN_OUTCOME_OK && !record->outputs.varies &&
         !cache_record_knows_outputs(record, run->options->seed);
}

const struct cache_record *run_records_find(const struct run_records *r,
                                            const struct kernel_spec *spec) {
  const struct cache_record *known = find_current(r, spec);
  return known && is_to_compare(r->run, known) ? NULL : known;
}

const struct cache_record *run_records_timed(const struct run_records *r,
                                             const struct kernel_spec *spec) {
  const struct cache_record *known = r->run->options->again ? NULL : find_current(r, spec);
  return known && is_to_compare(r->run, known) ? known : NULL;
}

int run_records_open(const struct run_records *r, const struct cache_record *record,
                     struct candidate **out, cugen_error *err) {
  const bool known = r->known_count && record >= r->known && record < r->known + r->known_count;
  int status = run_open(r->run, record->variant, out, err);
  if (!*out || !known || run_records_find(r, &(*out)->real) == record) return status;
  candidate_close(&r->run->bench, *out);
  *out = NULL;
  return CUGEN_OK;
}

int run_records_rebuild(const struct run_records *r, const struct cache_record *record,
                        struct candidate **out, cugen_error *err) {
  int status = run_records_open(r, record, out, err);
  if (status || !*out) return status;
  status = candidate_build(&r->run->bench, *out, err);
  if (!status) candidate_hasten(&r->run->bench, *out);
  return status;
}

/* ---- Completing a new record ---------------------------------------------------------------- */

static void stamp(const struct tuner_run *run, struct cache_record *record) {
  record->run_began = run->began_at;
  record->run_seconds = clock_seconds() - run->begin;
}

static void keep_energy(const struct cache_record *from, struct cache_record *to) {
  if (to->energy > 0 || to->outcome != CUGEN_OUTCOME_OK) return;
  to->energy = from->energy;
  to->energy_resolution = from->energy_resolution;
}

void run_records_complete(const struct run_records *r, const struct kernel_spec *spec,
                          struct cache_record *record) {
  const struct cache_record *current = find_current(r, spec);
  const bool compared = current && is_to_compare(r->run, current);
  stamp(r->run, record);
  if (!current) return;
  /* Counting needs PTX, which an image from the cache lacks. */
  if (!compared && record->requested <= 0) record->requested = current->requested;
  if (!compared) keep_energy(current, record);
  cache_record_keep_outputs(current, record);
  if (!compared || r->run->options->again || record->outcome != CUGEN_OUTCOME_OK) return;
  /* Only outputs were compared: the known record keeps its times. */
  struct cache_record merged = *current;
  merged.variant = record->variant, merged.reason = record->reason;
  merged.elsewhere = false, merged.lacks = 0;
  merged.hash = record->hash, merged.proof_hash = record->proof_hash;
  merged.outputs = record->outputs;
  *record = merged;
}

/* ---- Storing -------------------------------------------------------------------------------- */

int run_records_store_held(struct run_records *r, cugen_error *err) {
  const struct tune_target *target = r->run->target;
  int status = CUGEN_OK;
  r->sound = true;
  for (size_t i = 0; i < r->held && !status; i++)
    status = cache_store(target->cache, &target->key, &r->own[i], err);
  r->held = 0;
  return status;
}

/* Returns the index in the space of the variant with this number among those that the options ask
   for, which must be more than `number`. */
static uint64_t index_of_wanted(const struct tuner_run *run, uint64_t number) {
  size_t count;
  const struct space_implementation *one = space_implementations(run->target->space, &count);
  while (!run_wants(run, one) || number >= one->valid) {
    if (run_wants(run, one)) number -= one->valid;
    one++;
  }
  return one->first + number;
}

/* Sets *everywhere to whether every variant that the options ask for is faulty. Of more than
   SAMPLES variants, SAMPLES are tested. Nothing is compiled or run. */
static int test_fault(struct tuner_run *run, bool *everywhere, cugen_error *err) {
  enum { SAMPLES = 64 };
  size_t count;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  uint64_t variants = 0;
  for (size_t i = 0; i < count; i++)
    if (run_wants(run, &all[i])) variants += all[i].valid;
  const uint64_t samples = variants < SAMPLES ? variants : SAMPLES;
  int status = CUGEN_OK;
  *everywhere = true;
  for (uint64_t k = 0; k < samples && *everywhere && !status; k++) {
    struct candidate *c;
    const uint64_t index = index_of_wanted(run, run_sample(variants, samples, k));
    status = candidate_open(&run->bench, index, &c, err);
    *everywhere = !status && c->faulty;
    candidate_close(&run->bench, c);
  }
  return status;
}

int run_records_store(struct run_records *r, const struct candidate *c,
                      const struct cache_record *record, cugen_error *err) {
  const struct tuner_run *run = r->run;
  bool everywhere = false;
  if (!c->faulty || r->sound) {
    int status = run_records_store_held(r, err);
    return status ? status : cache_store(run->target->cache, &run->target->key, record, err);
  }
  if (!r->held++) r->fault = c->refused;
  /* Whether all variants have the fault is tested each time r->held has doubled. */
  int status = r->held & (r->held - 1) ? CUGEN_OK : test_fault(r->run, &everywhere, err);
  if (everywhere || status) r->held--; /* this record will not be kept */
  return everywhere && !status ? error_copy(err, &r->fault) : status;
}

int run_records_store_again(struct run_records *r, const struct cache_record *before,
                            struct cache_record *record, const struct candidate *c,
                            cugen_error *err) {
  record->error = before->error;
  cache_record_keep_outputs(before, record);
  record->requested = before->requested;
  keep_energy(before, record);
  record->compile_seconds = before->compile_seconds;
  record->measure_seconds += before->measure_seconds;
  stamp(r->run, record);
  int status = cache_store(r->run->target->cache, &r->run->target->key, record, err);
  return status ? status : candidate_keep_image(&r->run->bench, c, err);
}

/* ---- Records of this run -------------------------------------------------------------------- */

int run_records_keep(struct run_records *r, struct cache_record *record, struct hash image,
                     cugen_error *err) {
  if (!ARRAY_ROOM(r->own, r->count) || !ARRAY_ROOM(r->images, r->count)) return error_memory(err);
  r->images[r->count] = image;
  r->own[r->count++] = *record;
  return CUGEN_OK;
}

bool run_records_has(const struct run_records *r, const char *variant) {
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->own[i].variant, variant) == 0) return true;
  return false;
}

const struct cache_record *run_records_equal(const struct run_records *r, struct hash image) {
  for (size_t i = 0; i < r->count && image.hex[0]; i++)
    if (strcmp(r->images[i].hex, image.hex) == 0) return &r->own[i];
  return NULL;
}

void run_records_forget(struct run_records *r, const char *variant) {
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->own[i].variant, variant) == 0) r->images[i] = (struct hash){{0}};
}

int run_records_copy(const struct cache_record *from, const struct kernel_spec *spec,
                     struct cache_record *out, cugen_error *err) {
  *out = *from;
  if (spec) cache_record_take_hashes(out, spec);
  out->variant = strdup(spec ? spec->variant : from->variant);
  out->reason = strdup(from->reason);
  if (out->variant && out->reason) return CUGEN_OK;
  cache_record_free(out);
  return error_memory(err);
}

void run_records_free(struct run_records *r) {
  for (size_t i = 0; i < r->known_count; i++) cache_record_free(&r->known[i]);
  for (size_t i = 0; i < r->count; i++) cache_record_free(&r->own[i]);
  free(r->known);
  free(r->own);
  free(r->images);
}
