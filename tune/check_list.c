/* Choosing problems and variants; see check_list.h. */
#include "check_list.h"

#include <stdlib.h>
#include <string.h>

#include "check_sample.h"

/* ---- Problems ---- */

bool check_list_fixed(const struct check_options *options, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < options->setting_count; i++)
    if (strncmp(options->settings[i], name, length) == 0 && options->settings[i][length] == '=') return true;
  return false;
}

/* A size that may vary: the config gives it another value for the check problem. */
static bool is_size(const struct tune_target *target, const struct check_options *options, size_t i) {
  const struct config_problem *p = &target->config->problems[i];
  return p->check.type == VALUE_INT && !p->listed && !check_list_fixed(options, p->name) &&
         target->problem->values[i].type == VALUE_INT && target->problem->values[i].integer > 3;
}

/* Whole tiles and more of them; less than one; more than the check problem's, and odd. */
enum shape { SHAPE_WHOLE, SHAPE_SMALL, SHAPE_LARGER, SHAPE_COUNT };

static int64_t shaped(enum shape shape, int64_t size) {
  enum { TILE = 64, LARGE = 1 << 12 };
  int64_t tile = TILE;
  while (tile > size) tile /= 2;
  switch (shape) {
  case SHAPE_WHOLE: return (size + tile - 1) / tile * tile + tile;
  case SHAPE_SMALL: return (size / 8) | 1;
  case SHAPE_LARGER: return size < LARGE ? (2 * size + 3) | 1 : size | 1;
  default: return size;
  }
}

struct problem *check_list_problem(struct check_list *list, const struct problem *base, cugen_error *err) {
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
  *made = (struct check_problem){.problem = {.values = values, .count = base->count}};
  return &made->problem;
}

static int add_sizes(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                     cugen_error *err) {
  bool vary = false;
  for (size_t i = 0; i < target->problem->count; i++) vary |= is_size(target, options, i);
  for (enum shape shape = 0; shape < SHAPE_COUNT && vary; shape++) {
    struct problem *p = check_list_problem(list, target->problem, err);
    if (!p) return CUGEN_ERROR_MEMORY;
    for (size_t i = 0; i < p->count; i++)
      if (is_size(target, options, i)) p->values[i] = value_int(shaped(shape, p->values[i].integer));
  }
  list->size_count = list->problem_count;
  return CUGEN_OK;
}

