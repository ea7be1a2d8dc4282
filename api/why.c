/* Explains what a look-up in the cache finds: the record that the look-up uses, or the nearest
   records and why each is not used. */
#include <stdlib.h>
#include <string.h>

#include "why_match.h"

/* ---- Records under the look-up's key -------------------------------------------------------- */

/* Explains the first records, at most three. variant: only records of this variant; NULL: any. */
static int explain_own(struct why *why, const struct cache_record *records, size_t count,
                       const char *variant, cugen_error *err) {
  const struct cache_key key = lookup_key(why->lookup);
  const struct cache_space space = {.device = (char *)(uintptr_t)key.device,
                                    .config = (char *)(uintptr_t)key.config,
                                    .problem = (char *)(uintptr_t)key.problem,
                                    .options = (char *)(uintptr_t)key.options};
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status && why->match_count < WHY_NEAREST; i++)
    if (!variant || strcmp(records[i].variant, variant) == 0)
      status = why_explain(why, &space, &records[i], err);
  return status;
}

/* ---- Records under other keys --------------------------------------------------------------- */

struct near {
  const struct cache_space *space;
  size_t places, values; /* how many of device, options and problem differ; how many values of the
                            problem differ */
};

static int why_by_nearness(const void *left, const void *right) {
  const struct near *a = left, *b = right;
  if (a->places != b->places) return a->places < b->places ? -1 : 1;
  if (a->values != b->values) return a->values < b->values ? -1 : 1;
  if (a->space->measured_at != b->space->measured_at)
    return a->space->measured_at > b->space->measured_at ? -1 : 1;
  return a->space->id < b->space->id ? -1 : 1;
}

static struct near why_measure(struct why *why, const struct cache_space *space) {
  struct near near = {.space = space};
  const char *problem = text_get(&why->lookup->problem_text);
  const struct cache_key key = lookup_key(why->lookup);
  uint64_t lacks;
  if (!cache_lacks(&key, space->problem, &lacks))
    near.values = why_settings_that_differ(problem, space->problem) +
                  why_settings_that_differ(space->problem, problem);
  near.places = (size_t)(strcmp(why->lookup->device.fingerprint, space->device) != 0) +
                (size_t)(strcmp(why_wanted_options(why, space), space->options) != 0) +
                (near.values > 0);
  return near;
}

/* Explains the best record of the set of records that `space` names. */
static int explain_near(struct why *why, const struct cache_space *space, cugen_error *err) {
  const struct cache_key key = {.device = space->device,
                                .config = space->config,
                                .problem = space->problem,
                                .options = space->options,
                                .objective = why->lookup->config->objective};
  struct cache_record *records;
  size_t count;
  int status = lookup_records(why->lookup, &key, &records, &count, err);
  if (!status && count) status = why_explain(why, space, &records[0], err);
  records_free(records, count);
  return status;
}

/* *total: number of sets of this kernel for other problems, devices or options. */
static int explain_elsewhere(struct why *why, struct cache *cache, size_t *total,
                             cugen_error *err) {
  struct cache_space *spaces;
  size_t count;
  *total = 0;
  int status = cache_spaces(cache, &spaces, &count, err);
  struct near *near = status ? NULL : calloc(count + 1, sizeof *near);
  if (!status && !near) status = error_memory(err);
  for (size_t i = 0; i < count && !status; i++)
    if (strcmp(spaces[i].config, why->lookup->config->name) == 0 && spaces[i].records)
      near[*total] = why_measure(why, &spaces[i]), *total += near[*total].places > 0;
  if (near) qsort(near, *total, sizeof *near, why_by_nearness);
  for (size_t i = 0; i < *total && !status && why->match_count < WHY_NEAREST; i++)
    status = explain_near(why, near[i].space, err);
  free(near);
  cache_spaces_free(spaces, count);
  return status;
}

/* ---- The verdict ---------------------------------------------------------------------------- */

static void say_hit(struct why *why, size_t count, bool asked, cugen_why *out) {
  out->hit = 1;
  out->verdict =
      asked ? why_keepf(why, "'%s' is remembered", why->matches[0].variant)
            : why_keepf(why,
                        "'%s' is taken, the best of %zu remembered for this problem on this device",
                        why->matches[0].variant, count);
}

