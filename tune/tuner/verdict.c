/* The end of a run; see verdict.h. */
#include "verdict.h"

#include <math.h>
#include <string.h>

size_t verdict_count_remembered(const struct run_records *records) {
  const struct cache_record *known = records->known;
  struct candidate *c;
  cugen_error ignored;
  size_t count = 0;
  for (size_t i = 0; i < records->known_count; i++) {
    if (i > 0 && strcmp(known[i].variant, known[i - 1].variant) == 0) continue;
    if (run_open(records->run, known[i].variant, &c, &ignored) || !c) continue;
    count += run_records_find(records, &c->real) != NULL;
    candidate_close(&records->run->bench, c);
  }
  return count;
}

/* Returns the first known record whose kernel has not changed since, or NULL. right: only records
   of right variants count. */
static const struct cache_record *first_current(const struct run_records *records, bool right) {
  struct candidate *c = NULL;
  cugen_error ignored;
  for (size_t i = 0; i < records->known_count; i++) {
    const struct cache_record *known = &records->known[i];
    if ((right && known->outcome != CUGEN_OUTCOME_OK) ||
        run_records_open(records, known, &c, &ignored) || !c)
      continue;
    candidate_close(&records->run->bench, c);
    return known;
  }
  return NULL;
}

static int too_late(const struct tuner_run *run, const cugen_error *late, cugen_error *err) {
  const bool predicted = run->target->predicted;
  return error_set(err, CUGEN_ERROR_WRONG,
                   "nothing was %s in the budget of %g s: at its end %s; give a longer budget, "
                   "such as %.0f s%s",
                   predicted ? "predicted" : "measured", run->budget, late->message,
                   fmax(run_cpu_budget, ceil(4 * run->budget)),
                   predicted ? "" : ", or correct what makes the data if it never ends");
}

/* Reports that the budget passed before any variant was measured. first: the oldest candidate that
   still waits; NULL: none. */
static int too_short(struct tuner_run *run, const struct candidate *first, cugen_error *err) {
  double took = first && candidate_ready(&run->bench, first) ? candidate_compile_seconds(first) : 0;
  double usual = run->target->predicted || !run->target->device->facts.is_gpu ? run_cpu_budget
                                                                              : run_gpu_budget;
  bool known = first && took > 0 && first->real_build->status != CUGEN_ERROR_INTERRUPTED;
  int status = error_set(err, CUGEN_ERROR_WRONG, "nothing was %s in the budget of %g s",
                         run->target->predicted ? "predicted" : "measured", run->budget);
  if (known)
    error_append(err, ": compiling '%s' took %.1f s", first->real.variant, took);
  else if (first)
    error_append(err, ": compiling '%s' takes longer", first->real.variant);
  /* `took` again for the reference's compile, and a second to run the variant and the reference */
  double needed = known ? ceil(2 * took + 1) : fmax(usual, ceil(4 * run->budget));
  error_append(err, "; a longer budget is needed, %s %.0f s", known ? "about" : "such as", needed);
  return status;
}

/* All variants were tried before, and their records still hold. */
static int none_right(const struct proposals *p, cugen_error *err) {
  const struct tuner_run *run = p->run;
  const struct cache_record *first = first_current(p->records, false);
  if (!first) first = p->wrong;
  if (!first) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_WRONG,
                   "not one of %zu variants is right, as remembered; %s; the first, '%s': %s: %s",
                   run->result->remembered,
                   run->target->predicted && cache_record_is_refuted(first)
                       ? "what is known to be wrong is not tried again before its source changes"
                       : "cugen_tune_options.again tries them again",
                   first->variant, outcome_text((int)first->outcome), first->reason);
}

static int refused_alike(const struct proposals *p, cugen_error *err) {
  const char *line = p->alike.diagnostic;
  const size_t length = strlen(line);
  error_set(err, CUGEN_ERROR_WRONG,
            "%.*s: this refuses all of the %zu variants tried, so tuning ended early",
            (int)(length - (length && line[length - 1] == ':')), line, alike_count(&p->alike));
  error_place(err, p->run->bench.refused.file, p->run->bench.refused.line);
  return CUGEN_ERROR_WRONG;
}

int verdict_give(const struct proposals *p, const struct queue *queue, const cugen_error *late,
                 bool complete, cugen_error *err) {
  const struct run_records *records = p->records;
  struct tuner_run *run = p->run;
  const size_t tried = run->result->tried;
  if (run->interrupted)
    return error_set(err, CUGEN_ERROR_INTERRUPTED,
                     "stopped on request; everything measured is kept");
  if (records->held && !records->sound) return error_copy(err, &records->fault);
  if (p->best.variant) return CUGEN_OK;
  /* A remembered variant is right. */
  if ((tried == 0 || run->target->outputs) && first_current(records, true)) return CUGEN_OK;
  if (alike_count(&p->alike)) return refused_alike(p, err);
  if (tried == 0 && late->status) return too_late(run, late, err);
  if (tried == 0)
    return complete ? none_right(p, err) : too_short(run, queue->count ? queue->all[0] : NULL, err);
  const struct cache_record *first = &records->own[0];
  if (run->result->unsupported == tried)
    return error_set_cause(
        err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_UNSUPPORTED,
        "no variant could be run here, which does not make them wrong: tune on a GPU, or predict "
        "for a described one; the first, '%s': %s",
        first->variant, first->reason);
  error_set(err, CUGEN_ERROR_WRONG,
            "not one of %zu variants came out right; the first, '%s': %s: %s", tried,
            first->variant, outcome_text((int)first->outcome), first->reason);
  if (first->outcome == CUGEN_OUTCOME_COMPILE)
    error_place(err, run->bench.refused.file, run->bench.refused.line);
  return CUGEN_ERROR_WRONG;
}
