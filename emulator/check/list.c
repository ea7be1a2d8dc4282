/* Problems, variants and runs; see list.h. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* ---- Problems ------------------------------------------------------------------------------- */

bool check_list_fixed(const struct check_options *options, const char *name) {
  for (size_t i = 0; i < options->setting_count; i++)
    if (setting_is_named(options->settings[i], name)) return true;
  return false;
}

struct problem *check_list_problem(struct check_list *list, size_t family,
                                   const struct problem *base, cugen_error *err) {
  struct value *values = calloc(base->count + 1, sizeof *values);
  if (!values || !ARRAY_ROOM(list->problems, list->problem_count)) {
    free(values);
    error_memory(err);
    return NULL;
  }
  memcpy(values, base->values, base->count * sizeof *values);
  struct check_problem *made = &list->problems[list->problem_count++];
  *made =
      (struct check_problem){.problem = {.values = values, .count = base->count}, .family = family};
  return &made->problem;
}

bool check_list_equal(const struct problem *problem, const struct value *values) {
  size_t i = 0;
  while (i < problem->count && value_equal(problem->values[i], values[i])) i++;
  return i == problem->count;
}

int check_list_open(const struct tune_target *target, struct check_problem *p, cugen_error *err) {
  struct text text = {0};
  problem_print(target->config, &p->problem, &text);
  p->text = text_take(&text);
  if (!p->text) return error_memory(err);
  return space_open_within(target->config, &p->problem, &target->device->facts, target->filter,
                           target->stop, &p->space, err);
}

/* ---- Variants ------------------------------------------------------------------------------- */

int check_variant_print(const struct space *space, uint64_t index, struct text *out,
                        cugen_error *err) {
  struct variant variant;
  struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
  if (!values) return error_memory(err);
  space_variant(space, index, &variant, values);
  variant_print(&variant, out);
  free(values);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

int check_list_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err) {
  const size_t first = list->families[list->problems[problem].family].first;
  struct text text = {0};
  uint64_t there;
  int status = check_variant_print(list->problems[problem].space, index, &text, err);
  if (!status) {
    struct check_run run = {.problem = problem, .index = index};
    run.text = hash_next(0, text_get(&text), text.length);
    run.elsewhere =
        problem != first && !space_look_up(list->problems[first].space, text_get(&text), &there);
    if (!ARRAY_ADD(list->runs, list->run_count, run)) status = error_memory(err);
  }
  text_free(&text);
  return status;
}

bool check_list_ran(const struct check_list *list, size_t problem, uint64_t index) {
  const size_t last = list->run_count;
  for (size_t i = last; i > 0 && list->runs[i - 1].text == list->runs[last - 1].text; i--)
    if (list->runs[i - 1].problem == problem && list->runs[i - 1].index == index) return true;
  return false;
}

int check_list_variant(struct check_list *list, size_t number, uint64_t index, size_t only,
                       cugen_error *err) {
  const struct check_family *family = &list->families[number];
  struct text text = {0};
  int status = check_list_run(list, family->first, index, err);
  if (!status) status = check_variant_print(list->problems[family->first].space, index, &text, err);
  for (size_t p = 1; p < family->count && !status; p++) {
    uint64_t there;
    cugen_error ignored;
    if (only && p != only) continue;
    if (space_find(list->problems[family->first + p].space, text_get(&text), &there, &ignored) ==
        CUGEN_OK)
      status = check_list_run(list, family->first + p, there, err);
  }
  text_free(&text);
  return status;
}

void check_list_add_sizes(const struct tune_target *target, const struct problem *first,
                          const struct problem *other, const struct problem *from,
                          const char *before, struct text *out) {
  for (size_t i = 0; i < first->count; i++) {
    if (value_equal(first->values[i], other->values[i])) continue;
    text_addf(out, " %s%s=", before, target->config->problems[i].name);
    value_print(from->values[i], out);
  }
}