static void say_miss_here(struct why *why, size_t count, bool asked, bool failed, cugen_why *out) {
  if (asked)
    out->verdict = why_keepf(why, "'%s' was measured, but what was measured is not what it is now",
                             why->matches[0].variant);
  else if (failed)
    out->verdict =
        why_keepf(why, "all %zu variants remembered for this problem on this device failed", count);
  else
    out->verdict = why_keepf(why,
                             "%zu variants are remembered for this problem on this device, but "
                             "every correct one is of an earlier kernel",
                             count);
  if (!failed)
    out->advice = "tune again, what has changed is measured anew", out->tune = true;
  else if (count < space_valid(why->lookup->space))
    out->advice = "tune again, other variants are tried", out->tune = true;
  else
    out->advice =
        "correct the kernel; tuning with cugen_tune_options.again tries what failed once more";
}

static void say_nothing_here(struct why *why, size_t elsewhere, const char *variant, size_t here,
                             cugen_why *out) {
  if (variant && here)
    out->verdict =
        why_keepf(why, "'%s' was not measured; %zu others of this problem on this device were",
                  variant, here);
  else if (elsewhere)
    out->verdict = why_keepf(why,
                             "nothing is remembered for this problem on this device with these "
                             "options; of this kernel there %s %zu other set%s of records",
                             elsewhere == 1 ? "is" : "are", elsewhere, elsewhere == 1 ? "" : "s");
  else
    out->verdict = why_keepf(why, "nothing is remembered of kernel '%s' in %s",
                             why->lookup->config->name, why->lookup->lib->cache_name);
  /* options.arch with the cpu device: only predictions for a described GPU are possible */
  bool has_no_arch = why->lookup->lib->arch && !why->lookup->device.facts.is_gpu;
  if (!why->lookup->described && !has_no_arch)
    out->advice = "tune it here", out->tune = true;
  else if (has_no_arch || lookup_predicts(why->lookup))
    out->advice = "tune it by prediction", out->tune = true;
}

static const char *variant_name_of(struct why *why, uint64_t index) {
  struct text name = {0};
  lookup_print(why->lookup, index, &name);
  return why_keep(why, text_take(&name));
}

/* Returns the full text of the variant that `text` names; NULL: no variant has that name, and out
   says why. */
static const char *name_variant(struct why *why, const char *text, cugen_why *out) {
  uint64_t index;
  cugen_error reason;
  if (space_find(why->lookup->space, text, &index, &reason)) {
    out->verdict =
        why_keepf(why, "'%s' is no variant of this kernel for this problem on this device: %s",
                  text, reason.message);
    out->advice = "'cugen space' says which rule removes how many";
    return NULL;
  }
  return variant_name_of(why, index);
}

static const char *say_selected(struct why *why, const struct selection *selection,
                                const char *verdict) {
  const char *name = variant_name_of(why, selection->index);
  if (selection->how == CUGEN_PLAN_NEAR)
    return why_keepf(why, "%s. By the config's policy (%s) a plan takes '%s', the best for %s",
                     verdict, why->policy, name, text_get(&selection->problem));
  if (selection->how == CUGEN_PLAN_PORTFOLIO)
    return why_keepf(
        why,
        "%s. By the config's policy (%s) a plan takes '%s', which the portfolio has for such sizes",
        verdict, why->policy, name);
  if (selection->how == CUGEN_PLAN_OTHER_GPU)
    return why_keepf(why, "%s. A plan takes '%s', the best on %s, which is of the same %s", verdict,
                     name, text_get(&selection->other),
                     selection->same_model ? "model" : "compute capability");
  if (selection->other.length)
    return why_keepf(why, "%s. A plan takes '%s', which ships for such sizes%s: it was %s %s",
                     verdict, name, selection->other_class ? " with other layouts or flags" : "",
                     selection->predicted ? "predicted for" : "measured on",
                     text_get(&selection->other));
  if (selection->failed.length)
    return why_keepf(
        why, "%s. No plan opens: every variant is remembered to have failed, the first with '%s'",
        verdict, text_get(&selection->failed));
  return why_keepf(why, "%s. A plan takes the %s, '%s'", verdict,
                   selection->by_portfolio ? "choice of a portfolio of predictions, for other sizes"
                   : selection->predicted  ? "model's choice, predicted"
                   : selection->named      ? "first that the config names as good"
                                           : "first valid variant",
                   name);
}

/* Explains what a plan would take from a portfolio that neither the caller nor the config asked
   for. */
