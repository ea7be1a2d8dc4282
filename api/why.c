/* Why a look-up in the cache finds what it finds: the record it takes, or the nearest ones and what keeps each of them
   from being taken, field by field. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "runtime/model/described.h"

enum { NEAREST = 3, ROWS = 96 };

struct match {
  cugen_why_row rows[ROWS];
  size_t count;
};

/* What is asked, and what was handed out of it last. */
struct why {
  struct lookup *lookup;
  const char *policy;
  char **strings;
  size_t string_count, string_capacity;
  struct match details[NEAREST];
  cugen_why_match matches[NEAREST];
  size_t match_count;
  bool failed;                       /* for want of memory */
  struct prediction_key predictions; /* filled with the first prediction looked at */
};

static void clear_why(void *data) {
  struct why *why = data;
  for (size_t i = 0; i < why->string_count; i++) free(why->strings[i]);
  free(why->strings);
  api_prediction_key_free(&why->predictions);
}

/* Takes the string over; what was handed out has it until the next call. */
static const char *keep(struct why *why, char *string) {
  if (string && why->string_count == why->string_capacity) {
    size_t capacity = 2 * why->string_capacity + 32;
    char **strings = realloc(why->strings, capacity * sizeof *strings);
    if (strings) {
      why->strings = strings;
      why->string_capacity = capacity;
    }
  }
  if (string && why->string_count < why->string_capacity) return why->strings[why->string_count++] = string;
  free(string);
  why->failed = true;
  return "";
}

static const char *keepf(struct why *why, const char *format, ...) PRINTF_LIKE(2, 3);
static const char *keepf(struct why *why, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  return keep(why, text_take(&text));
}

/* ---- Rows ----------------------------------------------------------------------------------------------------- */

static void add_row(struct why *why, struct match *match, const char *field, const char *wanted, const char *found,
                    cugen_why_state state, bool decides) {
  if (match->count == ROWS) return;
  match->rows[match->count++] = (cugen_why_row){.field = keepf(why, "%s", field),
                                                .wanted = keepf(why, "%s", wanted),
                                                .found = keepf(why, "%s", found),
                                                .state = state,
                                                .decides = decides};
}

static void add_texts(struct why *why, struct match *match, const char *field, const char *wanted,
                      const char *found) {
  add_row(why, match, field, wanted, found, strcmp(wanted, found) ? CUGEN_WHY_DIFFERS : CUGEN_WHY_SAME, true);
}

/* Eight digits of a hash tell as much as all of it. */
static void add_hash(struct why *why, struct match *match, const char *field, struct hash wanted, struct hash found,
                     bool decides) {
  bool known = wanted.hex[0] && found.hex[0];
  cugen_why_state state = !known                          ? CUGEN_WHY_UNKNOWN
                          : strcmp(wanted.hex, found.hex) ? CUGEN_WHY_DIFFERS
                                                          : CUGEN_WHY_SAME;
  add_row(why, match, field, keepf(why, "%.8s", wanted.hex), keepf(why, "%.8s", found.hex), state, decides);
}

static void add_version(struct why *why, struct match *match, const char *field, int wanted, int found) {
  const char *texts[2];
  const int versions[2] = {wanted, found};
  for (int i = 0; i < 2; i++)
    texts[i] = versions[i] ? keepf(why, "%d.%d", versions[i] / 1000, versions[i] % 1000 / 10) : "none";
  add_row(why, match, field, texts[0], texts[1], wanted == found ? CUGEN_WHY_SAME : CUGEN_WHY_DIFFERS, false);
}

/* ---- Problems, value by value --------------------------------------------------------------------------------- */

/* The length of the first "name=value" of a problem's text. A value may hold spaces: it ends before a space that a
   name and '=' follow. */
static size_t setting_length(const char *text) {
  size_t length = strcspn(text, " ");
  while (text[length]) {
    const char *next = text + length + 1;
    size_t name = strcspn(next, " =");
    if (name && next[name] == '=') break;
    length += 1 + strcspn(next, " ");
  }
  return length;
}

static const char *next_setting(const char *text) {
  text += setting_length(text);
  return *text ? text + 1 : text;
}

/* The setting of that name; NULL: there is none. */
static const char *find_setting(const char *text, const char *name, size_t length) {
  for (; *text; text = next_setting(text))
    if (strncmp(text, name, length) == 0 && text[length] == '=') return text;
  return NULL;
}