/* One for each other value of what has a list of them: types, layouts. */
static int add_others(const struct tune_target *target, const struct check_options *options, struct check_list *list,
                      cugen_error *err) {
  for (size_t i = 0; i < target->problem->count; i++) {
    const struct config_problem *listed = &target->config->problems[i];
    if (!listed->listed || check_list_fixed(options, listed->name)) continue;
    for (size_t v = 0; v < listed->value_count; v++) {
      if (value_equal(listed->values[v], target->problem->values[i])) continue;
      struct problem *p = check_list_problem(list, target->problem, err);
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
  return space_open(target->config, &p->problem, &target->device->facts, &p->space, err);
}

static int make_problems(const struct tune_target *target, const struct check_options *options,
                         struct check_list *list, cugen_error *err) {
  if (!check_list_problem(list, target->problem, err)) return CUGEN_ERROR_MEMORY;
  int status = add_sizes(target, options, list, err);
  bool values = !options->variant && !options->all && !options->sample && !options->branches;
  if (!status && values) status = add_others(target, options, list, err);
  for (size_t i = 0; i < list->problem_count && !status; i++)
    status = check_list_open(target, &list->problems[i], err);
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

int check_list_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err) {
  if (list->run_count == list->room) {
    const size_t room = list->room ? list->room * 2 : 64;
    struct check_run *grown = realloc(list->runs, room * sizeof *grown);
    if (!grown) return error_memory(err);
    list->runs = grown;
    list->room = room;
  }
  list->runs[list->run_count++] = (struct check_run){problem, index, list->group_count};
  return CUGEN_OK;
}

/* The variant on the first problem, and where it is valid on the others: on all sizes, or on the `only`-th. */
int check_list_variant(struct check_list *list, uint64_t index, size_t only, cugen_error *err) {
  struct variant variant;
  struct text text = {0};
  struct value *values = calloc(space_max_tunables(list->problems[0].space) + 1, sizeof *values);
  int status = values ? check_list_run(list, 0, index, err) : error_memory(err);
  if (values) {
    space_variant(list->problems[0].space, index, &variant, values);
    variant_print(&variant, &text);
  }
  for (size_t p = 1; p < list->size_count && !status; p++) {
    uint64_t there;
    cugen_error ignored;
    if (only && p != only) continue;
    if (space_find(list->problems[p].space, text_get(&text), &there, &ignored) == CUGEN_OK)
      status = check_list_run(list, p, there, err);
  }
  list->group_count++;
  text_free(&text);
  free(values);
  return status;
}

/* The values in which a problem differs from the first. */
static void add_sizes_text(const struct tune_target *target, const struct check_list *list, size_t problem,
                           const struct problem *from, const char *before, struct text *out) {
  const struct problem *first = &list->problems[0].problem, *other = &list->problems[problem].problem;
  for (size_t i = 0; i < first->count; i++) {
    if (value_equal(first->values[i], other->values[i])) continue;
    text_addf(out, " %s%s=", before, target->config->problems[i].name);
    value_print(from->values[i], out);
  }
}

/* The variant is not on the check problem: sizes that have it, if there are. */
static void suggest_sizes(const struct tune_target *target, const struct check_list *list, const char *variant,
                          cugen_error *err) {
  struct text text = {0};
  uint64_t there;
  size_t p = 1;
  while (p < list->size_count && !space_look_up(list->problems[p].space, variant, &there)) p++;
  if (p >= list->size_count) return;
  text_add(&text, "; the problem here is the config's check problem,");
  add_sizes_text(target, list, p, &list->problems[0].problem, "", &text);
  text_add(&text, "; it can be checked with");
  add_sizes_text(target, list, p, &list->problems[p].problem, "-s ", &text);
  if (!text.failed) error_append(err, "%s", text_get(&text));
  text_free(&text);
}

static int add_named(const struct tune_target *target, struct check_list *list, const char *text, cugen_error *err) {
  uint64_t index = 0;
  int status = space_find(list->problems[0].space, text, &index, err);
  if (status) suggest_sizes(target, list, text, err);
  return status ? status : check_list_variant(list, index, 0, err);
}

int check_list_make(const struct tune_target *target, const struct check_options *options, struct check_list *out,
                    cugen_error *err) {
  *out = (struct check_list){0};
  uint64_t state = options->seed;
  int status = make_problems(target, options, out, err);
  if (status) return status;
  const uint64_t valid = space_valid(out->problems[0].space);
  if (!valid) return space_explain_empty(out->problems[0].space, err);
  if (options->variant) return add_named(target, out, options->variant, err);
  if (options->branches) return check_sample_branches(out, target, options, &state, err);
  if (!options->all && !options->sample) return check_sample_values(out, &state, err);
  const uint64_t wanted = options->all || options->sample > valid ? valid : options->sample;
  for (uint64_t i = 0; i < wanted && !status; i++)
    status = check_list_variant(out, wanted == valid ? i : check_draw(&state) % valid, 0, err);
  return status;
}

static void drop_problem(struct check_problem *p) {
  space_close(p->space);
  problem_free(&p->problem);
  free(p->text);
}

void check_list_drop(struct check_list *list) {
  drop_problem(&list->problems[--list->problem_count]);
}

void check_list_free(struct check_list *list) {
  for (size_t i = 0; i < list->problem_count; i++) drop_problem(&list->problems[i]);
  free(list->problems);
  free(list->runs);
  *list = (struct check_list){0};
}
