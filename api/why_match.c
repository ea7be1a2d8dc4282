/* Compares one record with the request of a look-up: the fields that are equal, those that differ,
   and those that decide. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/model/described.h"
#include "why_match.h"

/* ---- Texts ---------------------------------------------------------------------------------- */

void why_clear(void *data) {
  struct why *why = data;
  array_free_texts(why->strings, why->string_count);
  api_prediction_key_free(&why->predictions);
}

const char *why_keep(struct why *why, char *string) {
  if (string && ARRAY_ROOM(why->strings, why->string_count))
    return why->strings[why->string_count++] = string;
  free(string);
  why->failed = true;
  return "";
}

const char *why_keepf(struct why *why, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  return why_keep(why, text_take(&text));
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void why_match_add_row(struct why *why, struct why_rows *match, const char *field,
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
  why_match_add_row(why, match, field, wanted, found,
                    strcmp(wanted, found) ? CUGEN_WHY_DIFFERS : CUGEN_WHY_SAME, true);
}

/* Shows eight digits of a hash, which suffice to tell hashes apart. */
static void add_hash(struct why *why, struct why_rows *match, const char *field, struct hash wanted,
                     struct hash found, bool decides) {
  bool known = wanted.hex[0] && found.hex[0];
  cugen_why_state state = !known                          ? CUGEN_WHY_UNKNOWN
                          : strcmp(wanted.hex, found.hex) ? CUGEN_WHY_DIFFERS
                                                          : CUGEN_WHY_SAME;
  why_match_add_row(why, match, field, why_keepf(why, "%.8s", wanted.hex),
                    why_keepf(why, "%.8s", found.hex), state, decides);
}

static void why_match_add_version(struct why *why, struct why_rows *match, const char *field,
                                  int wanted, int found) {
  const char *texts[2];
  const int versions[2] = {wanted, found};
  for (int i = 0; i < 2; i++)
    texts[i] =
        versions[i] ? why_keepf(why, "%d.%d", versions[i] / 1000, versions[i] % 1000 / 10) : "none";
  why_match_add_row(why, match, field, texts[0], texts[1],
                    wanted == found ? CUGEN_WHY_SAME : CUGEN_WHY_DIFFERS, false);
}

/* ---- Problems, value by value --------------------------------------------------------------- */

static const char *why_match_value_of(struct why *why, const struct setting *setting) {
  size_t length;
  const char *value = setting_value(setting, &length);
  return why_keepf(why, "%.*s", (int)length, value);
}

/* Adds a row for each setting of `from`, with the setting of the same name in `other`; new_only:
   only for settings that `other` lacks. lacks: the parameters that the record lacks. */
static void why_match_add_settings(struct why *why, struct why_rows *match, const char *from,
                                   const char *other, uint64_t lacks, bool new_only) {
  static const char none[] = "not declared";
  struct setting setting, partner;
  for (; setting_next(&from, &setting); lacks >>= 1) {
    const bool has = settings_find(other, &setting, &partner);
    if (new_only && has) continue;
    const char *name = why_keepf(why, "%.*s", (int)setting.name, setting.text),
               *mine = why_match_value_of(why, &setting);
    const char *theirs = has ? why_match_value_of(why, &partner) : none;
    if (lacks & 1)
      why_match_add_row(why, match, name, why_keepf(why, "%s (the default)", mine), none,
                        CUGEN_WHY_DIFFERS, false);
    else
      add_texts(why, match, name, new_only ? theirs : mine, new_only ? mine : theirs);
  }
}

size_t why_settings_that_differ(const char *a, const char *b) {
  struct setting setting;
  size_t count = 0;
  while (setting_next(&a, &setting)) count += !settings_have(b, &setting);
  return count;
}

/* ---- Options -------------------------------------------------------------------------------- */

const char *why_wanted_options(struct why *why, const struct cache_space *space) {
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
  const char *reason = record->reason ? record->reason : "";
  if (record->outcome == CUGEN_OUTCOME_UNPREDICTED)
    return why_keepf(why, "the model has no prediction of it, and it is not tried again: %.*s",
                     (int)strcspn(reason, "\n"), reason);
  return why_keepf(why, "it is remembered that it failed, and it is not tried again: %s%s%.*s",
                   outcome_text((int)record->outcome), *reason ? ": " : "",
                   (int)strcspn(reason, "\n"), reason);
}

int why_explain(struct why *why, const struct cache_space *space, const struct cache_record *record,
                cugen_error *err) {
  struct why_rows *match = &why->details[why->match_count];
  struct judgement judgement;
  const char *problem = text_get(&why->lookup->problem_text);
  add_texts(why, match, "kernel", why->lookup->config->name, space->config);
  add_texts(why, match, "device", lookup_key(why->lookup).device, space->device);
  add_texts(why, match, "options", why_wanted_options(why, space), space->options);
  why_match_add_settings(why, match, problem, space->problem, record->lacks, false);
  why_match_add_settings(why, match, space->problem, problem, 0, true);
  const char *elsewhere = list_fields(why, match, CUGEN_WHY_DIFFERS);
  int status = api_judge(why->lookup, record, &judgement, err);
  if (status) return status;
  bool gone = judgement.how == JUDGED_GONE;
  why_match_add_row(why, match, "variant", gone ? "not in the space" : record->variant,
                    record->variant, gone ? CUGEN_WHY_DIFFERS : CUGEN_WHY_SAME, true);
  if (!*elsewhere) compare_parts(why, match, &judgement, record);
  const char *verdict = *elsewhere ? why_keepf(why, "it is no hit: it differs in %s", elsewhere)
                                   : say_judgement(why, match, &judgement, record);
  why_match_add_version(why, match, "driver", why->lookup->device.driver_version,
                        record->driver_version);
  why_match_add_version(why, match, "NVRTC", why->lookup->nvrtc_version, record->nvrtc_version);
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