static const char *value_of(struct why *why, const char *setting) {
  if (!setting) return "not declared";
  size_t name = strcspn(setting, "="), length = setting_length(setting);
  return name < length ? keepf(why, "%.*s", (int)(length - name - 1), setting + name + 1) : "";
}

/* Each setting of `from`, beside that of the same name in `other`; new_only: only those that other does not have. lacks: those
   that the record did without, since they have their default. */
static void add_settings(struct why *why, struct match *match, const char *from, const char *other, uint64_t lacks,
                         bool new_only) {
  for (; *from; from = next_setting(from), lacks >>= 1) {
    size_t length = strcspn(from, "=");
    const char *partner = find_setting(other, from, length);
    if (new_only && partner) continue;
    const char *name = keepf(why, "%.*s", (int)length, from), *mine = value_of(why, from);
    const char *theirs = value_of(why, partner);
    if (lacks & 1)
      add_row(why, match, name, keepf(why, "%s (the default)", mine), value_of(why, NULL), CUGEN_WHY_DIFFERS, false);
    else
      add_texts(why, match, name, new_only ? theirs : mine, new_only ? mine : theirs);
  }
}

static size_t settings_that_differ(const char *a, const char *b) {
  size_t count = 0;
  for (; *a; a = next_setting(a)) {
    const char *partner = find_setting(b, a, strcspn(a, "="));
    size_t length = setting_length(a);
    count += !partner || setting_length(partner) != length || strncmp(a, partner, length) != 0;
  }
  return count;
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

/* What the look-up would want of the space: of a prediction that it is by the same model from the same figures. */
static const char *wanted_options(struct why *why, const struct cache_space *space) {
  const struct lookup *l = why->lookup;
  cugen_error ignored;
  if (l->predicted || !cugen_device_parse(space->device).predicted) return lookup_key(l).options;
  if (!why->predictions.options.length &&
      api_key_predictions(l->lib, &l->device, l->arch, &why->predictions, &ignored)) {
    api_prediction_key_free(&why->predictions);
    why->failed = true;
  }
  return text_get(&why->predictions.options);
}

/* ---- One record ----------------------------------------------------------------------------------------------- */

/* "source, launches": the fields of that state, or "". */
static const char *list_fields(struct why *why, const struct match *match, cugen_why_state state) {
  struct text text = {0};
  for (size_t i = 0; i < match->count; i++)
    if (match->rows[i].decides && match->rows[i].state == state)
      text_addf(&text, "%s%s", text.length ? ", " : "", match->rows[i].field);
  return keepf(why, "%s", text.length ? keep(why, text_take(&text)) : "");
}

/* A predicted time depends neither on what a result is held against nor, so, on the whole. */
static void compare_parts(struct why *why, struct match *match, const struct judgement *judgement,
                          const struct cache_record *record) {
  const struct cache_record *now = &judgement->now;
  const struct objective *objective = why->lookup->config->objective;
  bool decides = judgement->how != JUDGED_CURRENT || !judgement->proof_changed;
  if (!now->hash.hex[0]) return;
  add_hash(why, match, "source", now->source_hash, record->source_hash, true);
  add_hash(why, match, "launches", now->launches_hash, record->launches_hash, true);
  add_hash(why, match, "what is passed", now->arguments_hash, record->arguments_hash, true);
  add_hash(why, match, "what it is held against", judgement->proof, record->proof_hash, decides);
  if (objective && objective->needs_flops)
    add_texts(why, match, "flops", keepf(why, "%.17g", now->flops), keepf(why, "%.17g", record->flops));
  if (objective && objective->needs_bytes)
    add_texts(why, match, "bytes", keepf(why, "%.17g", now->bytes), keepf(why, "%.17g", record->bytes));
  add_hash(why, match, "kernel as a whole", judgement->whole, record->hash, decides);
}

static const char *say_changed(struct why *why, const struct match *match) {
  struct match parts = *match;
  if (parts.count) parts.count--; /* the whole */
  const char *changed = list_fields(why, &parts, CUGEN_WHY_DIFFERS);
  return *changed
             ? keepf(why, "it is not taken: changed since it was measured: %s", changed)
             : "it is not taken: the kernel has changed since it was measured; in what is not known, the record is "
               "of an older cugen";
}

/* What a record in the right place is to the look-up. */
static const char *say_judgement(struct why *why, const struct match *match, const struct judgement *judgement,
                                 const struct cache_record *record) {
  switch (judgement->how) {
  case JUDGED_CHANGED: return say_changed(why, match);
  case JUDGED_GONE: return keepf(why, "it is not taken: no variant is called that now: %s", judgement->why.message);
  case JUDGED_BROKEN:
    return keepf(why, "it is not taken: its source does not expand now: %s", judgement->why.message);
  case JUDGED_CURRENT: break;
  }
  if (record->outcome == CUGEN_OUTCOME_OK) return "everything that decides is the same";
  const char *reason = record->reason ? record->reason : "";
  return keepf(why, "it is remembered that it failed, and it is not tried again: %s%s%.*s",
               cugen_outcome_text((int)record->outcome), *reason ? ": " : "", (int)strcspn(reason, "\n"), reason);
}

static int explain(struct why *why, const struct cache_space *space, const struct cache_record *record,
                   cugen_error *err) {
  struct match *match = &why->details[why->match_count];
  struct judgement judgement;
  const char *problem = text_get(&why->lookup->problem_text);
  add_texts(why, match, "kernel", why->lookup->config->name, space->config);
  add_texts(why, match, "device", lookup_key(why->lookup).device, space->device);
  add_texts(why, match, "options", wanted_options(why, space), space->options);
  add_settings(why, match, problem, space->problem, record->lacks, false);
  add_settings(why, match, space->problem, problem, 0, true);
  const char *elsewhere = list_fields(why, match, CUGEN_WHY_DIFFERS);
  int status = api_judge(why->lookup, record, &judgement, err);
  if (status) return status;
  bool gone = judgement.how == JUDGED_GONE;
  add_row(why, match, "variant", gone ? "not in the space" : record->variant, record->variant,
          gone ? CUGEN_WHY_DIFFERS : CUGEN_WHY_SAME, true);
  if (!*elsewhere) compare_parts(why, match, &judgement, record);
  const char *verdict = *elsewhere ? keepf(why, "it is not taken: it differs in %s", elsewhere)
                                   : say_judgement(why, match, &judgement, record);
  add_version(why, match, "driver", why->lookup->device.driver_version, record->driver_version);
  add_version(why, match, "NVRTC", why->lookup->nvrtc_version, record->nvrtc_version);
  why->matches[why->match_count++] = (cugen_why_match){.variant = keepf(why, "%s", record->variant),
                                                       .verdict = verdict,
                                                       .outcome = record->outcome,
                                                       .predicted = cugen_device_parse(space->device).predicted,
                                                       .seconds = record->seconds,
                                                       .measured_at = record->measured_at,
                                                       .rows = match->rows,
                                                       .row_count = match->count};
  return CUGEN_OK;
}

/* ---- Records in the right place ------------------------------------------------------------------------------- */

static struct cache_space own_space(const struct lookup *l) {
  const struct cache_key key = lookup_key(l);
  return (struct cache_space){.device = (char *)(uintptr_t)key.device,
                              .config = (char *)(uintptr_t)key.config,
                              .problem = (char *)(uintptr_t)key.problem,
                              .options = (char *)(uintptr_t)key.options};
}

/* The first three of what is there, the best ahead of all. variant: only that one. */
static int explain_own(struct why *why, const struct cache_record *records, size_t count, const char *variant,
                       cugen_error *err) {
  const struct cache_space space = own_space(why->lookup);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status && why->match_count < NEAREST; i++)
    if (!variant || strcmp(records[i].variant, variant) == 0) status = explain(why, &space, &records[i], err);
  return status;
}