/* Returns the first problem of the family, except the check problem, on which the variant is valid;
   NULL: none. */
static const struct problem *size_with(const struct check_list *list,
                                       const struct check_family *family, const char *variant) {
  uint64_t there;
  for (size_t p = family->first + 1; p < family->first + family->count; p++)
    if (space_look_up(list->problems[p].space, variant, &there)) return &list->problems[p].problem;
  return NULL;
}

void check_list_suggest(const struct tune_target *target, const struct check_list *list,
                        size_t number, const char *variant, const char *before, struct text *out) {
  const struct check_family *family = &list->families[number];
  const struct problem *first = &list->problems[family->first].problem,
                       *other = size_with(list, family, variant);
  if (!other) return;
  text_add(out, before);
  check_list_add_sizes(target, first, other, other, "-s ", out);
}

void check_list_explain(const struct tune_target *target, const struct check_list *list,
                        const char *variant, cugen_error *err) {
  struct text text = {0};
  const struct problem *first = &list->problems[list->families[0].first].problem,
                       *other = size_with(list, &list->families[0], variant);
  if (!other) return;
  text_add(&text, "; the problem here is the config's check problem,");
  check_list_add_sizes(target, first, other, first, "", &text);
  check_list_suggest(target, list, 0, variant,
                     "; it can be checked with a check { ... } of its own in the config, or with",
                     &text);
  if (!text.failed) error_append(err, "%s", text_get(&text));
  text_free(&text);
}

bool check_list_sized(const struct check_list *list, const struct check_problem *problem) {
  const struct check_family *family = &list->families[problem->family];
  const size_t number = (size_t)(problem - list->problems);
  return problem->around || (number >= family->first && number < family->first + family->count);
}

bool check_list_has_run(const struct check_list *list, size_t implementation) {
  for (size_t r = 0; r < list->run_count; r++) {
    const struct check_run *run = &list->runs[r];
    size_t count;
    const struct space_implementation *one =
        &space_implementations(list->problems[run->problem].space, &count)[implementation];
    if (run->index >= one->first && run->index < one->first + one->valid) return true;
  }
  return false;
}

bool check_covers_more(const struct variant *variant, struct check_covered *covered) {
  bool more = false;
  for (size_t t = 0; t < variant->implementation->tunable_count && t < 32; t++) {
    const struct config_tunable *tunable = &variant->implementation->tunables[t];
    for (size_t v = 0; v < tunable->value_count && v < 64; v++) {
      if (!value_equal(tunable->values[v], variant->values[t])) continue;
      more |= !(covered->values[t] >> v & 1);
      covered->values[t] |= UINT64_C(1) << v;
    }
  }
  return more;
}

const struct space_implementation *check_list_home(const struct check_list *list,
                                                   size_t implementation, size_t *count) {
  const struct check_family *family = &list->families[list->family_of[implementation]];
  return &space_implementations(list->problems[family->first].space, count)[implementation];
}

uint64_t check_list_valid(const struct check_list *list) {
  size_t count = 1;
  uint64_t valid = 0;
  for (size_t i = 0; i < count; i++) valid += check_list_home(list, i, &count)->valid;
  return valid;
}

static void drop_problem(struct check_problem *p) {
  space_close(p->space);
  problem_free(&p->problem);
  free(p->text);
  free(p->no_data);
}

void check_list_drop(struct check_list *list) {
  drop_problem(&list->problems[--list->problem_count]);
}

void check_list_free(struct check_list *list) {
  for (size_t i = 0; i < list->problem_count; i++) drop_problem(&list->problems[i]);
  free(list->problems);
  for (size_t i = 0; i < list->family_count; i++) sizes_close(&list->families[i].sizes);
  free(list->families);
  free(list->family_of);
  free(list->runs);
  for (size_t i = 0; i < list->kept_count; i++) {
    free(list->kept[i].setting);
    free(list->kept[i].why);
  }
  free(list->kept);
  *list = (struct check_list){0};
}
