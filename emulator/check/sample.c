/* Drawing samples of variants; see list.h. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "coverage.h"

enum {
  DRAWS = 400,
  EACH_ELSEWHERE = 1,
  /* Draws of an implementation on its family's first problem, the draws on each other problem, and
     the number of other problems of a family. */
  DRAWS_HERE = 100,
  DRAWS_ELSEWHERE = 16,
  PROBLEMS = 96
};

/* ---- Every value of every tunable ----------------------------------------------------------- */

/* Adds runs of the implementation's first variant on all sizes and on the problems around its
   tiles. Further variants with new values run on fewer problems. */
static int add_covering(struct check_list *list, const struct tune_target *target, size_t family,
                        const struct space_implementation *implementation, uint64_t *state,
                        struct check_covered *covered, cugen_error *err) {
  const struct space *space = list->problems[list->families[family].first].space;
  struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
  if (!values) return error_memory(err);
  size_t taken = 0;
  int status = CUGEN_OK;
  for (uint64_t i = 0; i < DRAWS && i < implementation->valid && !status; i++) {
    struct variant variant;
    const bool few = implementation->valid <= DRAWS;
    const uint64_t index =
        implementation->first + (i == 0 || few ? i : random_next(state) % implementation->valid);
    space_variant(space, index, &variant, values);
    /* the first variant is taken even without tunables */
    if (!check_covers_more(&variant, covered) && taken) continue;
    const size_t others = list->families[family].count - 1;
    status = check_list_variant(list, family, index, taken && others ? 1 + taken % others : 0, err);
    if (!status) status = check_sizes_around(target, list, family, index, taken, err);
    taken++;
  }
  free(values);
  return status;
}

/* Adds runs on the family's other sizes, for values that no variant has yet. */
static int add_sized(struct check_list *list, size_t implementation, uint64_t state,
                     struct check_covered *covered, cugen_error *err) {
  const struct check_family *family = &list->families[list->family_of[implementation]];
  int status = CUGEN_OK;
  for (size_t p = family->first + 1; p < family->first + family->count && !status; p++) {
    const struct space *space = list->problems[p].space;
    size_t count;
    const struct space_implementation *one = &space_implementations(space, &count)[implementation];
    struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
    if (!values) return error_memory(err);
    for (uint64_t i = 0; i < DRAWS && i < one->valid && !status; i++) {
      struct variant variant;
      const uint64_t index =
          one->first + (one->valid <= DRAWS ? i : random_next(&state) % one->valid);
      space_variant(space, index, &variant, values);
      if (check_covers_more(&variant, covered)) status = check_list_run(list, p, index, err);
    }
    free(values);
  }
  return status;
}

/* On a problem with another type or layout, adds EACH_ELSEWHERE random variants of each
   implementation of the family. */
static int add_elsewhere(struct check_list *list, size_t problem, uint64_t *state,
                         cugen_error *err) {
  size_t count;
  const struct space_implementation *all =
      space_implementations(list->problems[problem].space, &count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count; i++) {
    if (list->family_of[i] != list->problems[problem].family) continue;
    for (int n = 0; n < EACH_ELSEWHERE && all[i].valid && !status; n++)
      status = check_list_run(list, problem, all[i].first + random_next(state) % all[i].valid, err);
  }
  return status;
}

int check_sample_values(struct check_list *list, const struct tune_target *target, uint64_t *state,
                        cugen_error *err) {
  size_t count = 1;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++) {
    const size_t family = list->family_of[i], first = list->families[family].first;
    const struct space_implementation *all =
        space_implementations(list->problems[first].space, &count);
    struct check_covered covered = {{0}};
    status = add_covering(list, target, family, &all[i], state, &covered, err);
    if (!status) status = add_sized(list, i, *state, &covered, err);
  }
  for (size_t p = 0; p < list->problem_count && !status; p++)
    if (!check_list_sized(list, &list->problems[p])) status = add_elsewhere(list, p, state, err);
  return status;
}

/* ---- Every branch of every template --------------------------------------------------------- */

struct drawn { /* a variant whose branches differ from those of each variant drawn before */
  size_t problem;
  uint64_t index;
  size_t implementation;
};

struct branch_sample {
  struct check_list *list;
  const struct tune_target *target;
  struct coverage *branches;
  struct expander *expander;
  uint64_t *state;
  struct drawn *drawn;
  size_t drawn_count;
};

/* Ignores a variant that cannot be expanded. */
static int sample_draw(struct branch_sample *s, const struct drawn *drawn, cugen_error *err) {
  const struct check_problem *p = &s->list->problems[drawn->problem];
  struct variant variant;
  struct kernel_spec spec = {0};
  struct value *values = calloc(space_max_tunables(p->space) + 1, sizeof *values);
  bool more = false;
  if (!values) return error_memory(err);
  space_variant(p->space, drawn->index, &variant, values);
  int status = expand_variant(s->expander, s->target->config, &p->problem,
                              &s->target->device->facts, &variant, &spec, err);
  if (status == CUGEN_OK) status = coverage_add(s->branches, spec.source, &more, err);
  if (!status && more && !ARRAY_ADD(s->drawn, s->drawn_count, *drawn)) status = error_memory(err);
  kernel_spec_free(&spec);
  free(values);
  return status == CUGEN_ERROR_MEMORY ? status : CUGEN_OK;
}

