/* Choosing problems and variants; see check_list.h. */
#include "check_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check_sample.h"
#include "check_sizes.h"

/* ---- Problems ---- */

bool check_list_fixed(const struct check_options *options, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < options->setting_count; i++)
    if (strncmp(options->settings[i], name, length) == 0 && options->settings[i][length] == '=') return true;
  return false;
}

struct problem *check_list_problem(struct check_list *list, size_t family, const struct problem *base,
                                   cugen_error *err) {
  struct check_problem *grown = realloc(list->problems, (list->problem_count + 1) * sizeof *grown);
  struct value *values = calloc(base->count + 1, sizeof *values);
  if (grown) list->problems = grown;
  if (!grown || !values) {
    free(values);
    error_memory(err);
    return NULL;
  }
  memcpy(values, base->values, base->count * sizeof *values);
  struct check_problem *made = &list->problems[list->problem_count++];
  *made = (struct check_problem){.problem = {.values = values, .count = base->count}, .family = family};
  return &made->problem;
}

/* One for each other value of what has a list of them: types, layouts. */
static int add_others(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                      size_t family, cugen_error *err) {
  const struct problem base = list->problems[list->families[family].first].problem;
  for (size_t i = 0; i < base.count; i++) {
    const struct config_problem *listed = &target->config->problems[i];
    if (!listed->listed || check_list_fixed(options, listed->name)) continue;
    for (size_t v = 0; v < listed->value_count; v++) {
      if (value_equal(listed->values[v], base.values[i])) continue;
      struct problem *p = check_list_problem(list, family, &base, err);
      if (!p) return CUGEN_ERROR_MEMORY;
      p->values[i] = listed->values[v];
    }
  }
  return CUGEN_OK;
}

int check_list_open(const struct tune_target *target, struct check_problem *p, cugen_error *err) {
  struct text text = {0};
  problem_print(target->config, &p->problem, &text);
  p->text = text_take(&text);
  if (!p->text) return error_memory(err);
  return space_open_within(target->config, &p->problem, &target->device->facts, target->filter, &p->space, err);
}

/* ---- Families ---- */

static bool same_values(const struct problem *a, const struct problem *b) {
  size_t i = 0;
  while (i < a->count && value_equal(a->values[i], b->values[i])) i++;
  return i == a->count;
}

/* The family of the owner's check { }, NULL: of the kernel's; one that is there already has the same values. */
static int add_family(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                      const struct config_implementation *owner, size_t *out, cugen_error *err) {
  const size_t number = list->family_count, first = list->problem_count;
  struct problem *base = check_list_problem(list, number, target->problem, err);
  if (!base) return CUGEN_ERROR_MEMORY;
  for (size_t i = 0; owner && i < base->count; i++)
    if (owner->check[i].type != VALUE_NIL && !check_list_fixed(options, target->config->problems[i].name))
      base->values[i] = owner->check[i];
  for (*out = 0; *out < number; ++*out) {
    if (!same_values(base, &list->problems[list->families[*out].first].problem)) continue;
    check_list_drop(list);
    return CUGEN_OK;
  }
  list->families[list->family_count++] = (struct check_family){.owner = owner, .first = first, .count = 1};
  const int status = check_list_open(target, &list->problems[first], err);
  return status ? status : check_sizes_add(target, options, list, number, err);
}

/* The implementation that a variant's text names. */
static bool is_named(const char *variant, const struct config_implementation *implementation) {
  const size_t length = strcspn(variant, " ");
  return strncmp(variant, implementation->name, length) == 0 && !implementation->name[length];
}

/* Of the named variant only its own. */
static int make_families(const struct tune_target *target, const struct check_options *options,
                         struct check_list *list, cugen_error *err) {
  const struct config *config = target->config;
  const struct config_implementation *named = NULL;
  list->families = calloc(config->implementation_count + 1, sizeof *list->families);
  list->family_of = calloc(config->implementation_count + 1, sizeof *list->family_of);
  if (!list->families || !list->family_of) return error_memory(err);
  for (size_t i = 0; i < config->implementation_count && options->variant; i++)
    if (is_named(options->variant, &config->implementations[i])) named = &config->implementations[i];
  size_t ignored;
  int status = add_family(target, options, list, named && named->check ? named : NULL, &ignored, err);
  for (size_t i = 0; i < config->implementation_count && !options->variant && !status; i++)
    if (config->implementations[i].check)
      status = add_family(target, options, list, &config->implementations[i], &list->family_of[i], err);
  return status;
}

