/* Drawing variants; see check_sample.h. */
#include "check_sample.h"

#include <stdlib.h>
#include <string.h>

#include "branches.h"

enum {
  DRAWS = 400,
  EACH_ELSEWHERE = 1,
  /* Of branches: variants of an implementation on the first problem and on each of the others, and how many others. */
  DRAWS_HERE = 100,
  DRAWS_ELSEWHERE = 6,
  PROBLEMS = 96
};

/* ---- Every value of every tunable ---- */

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
    const uint64_t index = implementation->first + (i == 0 || few ? i : check_draw(state) % implementation->valid);
    space_variant(list->problems[0].space, index, &variant, values);
    if (!covers_more(&variant, &covered)) continue;
    const size_t others = list->size_count - 1;
    status = check_list_variant(list, index, taken && others ? 1 + taken % others : 0, err);
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
      status = check_list_run(list, problem, all[i].first + check_draw(state) % all[i].valid, err);
      list->group_count++;
    }
  }
  return status;
}

int check_sample_values(struct check_list *list, uint64_t *state, cugen_error *err) {
  size_t count;
  const struct space_implementation *all = space_implementations(list->problems[0].space, &count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++) status = add_covering(list, &all[i], state, err);
  for (size_t p = list->size_count; p < list->problem_count && !status; p++)
    status = add_elsewhere(list, p, state, err);
  return status;
}

/* ---- Every branch of every template ---- */

struct branch_sample {
  struct check_list *list;
  const struct tune_target *target;
  struct branches *branches;
  struct expander *expander;
  uint64_t *state;
  size_t taken;
};

/* Whether its source takes a branch that none before took; one that does not expand has no source. */
static int takes_more(struct branch_sample *s, const struct check_problem *p, uint64_t index, bool *more,
                      cugen_error *err) {
  struct variant variant;
  struct kernel_spec spec = {0};
  struct value *values = calloc(space_max_tunables(p->space) + 1, sizeof *values);
  *more = false;
  if (!values) return error_memory(err);
  space_variant(p->space, index, &variant, values);
  int status =
      expand_variant(s->expander, s->target->config, &p->problem, &s->target->device->facts, &variant, &spec, err);
  if (status == CUGEN_OK) status = branches_take(s->branches, spec.source, more, err);
  kernel_spec_free(&spec);
  free(values);
  return status == CUGEN_ERROR_MEMORY ? status : CUGEN_OK;
}

/* On the first problem also on another size each time. */
static int add_taken(struct branch_sample *s, size_t problem, uint64_t index, cugen_error *err) {
  const size_t others = s->list->size_count - 1;
  const size_t only = others ? 1 + s->taken % others : 0;
  s->taken++;
  if (problem == 0) return check_list_variant(s->list, index, only, err);
  int status = check_list_run(s->list, problem, index, err);
  s->list->group_count++;
  return status;
}

static int add_branches(struct branch_sample *s, size_t problem, uint64_t draws, cugen_error *err) {
  size_t count;
  const struct space_implementation *all = space_implementations(s->list->problems[problem].space, &count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count; i++) {
    for (uint64_t n = 0; n < draws && n < all[i].valid && !status; n++) {
      const bool each = n == 0 || all[i].valid <= draws;
      const uint64_t index = all[i].first + (each ? n : check_draw(s->state) % all[i].valid);
      bool more;
      status = takes_more(s, &s->list->problems[problem], index, &more, err);
      if (!status && more) status = add_taken(s, problem, index, err);
    }
  }
  return status;
}

/* A listed value at random; a size as one of the sizes has it; a small count, such as of a batch, one more or one. */
static struct value other_value(const struct branch_sample *s, size_t i) {
  const struct config_problem *p = &s->target->config->problems[i];
  const struct value now = s->target->problem->values[i];
  if (p->listed) return p->values[check_draw(s->state) % p->value_count];
  if (now.type != VALUE_INT || now.integer < 0) return now;
  if (now.integer == 0) return value_int(check_draw(s->state) % 4 ? 0 : 3);
  if (now.integer <= 3) return value_int(check_draw(s->state) % 2 ? now.integer : 1 + now.integer % 3);
  return s->list->problems[check_draw(s->state) % s->list->size_count].problem.values[i];
}

static int add_branches_elsewhere(struct branch_sample *s, const struct check_options *options, cugen_error *err) {
  struct problem *problem = check_list_problem(s->list, s->target->problem, err);
  const size_t at = s->list->problem_count - 1, before = s->list->run_count;
  if (!problem) return CUGEN_ERROR_MEMORY;
  for (size_t i = 0; i < problem->count; i++)
    if (!check_list_fixed(options, s->target->config->problems[i].name)) problem->values[i] = other_value(s, i);
  int status = check_list_open(s->target, &s->list->problems[at], err);
  if (status == CUGEN_OK) status = add_branches(s, at, DRAWS_ELSEWHERE, err);
  if (s->list->run_count == before) check_list_drop(s->list);
  return status == CUGEN_ERROR_MEMORY ? status : CUGEN_OK; /* sizes that do not go together are no problem */
}

int check_sample_branches(struct check_list *list, const struct tune_target *target,
                          const struct check_options *options, uint64_t *state, cugen_error *err) {
  struct branch_sample s = {.list = list, .target = target, .state = state};
  int status = branches_open(&s.branches, err);
  if (!status) status = expander_open(target->sources, &s.expander, err);
  if (!status) status = add_branches(&s, 0, DRAWS_HERE, err);
  for (int i = 0; i < PROBLEMS && !status; i++) status = add_branches_elsewhere(&s, options, err);
  expander_close(s.expander);
  branches_close(s.branches);
  return status;
}