/* ---- Records elsewhere ---------------------------------------------------------------------------------------- */

struct near {
  const struct cache_space *space;
  size_t places, values; /* of device, options and problem, and of the problem's values, how many differ */
};

static int by_nearness(const void *left, const void *right) {
  const struct near *a = left, *b = right;
  if (a->places != b->places) return a->places < b->places ? -1 : 1;
  if (a->values != b->values) return a->values < b->values ? -1 : 1;
  if (a->space->measured_at != b->space->measured_at) return a->space->measured_at > b->space->measured_at ? -1 : 1;
  return a->space->id < b->space->id ? -1 : 1;
}

static struct near measure(struct why *why, const struct cache_space *space) {
  struct near near = {.space = space};
  const char *problem = text_get(&why->lookup->problem_text);
  const struct cache_key key = lookup_key(why->lookup);
  uint64_t lacks;
  if (!cache_lacks(&key, space->problem, &lacks))
    near.values = settings_that_differ(problem, space->problem) + settings_that_differ(space->problem, problem);
  near.places = (size_t)(strcmp(why->lookup->device.fingerprint, space->device) != 0) +
                (size_t)(strcmp(wanted_options(why, space), space->options) != 0) + (near.values > 0);
  return near;
}

/* The best record of that place. */
static int explain_near(struct why *why, struct cache *cache, const struct cache_space *space, cugen_error *err) {
  const struct cache_key key = {
      space->device, space->config, space->problem, space->options, NULL, why->lookup->config->objective, NULL};
  struct cache_record *records;
  size_t count;
  int status = cache_load(cache, &key, &records, &count, err);
  if (!status && count) status = explain(why, space, &records[0], err);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  return status;
}

