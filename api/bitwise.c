/* Restricts tuning and plans to variants that give the same bits as a named variant.

   The record of a correct variant has a digest of its outputs' bits, if these could be read
   (tune/data/dataset.h). Equal digests mean equal outputs, so variants need not be compared in
   pairs. Tuning runs the named variant first and then accepts only variants with its digest; a plan
   looks for the digest in the records.

   Invariants:
   - Apart from the named variant, only variants recorded as equal for this problem are chosen.
   - A named variant whose launches give different bits is refused. */
#include "bitwise.h"

#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "records.h"
#include "tune/trial.h"

#define VARIES_TEXT                                                                                \
  "its results differ from launch to launch (atomics, or a race), so no variant can be equal to "  \
  "it; name another one"

/* ---- Tuning --------------------------------------------------------------------------------- */

/* Runs the variant as a tuning run does, because the record is stored. */
static int run_named(const cugen_kernel *k, const cugen_tune_options *options,
                     const struct tune_target *target, uint64_t index, struct cache_record *out,
                     cugen_error *err) {
  static const double usual = 10;
  const double timeout = options->variant_timeout > 0 ? options->variant_timeout : usual;
  struct trial_watch run = {.progress = {.valid = space_valid(k->lookup.space),
                                         .remaining = -1,
                                         .problem = text_get(&k->lookup.problem_text),
                                         .problems = 1},
                            .callback = options->progress,
                            .context = options->context,
                            .begin = clock_seconds()};
  const struct measure_options measure = {.seconds = 0.14,
                                          .samples = target->device->facts.is_gpu ? 11 : 3,
                                          .way = target->measure,
                                          .load = measure_load_limit(timeout)};
  const struct trial_options trial = {.seed = options->seed,
                                      .compile_timeout = options->compile_timeout,
                                      .interrupted = trial_poll,
                                      .context = &run};
  int status = trial_open(target, &trial, &run.trial, err);
  if (!status) status = trial_run(run.trial, index, timeout, &measure, out, err);
  trial_close(run.trial);
  return status;
}

static int check_named(const struct cache_record *record, cugen_error *err) {
  if (record->outcome != CUGEN_OUTCOME_OK)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_tune_options.bitwise '%s': it is not correct, so no variant can be "
                     "compared with it: %s: %s",
                     record->variant, outcome_text((int)record->outcome), record->reason);
  if (record->outputs.known && !record->outputs.varies) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE, "cugen_tune_options.bitwise '%s': %s", record->variant,
                   record->outputs.known ? VARIES_TEXT : "what it gives could not be read");
}

int bitwise_begin(cugen_kernel *k, const cugen_tune_options *options, struct tune_target *target,
                  cugen_error *err) {
  struct cache_record record;
  uint64_t index = 0;
  if (k->lookup.predicted)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_tune_options.bitwise: %s is described and not here: no variant runs on "
                     "it, so that there are no bits to compare",
                     k->lookup.device.name);
  int status = api_find_variant(k, options->bitwise, &index, err);
  if (status) return error_prefix(err, "cugen_tune_options.bitwise"), status;
  status = run_named(k, options, target, index, &record, err);
  if (status) return status;

  /* A better remembered time is kept. If the remembered outputs have other bits, the record becomes
     one of varying outputs, and the variant is refused. */
  const struct cache_record *known = api_known_record(k, &record);
  if (known) cache_record_keep_outputs(known, &record);
  const bool same = known && known->outcome == record.outcome &&
                    !memcmp(&known->outputs, &record.outputs, sizeof record.outputs);
  if (!same) status = cache_store(target->cache, &target->key, &record, err);

  if (!status) status = check_named(&record, err);
  if (!status) {
    text_add(&k->equal_to, record.variant);
    k->outputs = record.outputs;
    target->outputs = &k->outputs;
    if (!same) target->ran = text_get(&k->equal_to);
    if (k->equal_to.failed) status = error_memory(err);
  }
  cache_record_free(&record);
  api_forget_records(k);
  return status;
}

/* ---- Plans ---------------------------------------------------------------------------------- */

/* Fails, with the recorded reason, if the variant with its present source is recorded to fail on
   this device. */
static int check_not_failed(struct lookup *l, const char *variant, cugen_error *err) {
  struct failures *failures = NULL;
  const struct cache_record *failed = NULL;
  int status = failures_open(l, &failures, err);
  if (!status) status = failures_find(failures, variant, &failed, err);
  if (!status && failed)
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "cugen_plan_options.bitwise '%s': for this problem it is recorded to fail: "
                       "%s: %s; name another one, or tune again (cugen_tune_options.again)",
                       variant, outcome_text((int)failed->outcome), failed->reason);
  failures_close(failures);
  return status;
}

int bitwise_select(cugen_kernel *k, const char *name, struct selection *out, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct best_record named = {0};
  const char *variant = NULL;
  uint64_t index;
  *out = (struct selection){0};
  int status = api_find_variant(k, name, &index, err);
  if (status) return error_prefix(err, "cugen_plan_options.bitwise"), status;
  status = api_variant_text(k, index, &variant, err);
  if (!status) status = lookup_expander(l, err);
  const struct cache_key key = lookup_measured_key(l);
  if (!status) status = api_best_giving(l, &key, variant, NULL, &named, err);
  if (!status && !(named.found && named.record.outputs.known)) {
    /* the outputs of the named variant are not known, so the plan uses this variant itself */
    out->how = CUGEN_PLAN_DEFAULT;
    out->index = index;
    out->named = true;
  } else if (!status && named.record.outputs.varies) {
    status = error_set(err, CUGEN_ERROR_USAGE, "cugen_plan_options.bitwise '%s': " VARIES_TEXT,
                       named.record.variant);
  } else if (!status) {
    status = api_best_giving(l, &key, NULL, &named.record.outputs, &out->best, err);
    out->how = CUGEN_PLAN_EXACT;
    out->index = out->best.index;
    text_add(&out->problem, text_get(&l->problem_text));
    if (!status && out->problem.failed) status = error_memory(err);
  }
  if (!status && !named.found) status = check_not_failed(l, variant, err);
  api_best_free(&named);
  return status;
}
