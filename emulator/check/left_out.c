/* Reporting what a check leaves out; see left_out.h. */
#include "left_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "findings.h"
#include "gen/config/evaluate.h"

struct telling {
  const struct tune_target *target;
  const struct check_list *list;
  /* the space of options->whole; NULL: none was given, or its space could not be opened */
  struct space *whole;
  struct text whole_text;
  cugen_check *check;
  cugen_error *err;
};

struct reason { /* a reason that rules out variants of an implementation */
  char *first, *why;
  size_t variants;
};

static const struct check_problem *left_out_home_of(const struct telling *t,
                                                    size_t implementation) {
  return &t->list->problems[t->list->families[t->list->family_of[implementation]].first];
}

static const struct space_implementation *left_out_part_of(const struct space *space, size_t i) {
  size_t count;
  return &space_implementations(space, &count)[i];
}

/* Adds a skip. what: the first of the skipped variants, an implementation, or check_left_wide_name.
   Frees the reason. */
static int tell(const struct telling *t, const char *what, size_t variants, struct text *why) {
  const size_t number = t->list->variant_count + t->check->skip_count;
  cugen_check_skip *s = why->failed ? NULL : skip_new(t->check, what, number, text_get(why));
  text_free(why);
  if (!s) return error_memory(t->err);
  s->detail->variants.count = variants;
  return CUGEN_OK;
}

/* Appends advice on how to check the variant. */
static void add_way_out(const struct telling *t, size_t implementation, const char *variant,
                        struct text *out) {
  text_add(out, "; to check it give the implementation a check { ... } of its own");
  const size_t length = out->length;
  check_list_suggest(t->target, t->list, t->list->family_of[implementation], variant, ", or use",
                     out);
  if (out->length == length) text_add(out, ", or name sizes that it takes");
}

/* ---- Variants ------------------------------------------------------------------------------- */

static int add_reason(const struct telling *t, const char *variant, const char *by,
                      struct reason **reasons, size_t *count) {
  for (size_t i = 0; i < *count; i++)
    if (strcmp((*reasons)[i].why, by) == 0) return (*reasons)[i].variants++, CUGEN_OK;
  if (!ARRAY_ROOM(*reasons, *count)) return error_memory(t->err);
  struct reason *reason = &(*reasons)[(*count)++];
  *reason = (struct reason){strdup(variant), strdup(by), 1};
  return reason->first && reason->why ? CUGEN_OK : error_memory(t->err);
}

/* Counts the variants that the space of the family's first problem lacks, with the reasons. */
static int find_reasons(const struct telling *t, size_t i, struct reason **reasons, size_t *count) {
  const struct space_implementation *whole = left_out_part_of(t->whole, i);
  const struct space *home = left_out_home_of(t, i)->space;
  int status = CUGEN_OK;
  for (uint64_t v = 0; v < whole->valid && !status; v++) {
    struct text text = {0}, rules = {0};
    cugen_error why = {0};
    uint64_t ignored;
    status = check_variant_print(t->whole, whole->first + v, &text, t->err);
    if (!status && !space_look_up(home, text_get(&text), &ignored) &&
        space_find_ruled_out(home, text_get(&text), &ignored, &rules, &why))
      status = add_reason(t, text_get(&text), rules.length ? text_get(&rules) : why.message,
                          reasons, count);
    text_free(&text);
    text_free(&rules);
  }
  return status;
}

/* Reports variants of the i-th implementation that are valid on options->whole, but not on the
   first problem of its family, once for each reason. */
