/* Choosing problems and variants; see check_list.h. */
#include "check_list.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWS = 400, EACH_ELSEWHERE = 1 };

/* ---- Problems ---- */

static bool is_fixed(const struct check_options *options, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < options->setting_count; i++)
    if (strncmp(options->settings[i], name, length) == 0 && options->settings[i][length] == '=') return true;
  return false;
}

/* A size that may vary: the config gives it another value for the check problem. */
static bool is_size(const struct tune_target *target, const struct check_options *options, size_t i) {
  const struct config_problem *p = &target->config->problems[i];
  return p->check.type == VALUE_INT && !p->listed && !is_fixed(options, p->name) &&
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

static struct problem *add_problem(struct check_list *list, const struct problem *base, cugen_error *err) {
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
    struct problem *p = add_problem(list, target->problem, err);
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
    if (!listed->listed || is_fixed(options, listed->name)) continue;
    for (size_t v = 0; v < listed->value_count; v++) {
      if (value_equal(listed->values[v], target->problem->values[i])) continue;
      struct problem *p = add_problem(list, target->problem, err);
      if (!p) return CUGEN_ERROR_MEMORY;
      p->values[i] = listed->values[v];
    }
  }
  return CUGEN_OK;
}

static int open_spaces(const struct tune_target *target, struct check_list *list, cugen_error *err) {
  for (size_t i = 0; i < list->problem_count; i++) {
    struct check_problem *p = &list->problems[i];
    struct text text = {0};
    problem_print(target->config, &p->problem, &text);
    p->text = text_take(&text);
    if (!p->text) return error_memory(err);
    int status = space_open(target->config, &p->problem, &target->device->facts, &p->space, err);
    if (status) return status;
  }
  return CUGEN_OK;
}

static int make_problems(const struct tune_target *target, const struct check_options *options,
                         struct check_list *list, cugen_error *err) {
  if (!add_problem(list, target->problem, err)) return CUGEN_ERROR_MEMORY;
  int status = add_sizes(target, options, list, err);
  bool sample = !options->variant && !options->all && !options->sample;
  if (!status && sample) status = add_others(target, options, list, err);
  return status ? status : open_spaces(target, list, err);
}

/* ---- Variants ---- */

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int add_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err) {
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
static int add_variant(struct check_list *list, uint64_t index, size_t only, cugen_error *err) {
  struct variant variant;
  struct text text = {0};
  struct value *values = calloc(space_max_tunables(list->problems[0].space) + 1, sizeof *values);
  int status = values ? add_run(list, 0, index, err) : error_memory(err);
  if (values) {
    space_variant(list->problems[0].space, index, &variant, values);
    variant_print(&variant, &text);
  }
  for (size_t p = 1; p < list->size_count && !status; p++) {
    uint64_t there;
    cugen_error ignored;
    if (only && p != only) continue;
    if (space_find(list->problems[p].space, text_get(&text), &there, &ignored) == CUGEN_OK)
      status = add_run(list, p, there, err);
  }
  list->group_count++;
  text_free(&text);
  free(values);
  return status;
}

/* Values of tunables that a chosen variant of an implementation has: a bit each, as far as there is room. */
struct covered {
  uint64_t values[32];
};

/* Whether the variant has a value that none before it had. */
static bool covers_more(const struct variant *variant, struct covered *covered) {
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

/* Of one implementation: the first variant on all sizes, then those with a new value on the first and one other. */
static int add_covering(struct check_list *list, const struct space_implementation *implementation, uint64_t *state,
                        cugen_error *err) {
  struct covered covered = {{0}};
  struct value *values = calloc(space_max_tunables(list->problems[0].space) + 1, sizeof *values);
  if (!values) return error_memory(err);
  size_t taken = 0;
  int status = CUGEN_OK;
  for (uint64_t i = 0; i < DRAWS && i < implementation->valid && !status; i++) {
    struct variant variant;
    const bool few = implementation->valid <= DRAWS;
    const uint64_t index = implementation->first + (i == 0 || few ? i : draw(state) % implementation->valid);
    space_variant(list->problems[0].space, index, &variant, values);
    if (!covers_more(&variant, &covered)) continue;
    const size_t others = list->size_count - 1;
    status = add_variant(list, index, taken && others ? 1 + taken % others : 0, err);
    taken++;
  }
  free(values);
  return status;
}

/* Elsewhere (another type, another layout) some of each implementation. */
static int add_elsewhere(struct check_list *list, size_t problem, uint64_t *state, cugen_error *err) {
  size_t count;
  const struct space_implementation *all = space_implementations(list->problems[problem].space, &count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count; i++) {
    for (int n = 0; n < EACH_ELSEWHERE && all[i].valid && !status; n++) {
      status = add_run(list, problem, all[i].first + draw(state) % all[i].valid, err);
      list->group_count++;
    }
  }
  return status;
}

static int add_sample(struct check_list *list, uint64_t *state, cugen_error *err) {
  size_t count;
  const struct space_implementation *all = space_implementations(list->problems[0].space, &count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++) status = add_covering(list, &all[i], state, err);
  for (size_t p = list->size_count; p < list->problem_count && !status; p++)
    status = add_elsewhere(list, p, state, err);
  return status;
}

static int add_named(struct check_list *list, const char *text, cugen_error *err) {
  uint64_t index = 0;
  int status = space_find(list->problems[0].space, text, &index, err);
  return status ? status : add_variant(list, index, 0, err);
}

int check_list_make(const struct tune_target *target, const struct check_options *options, struct check_list *out,
                    cugen_error *err) {
  *out = (struct check_list){0};
  uint64_t state = options->seed;
  int status = make_problems(target, options, out, err);
  if (status) return status;
  const uint64_t valid = space_valid(out->problems[0].space);
  if (!valid) return space_explain_empty(out->problems[0].space, err);
  if (options->variant) return add_named(out, options->variant, err);
  if (!options->all && !options->sample) return add_sample(out, &state, err);
  const uint64_t wanted = options->all || options->sample > valid ? valid : options->sample;
  for (uint64_t i = 0; i < wanted && !status; i++)
    status = add_variant(out, wanted == valid ? i : draw(&state) % valid, 0, err);
  return status;
}

void check_list_free(struct check_list *list) {
  for (size_t i = 0; i < list->problem_count; i++) {
    space_close(list->problems[i].space);
    problem_free(&list->problems[i].problem);
    free(list->problems[i].text);
  }
  free(list->problems);
  free(list->runs);
  *list = (struct check_list){0};
}