/* *total: sets of records of this kernel for other problems, devices or options. */
static int explain_elsewhere(struct why *why, struct cache *cache, size_t *total, cugen_error *err) {
  struct cache_space *spaces;
  size_t count;
  *total = 0;
  int status = cache_spaces(cache, &spaces, &count, err);
  struct near *near = status ? NULL : calloc(count + 1, sizeof *near);
  if (!status && !near) status = error_memory(err);
  for (size_t i = 0; i < count && !status; i++)
    if (strcmp(spaces[i].config, why->lookup->config->name) == 0 && spaces[i].records)
      near[*total] = measure(why, &spaces[i]), *total += near[*total].places > 0;
  if (near) qsort(near, *total, sizeof *near, by_nearness);
  for (size_t i = 0; i < *total && !status && why->match_count < NEAREST; i++)
    status = explain_near(why, cache, near[i].space, err);
  free(near);
  cache_spaces_free(spaces, count);
  return status;
}

/* ---- The verdict ---------------------------------------------------------------------------------------------- */

static void say_hit(struct why *why, size_t count, bool asked, cugen_why *out) {
  out->hit = 1;
  out->verdict = asked ? keepf(why, "'%s' is remembered", why->matches[0].variant)
                       : keepf(why, "'%s' is taken, the best of %zu remembered for this problem on this device",
                               why->matches[0].variant, count);
}

static void say_miss_here(struct why *why, size_t count, bool asked, bool failed, cugen_why *out) {
  if (asked)
    out->verdict =
        keepf(why, "'%s' was measured, but what was measured is not what it is now", why->matches[0].variant);
  else if (failed)
    out->verdict = keepf(why, "all %zu variants remembered for this problem on this device failed", count);
  else
    out->verdict = keepf(
        why,
        "%zu variants are remembered for this problem on this device, but every correct one is of an earlier kernel",
        count);
  if (!failed)
    out->advice = "tune again, what has changed is measured anew", out->tune = true;
  else if (count < space_valid(why->lookup->space))
    out->advice = "tune again, other variants are tried", out->tune = true;
  else
    out->advice = "correct the kernel; tuning with cugen_tune_options.again tries what failed once more";
}

static void say_nothing_here(struct why *why, size_t elsewhere, const char *variant, size_t here, cugen_why *out) {
  if (variant && here)
    out->verdict = keepf(why, "'%s' was not measured; %zu others of this problem on this device were", variant, here);
  else if (elsewhere)
    out->verdict = keepf(why,
                         "nothing is remembered for this problem on this device with these options; of this "
                         "kernel there %s %zu other set%s of records",
                         elsewhere == 1 ? "is" : "are", elsewhere, elsewhere == 1 ? "" : "s");
  else
    out->verdict = keepf(why, "nothing is remembered of kernel '%s' in %s", why->lookup->config->name,
                         why->lookup->lib->cache_name);
  bool has_no_arch =
      why->lookup->lib->arch && !why->lookup->device.facts.is_gpu; /* the cpu device: only of a model can it be */
  if (!why->lookup->described && !has_no_arch)
    out->advice = "tune it here", out->tune = true;
  else if (has_no_arch || lookup_predicts(why->lookup))
    out->advice = "tune it by prediction", out->tune = true;
}