static int why_say_portfolio(struct why *why, cugen_why *out, cugen_error *err) {
  struct selection selection;
  int status = api_select(why->lookup, 0, true, &selection, err);
  if (!status && selection.how == CUGEN_PLAN_PORTFOLIO)
    out->verdict =
        why_keepf(why,
                  "%s. A portfolio is remembered for such sizes: with CUGEN_PLAN_BY_PORTFOLIO, or "
                  "the config's policy \"portfolio\", a plan takes its '%s'",
                  out->verdict, variant_name_of(why, selection.index));
  api_selection_free(&selection);
  return status;
}

/* Explains what a plan takes although the look-up found nothing. */
static int say_instead(struct why *why, cugen_why *out, cugen_error *err) {
  struct selection selection;
  cugen_error reason;
  int status = api_select(why->lookup, 0, false, &selection, &reason);
  if (!status) {
    out->verdict = say_selected(why, &selection, out->verdict);
    if (selection.how != CUGEN_PLAN_PORTFOLIO) status = why_say_portfolio(why, out, &reason);
  } else if (status == CUGEN_ERROR_EMPTY) {
    out->verdict = why_keepf(why, "%s. No variant is valid here: %s", out->verdict, reason.message);
    out->advice =
        "take other sizes, or correct the rule that leaves none; tuning tries only valid variants";
    out->tune = false;
    status = CUGEN_OK;
  }
  api_selection_free(&selection);
  return status ? error_copy(err, &reason) : CUGEN_OK;
}

static int explain_records(struct why *why, struct cache *cache, const struct cache_record *records,
                           size_t count, const char *variant, cugen_why *out, cugen_error *err) {
  size_t elsewhere = 0;
  int status = explain_own(why, records, count, variant, err);
  bool here = why->match_count > 0, right = count && records[0].outcome == CUGEN_OUTCOME_OK;
  if (!status && !here) status = explain_elsewhere(why, cache, &elsewhere, err);
  if (status) return status;
  if (here)
    say_miss_here(why, count, variant != NULL, !variant && !right, out);
  else
    say_nothing_here(why, elsewhere, variant, count, out);
  return variant ? CUGEN_OK : say_instead(why, out, err);
}

/* Finds the record that a look-up uses, if there is one. */
static int find_hit(struct why *why, const struct cache_record *records, size_t count,
                    const char *variant, bool *hit, cugen_error *err) {
  struct best_record best = {0};
  struct judgement judgement;
  int status = CUGEN_OK;
  *hit = false;
  if (!variant) status = api_best(why->lookup, &best, err);
  if (!variant) *hit = best.found;
  for (size_t i = 0; i < count && variant && !status; i++) {
    if (strcmp(records[i].variant, variant) != 0) continue;
    status = api_judge(why->lookup, &records[i], &judgement, err);
    *hit = judgement.how == JUDGED_CURRENT;
  }
  if (!status && *hit)
    status = explain_own(why, variant ? records : &best.record, variant ? count : 1, variant, err);
  api_best_free(&best);
  return status;
}

static int explain_all(struct why *why, const char *text, cugen_why *out, cugen_error *err) {
  const struct cache_key key = lookup_key(why->lookup);
  struct cache *cache;
  struct cache_record *records;
  size_t count;
  bool hit = false;
  int status = lookup_prepare(why->lookup, err);
  if (!status) status = api_cache_to_read(why->lookup->lib, &cache, err);
  if (status) return status;
  const char *variant = text ? name_variant(why, text, out) : NULL;
  if (text && !variant) return CUGEN_OK;
  status = cache_load(cache, &key, &records, &count, err);
  if (!status) status = api_drop_stale(why->lookup, records, &count, true, err);
  if (!status) status = failures_mark(why->lookup, records, &count, err);
  if (!status) status = find_hit(why, records, count, variant, &hit, err);
  if (!status && hit)
    say_hit(why, count, text != NULL, out);
  else if (!status)
    status = explain_records(why, cache, records, count, variant, out, err);
  records_free(records, count);
  return status;
}

int api_kernel_why(cugen_kernel *k, const char *variant, cugen_why *out, cugen_error *error) {
  *out = (cugen_why){.verdict = "", .advice = ""};
  struct why *why = kept_renew(&k->why, sizeof *why, why_clear, error);
  if (!why) return CUGEN_ERROR_MEMORY;
  why->lookup = &k->lookup;
  why->policy = text_get(&k->policy);
  int status = explain_all(why, variant, out, error);
  if (!status && why->failed) status = error_memory(error);
  out->matches = why->matches;
  out->match_count = why->match_count;
  return status;
}