static int tell_variants(const struct telling *t, size_t i) {
  struct reason *reasons = NULL;
  size_t count = 0;
  int status = find_reasons(t, i, &reasons, &count);
  for (size_t r = 0; r < count && !status; r++) {
    struct text why = {0};
    text_addf(&why, "ruled out on the check problem, %s, by %s, but not on %s",
              left_out_home_of(t, i)->text, reasons[r].why, text_get(&t->whole_text));
    add_way_out(t, i, reasons[r].first, &why);
    status = tell(t, reasons[r].first, reasons[r].variants, &why);
  }
  for (size_t r = 0; r < count; r++) {
    free(reasons[r].first);
    free(reasons[r].why);
  }
  free(reasons);
  return status;
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Collects the tunables' values in the runs of the i-th implementation. */
static int find_covered(const struct telling *t, size_t i, struct check_covered *out) {
  for (size_t r = 0; r < t->list->run_count; r++) {
    const struct check_run *run = &t->list->runs[r];
    const struct space *space = t->list->problems[run->problem].space;
    const struct space_implementation *one = left_out_part_of(space, i);
    if (run->index < one->first || run->index >= one->first + one->valid) continue;
    struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
    struct variant variant;
    if (!values) return error_memory(t->err);
    space_variant(space, run->index, &variant, values);
    check_covers_more(&variant, out);
    free(values);
  }
  return CUGEN_OK;
}

static int tell_value(const struct telling *t, size_t i, const struct variant *variant) {
  struct text text = {0}, why = {0};
  variant_print(variant, &text);
  text_addf(&why,
            "has a value that no variant checked has: %s rules it out, and so do the other sizes "
            "that were checked",
            left_out_home_of(t, i)->text);
  add_way_out(t, i, text_get(&text), &why);
  why.failed |= text.failed;
  const int status = tell(t, text_get(&text), 1, &why);
  text_free(&text);
  return status;
}

/* Looks at up to DRAWS variants of the i-th implementation on options->whole. Reports those with a
   value that no run and no earlier variant has. */
static int tell_values(const struct telling *t, size_t i) {
  enum { DRAWS = 4000 };
  const struct space_implementation *whole = left_out_part_of(t->whole, i);
  struct check_covered covered = {{0}};
  uint64_t state = 1;
  int status = find_covered(t, i, &covered);
  struct value *values = calloc(space_max_tunables(t->whole) + 1, sizeof *values);
  if (!status && !values) status = error_memory(t->err);
  for (uint64_t v = 0; v < DRAWS && v < whole->valid && !status; v++) {
    struct variant variant;
    const uint64_t index =
        whole->first + (whole->valid <= DRAWS ? v : random_next(&state) % whole->valid);
    space_variant(t->whole, index, &variant, values);
    if (check_covers_more(&variant, &covered)) status = tell_value(t, i, &variant);
  }
  free(values);
  return status;
}

/* ---- Implementations ------------------------------------------------------------------------ */

/* Returns true if --where excludes variants of the implementation, --implementation does not name
   it, or its library cannot be used. */
static bool is_unwanted(const struct telling *t, const struct space_implementation *one) {
  if (one->unlisted) return true;
  const cugen_filter *filter = t->target->filter;
  if (filter && filter->implementation &&
      !space_list_means(filter->implementation, one->implementation->name))
    return true;
  for (size_t i = 0; i < one->rule_count; i++)
    if (one->rules[i].kind == CUGEN_RESTRICTION_FILTER && one->rules[i].removed) return true;
  return false;
}

static void left_out_add_rules(const struct space_implementation *one, struct text *out) {
  text_addf(out, "of %llu combination%s", (unsigned long long)one->cartesian,
            one->cartesian == 1 ? "" : "s");
  const char *before = " ";
  for (size_t i = 0; i < one->rule_count; i++) {
    if (!one->rules[i].removed) continue;
    text_add(out, before);
    space_rule_print(&one->rules[i], out);
    text_addf(out, " rules out %llu", (unsigned long long)one->rules[i].removed);
    before = ", ";
  }
}

/* Reports an implementation without a valid variant on its check problem, unless it is unwanted. */
static int tell_implementation(const struct telling *t, size_t i) {
  const struct check_problem *home = left_out_home_of(t, i);
  const struct space_implementation *here = left_out_part_of(home->space, i);
  const char *name = here->implementation->name;
  struct text why = {0};
  const bool elsewhere = t->whole && left_out_part_of(t->whole, i)->valid > 0;
  if (is_unwanted(t, here) || here->valid) return CUGEN_OK;
  if (here->unmet)
    text_addf(&why, "%s:%d: requires \"%s\", which %s does not meet", here->unmet->line.path,
              here->unmet->line.number, here->unmet->text,
              elsewhere ? home->text : "this device or problem");
  else
    text_addf(&why, "no variant is valid on %s: ", home->text), left_out_add_rules(here, &why);
  if (elsewhere) add_way_out(t, i, name, &why);
  return tell(t, name, 1, &why);
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Appends why the implementation has no variant: the requirement that is not met, or the first rule
   that removes combinations. */
static void add_refusal(const struct space_implementation *one, struct text *out) {
  if (one->unmet) {
    text_addf(out, "%s:%d: requires \"%s\"", one->unmet->line.path, one->unmet->line.number,
              one->unmet->text);
    return;
  }
  for (size_t i = 0; i < one->rule_count; i++) {
    if (!one->rules[i].removed) continue;
    space_rule_print(&one->rules[i], out);
    return;
  }
}

/* Appends " n=33", the settings in which the problem differs from its family's first; for the
   first problem all settings. */
static void left_out_add_size(const struct telling *t, size_t number, struct text *out) {
  const struct check_problem *size = &t->list->problems[number];
  const struct check_family *family = &t->list->families[size->family];
  if (number == family->first)
    text_addf(out, " %s", size->text);
  else
    check_list_add_sizes(t->target, &family->base, &size->problem, &size->problem, "", out);
}

/* Returns true if the p-th problem is a size of the i-th implementation's family, on which a
   requirement or rule leaves no variant; `why` becomes that requirement or rule. */
static bool left_out_is_refused(const struct telling *t, size_t i, size_t p, struct text *why) {
  const struct check_problem *problem = &t->list->problems[p];
  text_clear(why);
  if (problem->family != t->list->family_of[i] || !check_list_sized(t->list, problem)) return false;
  if (left_out_part_of(problem->space, i)->valid) return false;
  add_refusal(left_out_part_of(problem->space, i), why);
  return why->length > 0;
}

/* Reports the sizes that the i-th implementation refuses for `reason`, naming up to FEW; nothing if
   a problem before the p-th has this reason. */
static int tell_refused(const struct telling *t, size_t i, size_t p, const char *reason) {
  enum { FEW = 4 };
  struct text why = {0}, other = {0};
  size_t count = 0;
  bool told = false;
  for (size_t q = 0; q < t->list->problem_count && !told; q++) {
    if (!left_out_is_refused(t, i, q, &other) || strcmp(text_get(&other), reason) != 0) continue;
    told = q < p;
    if (count < FEW) text_add(&why, count ? ";" : "does not take"), left_out_add_size(t, q, &why);
    count++;
  }
  if (count > FEW) text_addf(&why, " and %zu more", count - FEW);
  text_addf(&why, ": %s", reason);
  why.failed |= other.failed;
  text_free(&other);
  const char *name = t->target->config->implementations[i].name;
  if (!told || why.failed) return tell(t, name, 1, &why);
  text_free(&why);
  return CUGEN_OK;
}

/* Returns true if the implementation has variants on a size of its family. */
static bool takes_a_size(const struct telling *t, size_t i) {
  for (size_t p = 0; p < t->list->problem_count; p++) {
    const struct check_problem *problem = &t->list->problems[p];
    if (problem->family == t->list->family_of[i] && check_list_sized(t->list, problem) &&
        left_out_part_of(problem->space, i)->valid)
      return true;
  }
  return false;
}

/* Reports the sizes that the i-th implementation refuses, unless it refuses all or is unwanted. */
static int tell_sizes(const struct telling *t, size_t i) {
  struct text why = {0};
  int status = CUGEN_OK;
  if (!takes_a_size(t, i) || is_unwanted(t, left_out_part_of(left_out_home_of(t, i)->space, i)))
    return CUGEN_OK;
  for (size_t p = 0; p < t->list->problem_count && !status; p++)
    if (left_out_is_refused(t, i, p, &why)) status = tell_refused(t, i, p, text_get(&why));
  text_free(&why);
  return status;
}

const char check_left_wide_name[] = "index arithmetic in 32 bits";

int check_left_wide(const struct config *config, const struct problem *problem,
                    const struct device_facts *facts, struct text *out, cugen_error *err) {
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  cugen_error ignored;
  size_t widest = 0;
  if (config->shared_tunable_count) return CUGEN_OK;
  struct value *slots = calloc((size_t)config->first_tunable + 1, sizeof *slots);
  if (!slots) return error_memory(err);
  config_slots(config, problem, facts, slots);
  const bool wide =
      !config_arguments(config, slots, arguments, &ignored) && config_wide_index(config, arguments);
  free(slots);
  if (!wide) return CUGEN_OK;
  for (size_t i = 0; i < config->argument_count; i++)
    if (arguments[i].elements > arguments[widest].elements) widest = i;
  text_add(out, "on ");
  problem_print(config, problem, out);
  text_addf(out,
            ", '%s' has %lld elements, which no index of 32 bits reaches, and no size that was "
            "checked has so many: "
            "see that indices are computed in index_t or long long",
            arguments[widest].name, (long long)arguments[widest].elements);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

/* ---- All reports ---------------------------------------------------------------------------- */

static int open_whole(struct telling *t, const struct problem *whole) {
  cugen_error why;
  if (!whole) return CUGEN_OK;
  problem_print(t->target->config, whole, &t->whole_text);
  if (t->whole_text.failed) return error_memory(t->err);
  int status = space_open_within(t->target->config, whole, &t->target->device->facts,
                                 t->target->filter, t->target->stop, &t->whole, &why);
  /* t->whole stays NULL if the problem is impossible, for example */
  return status == CUGEN_ERROR_INTERRUPTED ? error_copy(t->err, &why) : CUGEN_OK;
}

int check_left_tell(const struct tune_target *target, const struct check_options *options,
                    const struct check_list *list, cugen_check *check, cugen_error *err) {
  struct telling t = {.target = target, .list = list, .check = check, .err = err};
  struct text wide = {0};
  int status = open_whole(&t, options->whole);
  if (!status && options->whole)
    status = check_left_wide(target->config, options->whole, &target->device->facts, &wide, err);
  if (!status && wide.length) status = tell(&t, check_left_wide_name, 1, &wide);
  text_free(&wide);
  for (size_t i = 0; i < target->config->implementation_count && !status; i++) {
    const bool ran = check_list_has_run(list, i);
    if (ran && !options->wanted.branches) status = tell_sizes(&t, i);
    if (status || options->wanted.variant) continue;
    if (!ran)
      status = tell_implementation(&t, i);
    else if (options->wanted.all && t.whole)
      status = tell_variants(&t, i);
    else if (!options->wanted.sample && !options->wanted.branches && t.whole)
      status = tell_values(&t, i);
  }
  space_close(t.whole);
  text_free(&t.whole_text);
  return status;
}