/* Full text of the variant meant; NULL: it is none, and out says why. */
static const char *name_variant(struct why *why, const char *text, cugen_why *out) {
  const struct lookup *l = why->lookup;
  uint64_t index;
  cugen_error reason;
  if (space_find(l->space, text, &index, &reason)) {
    out->verdict =
        keepf(why, "'%s' is no variant of this kernel for this problem on this device: %s", text, reason.message);
    out->advice = "'cugen space' says which rule removes how many";
    return NULL;
  }
  struct text name = {0};
  const struct variant variant = lookup_variant(l, index);
  variant_print(&variant, &name);
  return keep(why, text_take(&name));
}

static const char *say_selected(struct why *why, const struct selection *selection, const char *verdict) {
  struct text name = {0};
  const struct variant variant = lookup_variant(why->lookup, selection->index);
  variant_print(&variant, &name);
  const char *said = NULL;
  if (selection->how == CUGEN_PLAN_NEAR)
    said = keepf(why, "%s. By the config's policy (%s) a plan takes '%s', the best for %s", verdict, why->policy,
                 text_get(&name), text_get(&selection->problem));
  else if (selection->how == CUGEN_PLAN_PORTFOLIO)
    said = keepf(why, "%s. By the config's policy (%s) a plan takes '%s', which the portfolio has for such sizes",
                 verdict, why->policy, text_get(&name));
  else
    said = keepf(why, "%s. A plan takes the %s, '%s'", verdict,
                 api_is_predicted(selection) ? "model's choice, predicted"
                 : selection->named          ? "first that the config names as good"
                                             : "first valid variant",
                 text_get(&name));
  if (name.failed) why->failed = true;
  text_free(&name);
  return said;
}

/* What a plan takes all the same. */
static int say_instead(struct why *why, cugen_why *out, cugen_error *err) {
  struct selection selection;
  cugen_error reason;
  int status = api_select(why->lookup, 0, false, &selection, &reason);
  if (!status) {
    out->verdict = say_selected(why, &selection, out->verdict);
  } else if (status == CUGEN_ERROR_EMPTY) {
    out->verdict = keepf(why, "%s. No variant is valid here: %s", out->verdict, reason.message);
    status = CUGEN_OK;
  }
  api_selection_free(&selection);
  return status ? error_copy(err, &reason) : CUGEN_OK;
}

static int explain_records(struct why *why, struct cache *cache, const struct cache_record *records, size_t count,
                           const char *variant, cugen_why *out, cugen_error *err) {
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

/* The record that a look-up takes, if there is one. */
static int find_hit(struct why *why, const struct cache_record *records, size_t count, const char *variant, bool *hit,
                    cugen_error *err) {
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
  if (!status && *hit) status = explain_own(why, variant ? records : &best.record, variant ? count : 1, variant, err);
  api_best_free(&best);
  return status;
}

static int explain_all(struct why *why, const char *text, cugen_why *out, cugen_error *err) {
  const struct cache_key key = lookup_key(why->lookup);
  struct cache *cache;
  struct cache_record *records;
  size_t count;
  bool hit = false;
  int status = lookup_space(why->lookup, err);
  if (!status) status = lookup_expander(why->lookup, err);
  if (!status) status = api_cache_to_read(why->lookup->lib, &cache, err);
  if (status) return status;
  const char *variant = text ? name_variant(why, text, out) : NULL;
  if (text && !variant) return CUGEN_OK;
  status = cache_load(cache, &key, &records, &count, err);
  if (!status) status = api_drop_others(why->lookup, records, &count, err);
  if (!status) status = find_hit(why, records, count, variant, &hit, err);
  if (!status && hit)
    say_hit(why, count, text != NULL, out);
  else if (!status)
    status = explain_records(why, cache, records, count, variant, out, err);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  return status;
}

int cugen_kernel_why(cugen_kernel *k, const char *variant, cugen_why *out, cugen_error *error) {
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  *out = (cugen_why){.verdict = "", .advice = ""};
  struct why *why = kept_renew(&k->why, sizeof *why, clear_why, error);
  if (!why) return CUGEN_ERROR_MEMORY;
  why->lookup = &k->lookup;
  why->policy = text_get(&k->policy);
  int status = explain_all(why, variant, out, error);
  if (!status && why->failed) status = error_memory(error);
  out->matches = why->matches;
  out->match_count = why->match_count;
  return status;
}
