/* Explains what a look-up in the cache finds: the record that the look-up uses, or the nearest
   records and why each is not used. Each record is compared with the request field by field: which
   fields are equal, which differ, and which decide. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "why.h"

enum { WHY_NEAREST = 3, WHY_ROWS = 96 };

struct why_rows {
  cugen_why_row rows[WHY_ROWS];
  size_t count;
};

/* The request, and the result that was handed out last. */
struct why {
  struct lookup *lookup;
  const char *policy;
  char **strings;
  size_t string_count;
  struct why_rows details[WHY_NEAREST];
  cugen_why_match matches[WHY_NEAREST];
  size_t match_count;
  bool failed;                       /* memory is out */
  struct prediction_key predictions; /* set when the first prediction is compared */
};

/* ---- Texts ---------------------------------------------------------------------------------- */

static void why_clear(void *data) {
  struct why *why = data;
  array_free_texts(why->strings, why->string_count);
  api_prediction_key_free(&why->predictions);
}

/* Takes over the string and keeps it until the next request. Returns "" and sets why->failed if
   memory is out. */
static const char *why_keep(struct why *why, char *string) {
  if (string && ARRAY_ROOM(why->strings, why->string_count))
    return why->strings[why->string_count++] = string;
  free(string);
  why->failed = true;
  return "";
}