static int draw_some(struct branch_sample *s, size_t problem, uint64_t draws, cugen_error *err) {
  size_t count;
  const struct space_implementation *all =
      space_implementations(s->list->problems[problem].space, &count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count; i++) {
    if (s->list->family_of[i] != s->list->problems[problem].family) continue;
    for (uint64_t n = 0; n < draws && n < all[i].valid && !status; n++) {
      const bool each = n == 0 || all[i].valid <= draws;
      const uint64_t index = all[i].first + (each ? n : random_next(s->state) % all[i].valid);
      status = sample_draw(s, &(struct drawn){problem, index, i}, err);
    }
  }
  return status;
}

/* Returns a value for the i-th parameter of another problem. A parameter that lists values gets a
   random listed value; 0 mostly stays 0; 1, 2 and 3 stay or become 2, 3 and 1; a larger integer
   becomes the parameter's value in a random problem of the family. Other values stay. */
static struct value other_value(const struct branch_sample *s, const struct check_family *family,
                                size_t i) {
  const struct config_problem *p = &s->target->config->problems[i];
  const struct value now = s->list->problems[family->first].problem.values[i];
  if (p->listed) return p->values[random_next(s->state) % p->value_count];
  if (now.type != VALUE_INT || now.integer < 0) return now;
  if (now.integer == 0) return value_int(random_next(s->state) % 4 ? 0 : 3);
  if (now.integer <= 3)
    return value_int(random_next(s->state) % 2 ? now.integer : 1 + now.integer % 3);
  return s->list->problems[family->first + random_next(s->state) % family->count].problem.values[i];
}

static int draw_elsewhere(struct branch_sample *s, size_t number,
                          const struct check_options *options, cugen_error *err) {
  const struct check_family *family = &s->list->families[number];
  const struct problem base = s->list->problems[family->first].problem;
  struct problem *problem = check_list_problem(s->list, number, &base, err);
  const size_t at = s->list->problem_count - 1, before = s->drawn_count;
  if (!problem) return CUGEN_ERROR_MEMORY;
  for (size_t i = 0; i < problem->count; i++)
    if (!check_list_fixed(options, s->target->config->problems[i].name))
      problem->values[i] = other_value(s, family, i);
  int status = check_list_open(s->target, &s->list->problems[at], err);
  if (status == CUGEN_OK) status = draw_some(s, at, DRAWS_ELSEWHERE, err);
  if (s->drawn_count == before) check_list_drop(s->list);
  const bool fatal = status == CUGEN_ERROR_MEMORY || status == CUGEN_ERROR_INTERRUPTED;
  /* other failures, such as of sizes that do not fit together, skip the problem */
  return fatal ? status : CUGEN_OK;
}

static int draw_all(struct branch_sample *s, const struct check_options *options,
                    cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t f = 0; f < s->list->family_count && !status; f++) {
    status = draw_some(s, s->list->families[f].first, DRAWS_HERE, err);
    for (int i = 0; i < PROBLEMS && !status; i++) status = draw_elsewhere(s, f, options, err);
  }
  return status;
}

/* Chooses the first drawn variant of each implementation that has one. */
static void choose_first(const struct branch_sample *s, bool *chosen) {
  for (size_t i = 0; i < s->drawn_count; i++) {
    size_t before = 0;
    while (s->drawn[before].implementation != s->drawn[i].implementation) before++;
    chosen[i] = before == i;
  }
}

/* Adds runs of the chosen variants. A variant of a family's first problem also runs on one other
   size, if valid there; the other sizes take turns. */
static int run_chosen(struct branch_sample *s, const bool *chosen, cugen_error *err) {
  size_t taken = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < s->drawn_count && !status; i++) {
    if (!chosen[i]) continue;
    const size_t number = s->list->problems[s->drawn[i].problem].family;
    const struct check_family *family = &s->list->families[number];
    const size_t only = family->count > 1 ? 1 + taken++ % (family->count - 1) : 0;
    if (s->drawn[i].problem == family->first)
      status = check_list_variant(s->list, number, s->drawn[i].index, only, err);
    else
      status = check_list_run(s->list, s->drawn[i].problem, s->drawn[i].index, err);
  }
  return status;
}

/* Adds runs of the first variant of each implementation without a run. */
static int run_unchosen(struct check_list *list, cugen_error *err) {
  size_t count = 1;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++) {
    const size_t family = list->family_of[i];
    const struct space *home = list->problems[list->families[family].first].space;
    const struct space_implementation *one = &space_implementations(home, &count)[i];
    if (one->valid && !check_list_has_run(list, i))
      status = check_list_variant(list, family, one->first, 1, err);
  }
  return status;
}

int check_sample_branches(struct check_list *list, const struct tune_target *target,
                          const struct check_options *options, uint64_t *state, cugen_error *err) {
  struct branch_sample s = {.list = list, .target = target, .state = state};
  int status = coverage_open(&s.branches, err);
  if (!status) status = expander_open(target->sources, &s.expander, err);
  if (!status) status = draw_all(&s, options, err);
  bool *chosen = calloc(s.drawn_count + 1, sizeof *chosen);
  if (!status && !chosen) status = error_memory(err);
  if (!status) choose_first(&s, chosen);
  if (!status) status = coverage_choose(s.branches, chosen, err);
  if (!status) status = run_chosen(&s, chosen, err);
  if (!status) status = run_unchosen(list, err);
  free(chosen);
  free(s.drawn);
  expander_close(s.expander);
  coverage_close(s.branches);
  return status;
}
