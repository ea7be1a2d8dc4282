/* The variants that are known to fail. A variant that failed for one problem, other than at its
   launch, is left out for all problems, because its code may serve all. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"

/* A problem of a device, and the failures that are remembered there. */
struct failing_place {
  struct problem problem;
  struct lookup lookup;
  struct failures *failures;
};

void export_failing_close(struct export_failing *failing) {
  for (size_t i = 0; i < failing->count; i++) {
    failures_close(failing->places[i]->failures);
    lookup_close(&failing->places[i]->lookup);
    problem_free(&failing->places[i]->problem);
    free(failing->places[i]);
  }
  free(failing->places);
  *failing = (struct export_failing){0};
}

bool export_stands_for_others(const struct export_device *device) {
  return device->ptx || device->anonymous;
}

/* Loads the failures of a problem. A problem that the config does not have any more is left out. */
static int failing_add(struct exporter *x, size_t device, const char *text, cugen_error *err) {
  struct export_failing *failing = &x->failing;
  bool known = false;
  struct failing_place *place =
      ARRAY_ROOM(failing->places, failing->count) ? calloc(1, sizeof *place) : NULL;
  if (!place) return error_memory(err);
  failing->places[failing->count++] = place;
  int status = api_read_problem(x->base->opened.config, text, &place->problem, &known, err);
  if (status || !known) return status;
  status = lookup_for_problem(&x->devices[device].lookup, &place->problem, &place->lookup, err);
  return status ? status : failures_open(&place->lookup, &place->failures, err);
}

static int take_text(void *context, const char *text, cugen_error *err) {
  struct export_texts *texts = context;
  return array_add_text(&texts->all, &texts->count, text) ? CUGEN_OK : error_memory(err);
}

int export_problem_texts(struct exporter *x, const struct cache_key *key, struct export_texts *out,
                         cugen_error *err) {
  return cache_problems(x->cache, key, take_text, out, err);
}

/* Adds every problem that was measured or predicted on the device, and the problems of the options
   and of the kernel, whose predictions may have been refuted. */
static int failing_add_device(struct exporter *x, size_t device, cugen_error *err) {
  const struct lookup *l = &x->devices[device].lookup;
  struct export_texts texts = {0};
  struct prediction_key predictions = {0};
  const struct cache_key measured = lookup_measured_key(l);
  int status = export_problem_texts(x, &measured, &texts, err);
  if (!status) status = api_find_predictions(l, &predictions, err);
  const struct cache_key predicted = lookup_predicted_key(l, &predictions);
  if (!status) status = export_problem_texts(x, &predicted, &texts, err);
  api_prediction_key_free(&predictions);
  for (size_t i = 0; i <= x->problem_count && !status; i++) {
    struct text text = {0};
    problem_print(x->base->opened.config, i ? &x->problems[i - 1] : &x->base->problem, &text);
    status = text.failed ? error_memory(err) : take_text(&texts, text_get(&text), err);
    text_free(&text);
  }
  for (size_t i = 0; i < texts.count && !status; i++)
    status = failing_add(x, device, texts.all[i], err);
  array_free_texts(texts.all, texts.count);
  return status;
}

int export_failing_open(struct exporter *x, size_t device, cugen_error *err) {
  int status = CUGEN_OK;
  if (x->failing.count && x->failing.device == device) return CUGEN_OK;
  export_failing_close(&x->failing);
  x->failing.device = device;
  for (size_t i = 0; i < x->device_count && !status; i++)
    if (!export_stands_for_others(&x->devices[i]) &&
        (i == device || export_stands_for_others(&x->devices[device])))
      status = failing_add_device(x, i, err);
  return status;
}

/* A launch that one problem's sizes forbid may be possible with other sizes. */
static bool fails_everywhere(const struct cache_record *failed) {
  return failed && failed->outcome != CUGEN_OUTCOME_LAUNCH;
}

int export_is_failing(struct exporter *x, const struct lookup *l, uint64_t index, bool *out,
                      cugen_error *err) {
  const struct cache_record *failed = NULL;
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->failing.count && !status && !fails_everywhere(failed); i++)
    status = failures_find_at(x->failing.places[i]->failures, l, index, &failed, err);
  *out = fails_everywhere(failed);
  return status;
}