static int make_problems(const struct tune_target *target, const struct check_options *options,
                         struct check_list *list, cugen_error *err) {
  int status = make_families(target, options, list, err);
  bool values = !options->variant && !options->all && !options->sample && !options->branches;
  for (size_t f = 0; f < list->family_count && values && !status; f++)
    status = add_others(target, options, list, f, err);
  for (size_t i = 0; i < list->problem_count && !status; i++)
    if (!list->problems[i].space) status = check_list_open(target, &list->problems[i], err);
  return status;
}

/* ---- Variants ---- */

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t check_draw(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int add_run(struct check_list *list, const struct check_run *run, cugen_error *err) {
  if (list->run_count == list->room) {
    const size_t room = list->room ? list->room * 2 : 64;
    struct check_run *grown = realloc(list->runs, room * sizeof *grown);
    if (!grown) return error_memory(err);
    list->runs = grown;
    list->room = room;
  }
  list->runs[list->run_count++] = *run;
  return CUGEN_OK;
}

static int print_variant(const struct space *space, uint64_t index, struct text *out, cugen_error *err) {
  struct variant variant;
  struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
  if (!values) return error_memory(err);
  space_variant(space, index, &variant, values);
  variant_print(&variant, out);
  free(values);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

int check_list_print(const struct check_list *list, const struct check_run *run, struct text *out, cugen_error *err) {
  return print_variant(list->problems[run->problem].space, run->index, out, err);
}

int check_list_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err) {
  const size_t first = list->families[list->problems[problem].family].first;
  struct text text = {0};
  uint64_t there;
  int status = print_variant(list->problems[problem].space, index, &text, err);
  if (!status) {
    struct check_run run = {.problem = problem, .index = index};
    run.text = hash_next(0, text_get(&text), text.length);
    run.elsewhere = problem != first && !space_look_up(list->problems[first].space, text_get(&text), &there);
    status = add_run(list, &run, err);
  }
  text_free(&text);
  return status;
}

static int by_text(const void *a, const void *b) {
  const struct check_run *x = *(const struct check_run *const *)a, *y = *(const struct check_run *const *)b;
  return (x->text > y->text) - (x->text < y->text);
}

static int number_variants(struct check_list *list, cugen_error *err) {
  struct check_run **sorted = calloc(list->run_count + 1, sizeof *sorted);
  if (!sorted) return error_memory(err);
  for (size_t i = 0; i < list->run_count; i++) sorted[i] = &list->runs[i];
  qsort(sorted, list->run_count, sizeof *sorted, by_text);
  for (size_t i = 0; i < list->run_count; i++) {
    list->variant_count += i == 0 || sorted[i]->text != sorted[i - 1]->text;
    sorted[i]->variant = list->variant_count - 1;
  }
  free(sorted);
  return CUGEN_OK;
}

int check_list_variant(struct check_list *list, size_t number, uint64_t index, size_t only, cugen_error *err) {
  const struct check_family *family = &list->families[number];
  struct text text = {0};
  int status = check_list_run(list, family->first, index, err);
  if (!status) status = print_variant(list->problems[family->first].space, index, &text, err);
  for (size_t p = 1; p < family->count && !status; p++) {
    uint64_t there;
    cugen_error ignored;
    if (only && p != only) continue;
    if (space_find(list->problems[family->first + p].space, text_get(&text), &there, &ignored) == CUGEN_OK)
      status = check_list_run(list, family->first + p, there, err);
  }
  text_free(&text);
  return status;
}

/* The settings in which the problem differs from `first`, as `from` has them. */
static void add_sizes_text(const struct tune_target *target, const struct problem *first, const struct problem *other,
                           const struct problem *from, const char *before, struct text *out) {
  for (size_t i = 0; i < first->count; i++) {
    if (value_equal(first->values[i], other->values[i])) continue;
    text_addf(out, " %s%s=", before, target->config->problems[i].name);
    value_print(from->values[i], out);
  }
}

/* Of the family's sizes the first that has the variant; NULL: none. */
static const struct problem *size_with(const struct check_list *list, const struct check_family *family,
                                       const char *variant) {
  uint64_t there;
  for (size_t p = family->first + 1; p < family->first + family->count; p++)
    if (space_look_up(list->problems[p].space, variant, &there)) return &list->problems[p].problem;
  return NULL;
}

void check_list_suggest(const struct tune_target *target, const struct check_list *list, size_t number,
                        const char *variant, const char *before, struct text *out) {
  const struct check_family *family = &list->families[number];
  const struct problem *first = &list->problems[family->first].problem, *other = size_with(list, family, variant);
  if (!other) return;
  text_add(out, before);
  add_sizes_text(target, first, other, other, "-s ", out);
}

/* The variant is not on the check problem: sizes that have it, if there are. */
static void suggest_sizes(const struct tune_target *target, const struct check_list *list, const char *variant,
                          cugen_error *err) {
  struct text text = {0};
  const struct problem *first = &list->problems[list->families[0].first].problem,
                       *other = size_with(list, &list->families[0], variant);
  if (!other) return;
  text_add(&text, "; the problem here is the config's check problem,");
  add_sizes_text(target, first, other, first, "", &text);
  check_list_suggest(target, list, 0, variant,
                     "; it can be checked with a check { ... } of its own in the config, or with", &text);
  if (!text.failed) error_append(err, "%s", text_get(&text));
  text_free(&text);
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

static int add_named(const struct tune_target *target, struct check_list *list, const char *text, cugen_error *err) {
  uint64_t index = 0;
  int status = space_find(list->problems[0].space, text, &index, err);
  if (status) suggest_sizes(target, list, text, err);
  return status ? status : check_list_variant(list, 0, index, 0, err);
}

static const struct space_implementation *at_home(const struct check_list *list, size_t implementation,
                                                  size_t *count) {
  const struct check_family *family = &list->families[list->family_of[implementation]];
  return &space_implementations(list->problems[family->first].space, count)[implementation];
}

uint64_t check_list_valid(const struct check_list *list) {
  size_t count = 1;
  uint64_t valid = 0;
  for (size_t i = 0; i < count; i++) valid += at_home(list, i, &count)->valid;
  return valid;
}

/* The number-th of all. */
static int add_numbered(struct check_list *list, uint64_t number, cugen_error *err) {
  size_t i = 0, count;
  const struct space_implementation *implementation = at_home(list, i, &count);
  for (; number >= implementation->valid; implementation = at_home(list, ++i, &count))
    number -= implementation->valid;
  return check_list_variant(list, list->family_of[i], implementation->first + number, 0, err);
}

static int choose(const struct tune_target *target, const struct check_options *options, struct check_list *out,
                  cugen_error *err) {
  uint64_t state = options->seed;
  int status = make_problems(target, options, out, err);
  if (status) return status;
  const uint64_t valid = check_list_valid(out);
  if (!valid) return space_explain_empty(out->problems[0].space, err);
  if (options->variant) return add_named(target, out, options->variant, err);
  if (options->branches) return check_sample_branches(out, target, options, &state, err);
  if (!options->all && !options->sample) return check_sample_values(out, &state, err);
  const uint64_t wanted = options->all || options->sample > valid ? valid : options->sample;
  for (uint64_t i = 0; i < wanted && !status; i++)
    status = add_numbered(out, wanted == valid ? i : check_draw(&state) % valid, err);
  return status;
}

int check_list_make(const struct tune_target *target, const struct check_options *options, struct check_list *out,
                    cugen_error *err) {
  *out = (struct check_list){0};
  const int status = choose(target, options, out, err);
  return status ? status : number_variants(out, err);
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