PRINTF_LIKE(2, 3)
static const char *why_keepf(struct why *why, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  return why_keep(why, text_take(&text));
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void why_add_row(struct why *why, struct why_rows *match, const char *field,
                        const char *wanted, const char *found, cugen_why_state state,
                        bool decides) {
  if (match->count == WHY_ROWS) return;
  match->rows[match->count++] = (cugen_why_row){.field = why_keepf(why, "%s", field),
                                                .wanted = why_keepf(why, "%s", wanted),
                                                .found = why_keepf(why, "%s", found),
                                                .state = state,
                                                .decides = decides};
}

static void add_texts(struct why *why, struct why_rows *match, const char *field,
                      const char *wanted, const char *found) {
  why_add_row(why, match, field, wanted, found,
              strcmp(wanted, found) ? CUGEN_WHY_DIFFERS : CUGEN_WHY_SAME, true);
}

/* Shows eight digits of a hash, which suffice to tell hashes apart. */
static void add_hash(struct why *why, struct why_rows *match, const char *field, struct hash wanted,
                     struct hash found, bool decides) {
  bool known = wanted.hex[0] && found.hex[0];
  cugen_why_state state = !known                          ? CUGEN_WHY_UNKNOWN
                          : strcmp(wanted.hex, found.hex) ? CUGEN_WHY_DIFFERS
                                                          : CUGEN_WHY_SAME;
  why_add_row(why, match, field, why_keepf(why, "%.8s", wanted.hex),
              why_keepf(why, "%.8s", found.hex), state, decides);
}

static void why_add_version(struct why *why, struct why_rows *match, const char *field, int wanted,
                            int found) {
  const char *texts[2];
  const int versions[2] = {wanted, found};
  for (int i = 0; i < 2; i++)
    texts[i] =
        versions[i] ? why_keepf(why, "%d.%d", versions[i] / 1000, versions[i] % 1000 / 10) : "none";
  why_add_row(why, match, field, texts[0], texts[1],
              wanted == found ? CUGEN_WHY_SAME : CUGEN_WHY_DIFFERS, false);
}

/* ---- Problems, value by value --------------------------------------------------------------- */

static const char *why_value_of(struct why *why, const struct setting *setting) {
  size_t length;
  const char *value = setting_value(setting, &length);
  return why_keepf(why, "%.*s", (int)length, value);
}

/* Adds a row for each setting of `from`, with the setting of the same name in `other`; new_only:
   only for settings that `other` lacks. lacks: the parameters that the record lacks. */
static void why_add_settings(struct why *why, struct why_rows *match, const char *from,
                             const char *other, uint64_t lacks, bool new_only) {
  static const char none[] = "not declared";
  struct setting setting, partner;
  for (; setting_next(&from, &setting); lacks >>= 1) {
    const bool has = settings_find(other, &setting, &partner);
    if (new_only && has) continue;
    const char *name = why_keepf(why, "%.*s", (int)setting.name, setting.text),
               *mine = why_value_of(why, &setting);
    const char *theirs = has ? why_value_of(why, &partner) : none;
    if (lacks & 1)
      why_add_row(why, match, name, why_keepf(why, "%s (the default)", mine), none,
                  CUGEN_WHY_DIFFERS, false);
    else
      add_texts(why, match, name, new_only ? theirs : mine, new_only ? mine : theirs);
  }
}

/* Counts the settings of problem a that b does not have equally. */
static size_t why_settings_that_differ(const char *a, const char *b) {
  struct setting setting;
  size_t count = 0;
  while (setting_next(&a, &setting)) count += !settings_have(b, &setting);
  return count;
}

/* ---- Options -------------------------------------------------------------------------------- */

/* Returns the options that the look-up would want in the set of records that `space` names: for
   predictions, those of this version of the model and this device's figures. */
static const char *why_wanted_options(struct why *why, const struct cache_space *space) {
  const struct lookup *l = why->lookup;
  cugen_error ignored;
  if (l->predicted || !device_parse(space->device).predicted) return lookup_key(l).options;
  if (!why->predictions.options.length &&
      api_key_predictions(l->lib, &l->device, l->arch, &why->predictions, &ignored)) {
    api_prediction_key_free(&why->predictions);
    why->failed = true;
  }
  return text_get(&why->predictions.options);
}

/* ---- One record ----------------------------------------------------------------------------- */

/* Lists the deciding fields with that state: "source, launches", or "". */
static const char *list_fields(struct why *why, const struct why_rows *match,
                               cugen_why_state state) {
  struct text text = {0};
  for (size_t i = 0; i < match->count; i++)
    if (match->rows[i].decides && match->rows[i].state == state)
      text_addf(&text, "%s%s", text.length ? ", " : "", match->rows[i].field);
  return why_keepf(why, "%s", text.length ? why_keep(why, text_take(&text)) : "");
}

/* Adds rows for the parts of the hash. */
static void compare_parts(struct why *why, struct why_rows *match,
                          const struct judgement *judgement, const struct cache_record *record) {
  const struct cache_record *now = &judgement->now;
  const struct objective *objective = why->lookup->config->objective;
  bool decides = judgement->how != JUDGED_CURRENT || !judgement->proof_changed;
  if (!now->hash.hex[0]) return;
  add_hash(why, match, "source", now->source_hash, record->source_hash, true);
  add_hash(why, match, "launches", now->launches_hash, record->launches_hash, true);
  add_hash(why, match, "what is passed", now->arguments_hash, record->arguments_hash, true);
  add_hash(why, match, "what it is held against", judgement->proof, record->proof_hash, decides);
  if (objective && objective->needs_flops)
    add_texts(why, match, "flops", why_keepf(why, "%.17g", now->flops),
              why_keepf(why, "%.17g", record->flops));
  if (objective && objective->needs_bytes)
    add_texts(why, match, "bytes", why_keepf(why, "%.17g", now->bytes),
              why_keepf(why, "%.17g", record->bytes));
  add_hash(why, match, "kernel as a whole", judgement->whole, record->hash, decides);
}

static const char *say_changed(struct why *why, const struct why_rows *match) {
  struct why_rows parts = *match;
  if (parts.count) parts.count--; /* leaves out the hash of everything */
  const char *changed = list_fields(why, &parts, CUGEN_WHY_DIFFERS);
  return *changed ? why_keepf(why, "it is not taken: changed since it was measured: %s", changed)
                  : "it is not taken: the kernel has changed since it was measured; in what is not "
                    "known, the record is of an older cugen";
}

/* Returns the verdict about a record under the look-up's own key. */
static const char *say_judgement(struct why *why, const struct why_rows *match,
                                 const struct judgement *judgement,
                                 const struct cache_record *record) {
  switch (judgement->how) {
  case JUDGED_CHANGED: return say_changed(why, match);
  case JUDGED_GONE:
    return why_keepf(why, "it is not taken: no variant is called that now: %s",
                     judgement->why.message);
  case JUDGED_BROKEN:
    return why_keepf(why, "it is not taken: its source does not expand now: %s",
                     judgement->why.message);
  case JUDGED_CURRENT: break;
  }
  if (record->outcome == CUGEN_OUTCOME_OK) return "everything that decides is the same";
  int length;
  const char *reason = error_essence(record->reason ? record->reason : "", &length);
  if (record->outcome == CUGEN_OUTCOME_UNPREDICTED)
    return why_keepf(why, "the model has no prediction of it, and it is not tried again: %.*s",
                     length, reason);
  return why_keepf(why, "it is remembered that it failed, and it is not tried again: %s%s%.*s",
                   outcome_text((int)record->outcome), length ? ": " : "", length, reason);
}

/* Compares a record of the set that `space` names with the request, field by field, and appends the
   comparison and its verdict to why->matches, which must have room. */
static int why_explain(struct why *why, const struct cache_space *space,
                       const struct cache_record *record, cugen_error *err) {
  struct why_rows *match = &why->details[why->match_count];
  struct judgement judgement;
  const char *problem = text_get(&why->lookup->problem_text);
  add_texts(why, match, "kernel", why->lookup->config->name, space->config);
  add_texts(why, match, "device", lookup_key(why->lookup).device, space->device);
  add_texts(why, match, "options", why_wanted_options(why, space), space->options);
  why_add_settings(why, match, problem, space->problem, record->lacks, false);
  why_add_settings(why, match, space->problem, problem, 0, true);
  const char *elsewhere = list_fields(why, match, CUGEN_WHY_DIFFERS);
  int status = api_judge(why->lookup, record, &judgement, err);
  if (status) return status;
  bool gone = judgement.how == JUDGED_GONE;
  why_add_row(why, match, "variant", gone ? "not in the space" : record->variant, record->variant,
              gone ? CUGEN_WHY_DIFFERS : CUGEN_WHY_SAME, true);
  if (!*elsewhere) compare_parts(why, match, &judgement, record);
  const char *verdict = *elsewhere ? why_keepf(why, "it is no hit: it differs in %s", elsewhere)
                                   : say_judgement(why, match, &judgement, record);
  why_add_version(why, match, "driver", why->lookup->device.driver_version, record->driver_version);
  why_add_version(why, match, "NVRTC", why->lookup->nvrtc_version, record->nvrtc_version);
  why->matches[why->match_count++] =
      (cugen_why_match){.variant = why_keepf(why, "%s", record->variant),
                        .verdict = verdict,
                        .outcome = record->outcome,
                        .predicted = device_parse(space->device).predicted,
                        .seconds = record->seconds,
                        .measured_at = record->measured_at,
                        .rows = match->rows,
                        .row_count = match->count};
  return CUGEN_OK;
}

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
  for (size_t i = 0; i < *total && !status && why->match_count < WHY_NEAREST; i++) {
    const struct cache_space *space = near[i].space;
    const struct cache_key key = {.device = space->device,
                                  .config = space->config,
                                  .problem = space->problem,
                                  .options = space->options,
                                  .objective = why->lookup->config->objective};
    struct cache_record *records;
    size_t found;
    status = lookup_records(why->lookup, &key, &records, &found, err);
    if (!status && found) status = why_explain(why, space, &records[0], err);
    records_free(records, found);
  }
  free(near);
  cache_spaces_free(spaces, count);
  return status;
}

/* ---- The verdict ---------------------------------------------------------------------------- */

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

/* Explains the best record, or the variant's, if it is current. */
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
  out->hit = !status && hit;
  if (out->hit && text)
    out->verdict = why_keepf(why, "'%s' is remembered", why->matches[0].variant);
  else if (out->hit)
    out->verdict =
        why_keepf(why, "'%s' is taken, the best of %zu remembered for this problem on this device",
                  why->matches[0].variant, count);
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
