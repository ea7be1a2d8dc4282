/* The status of a run, and its final counts; see tuner_run.h. */
#include "tuner_run.h"

#include <math.h>
#include <string.h>

static bool is_still_known(struct tuner *t, const char *variant) {
  uint64_t index;
  struct candidate *c;
  cugen_error ignored;
  if (!space_look_up(t->run.target->space, variant, &index) || !run_wants_index(&t->run, index))
    return false;
  if (candidate_open(&t->run.bench, index, &c, &ignored)) return false;
  bool known = run_records_find(&t->records, &c->real) != NULL;
  candidate_close(&t->run.bench, c);
  return known;
}

/* Counts the variants with a known record, because a run that ended early has not met all of
   them. */
void tuner_count_remembered(struct tuner *t) {
  uint64_t count = 0;
  for (size_t i = 0; i < t->records.known_count; i++) {
    bool seen = i > 0 && strcmp(t->records.known[i].variant, t->records.known[i - 1].variant) == 0;
    if (!seen) count += is_still_known(t, t->records.known[i].variant);
  }
  t->run.result->remembered = (size_t)count;
}

/* Returns how many variants this run did not meet: neither skipped, because of a known record, nor
   tried. */
uint64_t tuner_count_left(const struct tuner *t) {
  uint64_t met = t->run.result->remembered + t->run.result->tried;
  if (t->complete) return 0;
  return t->run.result->valid > met ? t->run.result->valid - met : 0;
}

/* Returns true if the record is of the current kernel. Another file may have a kernel of this name
   with equally named variants. */
static bool is_current(struct tuner *t, const struct cache_record *record) {
  struct candidate *c;
  cugen_error ignored;
  if (run_records_open(&t->records, record, &c, &ignored) || !c) return false;
  candidate_close(&t->run.bench, c);
  return true;
}

static bool is_any_right(struct tuner *t) {
  size_t i = 0;
  while (i < t->records.known_count &&
         (t->records.known[i].outcome != CUGEN_OUTCOME_OK || !is_current(t, &t->records.known[i])))
    i++;
  return t->proposals.best.variant || i < t->records.known_count;
}

/* Reports data that was not made in time. The kernel that makes it may never end, which a longer
   budget would not change. */
static int too_late(const struct tuner *t, cugen_error *err) {
  if (t->run.target->predicted)
    return error_set(err, CUGEN_ERROR_WRONG,
                     "nothing was predicted in the budget of %g s: at its end %s; give a longer "
                     "budget, such as %.0f s",
                     t->run.budget, t->late.message, fmax(run_cpu_budget, ceil(4 * t->run.budget)));
  return error_set(err, CUGEN_ERROR_WRONG,
                   "nothing was measured in the budget of %g s: at its end %s; give a longer "
                   "budget, such as %.0f s, "
                   "or correct what makes the data if it never ends",
                   t->run.budget, t->late.message, fmax(run_cpu_budget, ceil(4 * t->run.budget)));
}

/* Reports that the budget passed before any variant was measured. The candidates wait in order, the
   first one first. */
static int too_short(struct tuner *t, cugen_error *err) {
  struct candidate *first = t->pending_count ? t->pending[0] : NULL;
  double took =
      first && candidate_ready(&t->run.bench, first) ? candidate_compile_seconds(first) : 0;
  double usual = t->run.target->predicted || !t->run.target->device->facts.is_gpu ? run_cpu_budget
                                                                                  : run_gpu_budget;
  bool known = first && took > 0 && first->real_build->status != CUGEN_ERROR_INTERRUPTED;
  int status = error_set(err, CUGEN_ERROR_WRONG, "nothing was %s in the budget of %g s",
                         t->run.target->predicted ? "predicted" : "measured", t->run.budget);
  if (known)
    error_append(err, ": compiling '%s' took %.1f s", first->real.variant, took);
  else if (first)
    error_append(err, ": compiling '%s' takes longer", first->real.variant);
  /* as long again for the reference's compile, and a second to run both */
  double needed = known ? ceil(2 * took + 1) : fmax(usual, ceil(4 * t->run.budget));
  error_append(err, "; a longer budget is needed, %s %.0f s", known ? "about" : "such as", needed);
  return status;
}

/* All variants were tried before, and their records still hold. */
static int none_right(struct tuner *t, cugen_error *err) {
  /* The first current record; others are of another file's kernel or of an older source. */
  size_t i = 0;
  while (i < t->records.known_count && !is_current(t, &t->records.known[i])) i++;
  const struct cache_record *first =
      i < t->records.known_count ? &t->records.known[i] : t->proposals.wrong;
  if (!first) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_WRONG,
                   "not one of %zu variants is right, as remembered; %s; the first, '%s': %s: %s",
                   t->run.result->remembered,
                   t->run.target->predicted && cache_record_is_refuted(first)
                       ? "what is known to be wrong is not tried again before its source changes"
                       : "cugen_tune_options.again tries them again",
                   first->variant, outcome_text((int)first->outcome), first->reason);
}

/* Adds the place of the first compile error in the user's source. */
static int verdict_add_place(const struct tuner *t, int status, cugen_error *err) {
  error_place(err, t->run.bench.refused.file, t->run.bench.refused.line);
  return status;
}

static int refused_alike(const struct tuner *t, cugen_error *err) {
  const char *line = t->proposals.alike.diagnostic;
  const size_t length = strlen(line);
  return error_set(err, CUGEN_ERROR_WRONG,
                   "%.*s: this refuses all of the %zu variants tried, so tuning ended early",
                   (int)(length - (length && line[length - 1] == ':')), line,
                   alike_count(&t->proposals.alike));
}

int tuner_verdict(struct tuner *t, cugen_error *err) {
  if (t->run.interrupted)
    return error_set(err, CUGEN_ERROR_INTERRUPTED,
                     "stopped on request; everything measured is kept");
  if (t->records.held && !t->records.sound) return error_copy(err, &t->records.fault);
  if (t->proposals.best.variant) return CUGEN_OK;
  /* The named variant is right. */
  if ((t->run.result->tried == 0 || t->run.target->outputs) && is_any_right(t)) return CUGEN_OK;
  if (alike_count(&t->proposals.alike)) return verdict_add_place(t, refused_alike(t, err), err);
  if (t->run.result->tried == 0 && t->late.status) return too_late(t, err);
  if (t->run.result->tried == 0) return t->complete ? none_right(t, err) : too_short(t, err);
  const struct cache_record *first = &t->records.own[0];
  if (t->run.result->unsupported == t->run.result->tried)
    return error_set_cause(
        err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_UNSUPPORTED,
        "no variant could be run here; nothing is known against them; the first, '%s': %s",
        first->variant, first->reason);
  const int status = error_set(
      err, CUGEN_ERROR_WRONG, "not one of %zu variants came out right; the first, '%s': %s: %s",
      t->run.result->tried, first->variant, outcome_text((int)first->outcome), first->reason);
  return first->outcome == CUGEN_OUTCOME_COMPILE ? verdict_add_place(t, status, err) : status;
}
