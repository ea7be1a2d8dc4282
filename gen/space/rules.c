/* Single rules of a domain, and the rules that follow from a config: its restrictions, the limits
   of its launches, its heuristics. The rules of a filter are in filter.c. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "domain.h"

/* STEPS_TRIED: the most combinations that are tried to find the largest number of steps of a
   launch. STEPS_LIMITED: the most steps of a launch whose limits become rules. */
enum { STEPS_TRIED = 65536, STEPS_LIMITED = 64 };

/* ---- One rule ------------------------------------------------------------------------------- */

/* Frees the rule's text, unless it is the text of an expression of the config. */
void space_rule_free(const struct space_rule *listed) {
  bool borrowed =
      listed->kind == CUGEN_RESTRICTION_WHERE || listed->kind == CUGEN_RESTRICTION_HEURISTIC;
  if (!borrowed) free((char *)(uintptr_t)listed->text);
}

int domain_add_rule(struct domain *domain, struct space_rule listed, struct rule **out,
                    cugen_error *err) {
  if (!ARRAY_ROOM(domain->rules, domain->rule_count) ||
      !ARRAY_ROOM(domain->listed, domain->rule_count)) {
    space_rule_free(&listed);
    return error_memory(err);
  }
  domain->listed[domain->rule_count] = listed;
  *out = &domain->rules[domain->rule_count];
  **out = (struct rule){.index = domain->rule_count++, .depth = -1, .hoist = -1};
  return listed.text ? CUGEN_OK : error_memory(err);
}

/* Updates the rule's two deepest tunables. */
static void note_tunable(struct rule *rule, int tunable) {
  if (tunable == rule->depth || tunable <= rule->hoist) return;
  if (tunable > rule->depth) {
    rule->hoist = rule->depth;
    rule->depth = tunable;
  } else {
    rule->hoist = tunable;
  }
}

int rule_bind(const struct domain *domain, struct rule *rule, const struct expr *expr,
              cugen_error *err) {
  size_t first = (size_t)domain->config->first_tunable, count;
  bool *known = malloc(first + 1);
  if (!known) return error_memory(err);
  memset(known, true, first + 1);
  int status = expr_bind(expr, domain->slots, known, first, &rule->bound[rule->bound_count], err);
  free(known);
  if (status) return status;
  const int *slots = expr_slots(rule->bound[rule->bound_count++], &count);
  for (size_t i = 0; i < count; i++)
    if ((size_t)slots[i] < domain->slot_count)
      note_tunable(rule, slots[i] - (int)first); /* the slots of a launch's steps are not
                                                    tunables */
  return CUGEN_OK;
}

int rule_try(const struct domain *domain, const struct rule *rule, struct value *slots,
             bool *holds) {
  if (rule->limit.count) return *holds = launch_limit_holds(&rule->limit, slots), CUGEN_OK;
  if (rule->bound_count) return expr_eval_bool(rule->bound[0], slots, holds, NULL);
  *holds = false;
  for (size_t i = 0; i < rule->one_of_count && !*holds; i++)
    *holds = value_equal(slots[domain->config->first_tunable + rule->depth], rule->one_of[i]);
  return CUGEN_OK;
}

bool rule_mentions(const struct domain *domain, const struct rule *rule, size_t tunable) {
  int slot = domain->config->first_tunable + (int)tunable;
  if (!rule->bound_count) return rule->depth == (int)tunable;
  for (size_t b = 0; b < rule->bound_count; b++)
    if (expr_sees(rule->bound[b], slot)) return true;
  return false;
}

/* ---- Restrictions and limits ---------------------------------------------------------------- */

static int add_expression(struct domain *domain, cugen_restriction_kind kind,
                          const struct expr *expr, struct config_line line, cugen_error *err) {
  struct rule *rule;
  struct space_rule listed = {kind, expr_text(expr), NULL, line, 0};
  int status = domain_add_rule(domain, listed, &rule, err);
  if (status) return status;
  rule->written = expr;
  return rule_bind(domain, rule, expr, err);
}

static int rules_add_limit(struct domain *domain, struct config_line line,
                           const struct launch_limit *limit, struct text *what, cugen_error *err) {
  struct rule *rule;
  struct space_rule listed = {CUGEN_RESTRICTION_LIMIT, text_take(what), NULL, line, 0};
  int status = domain_add_rule(domain, listed, &rule, err);
  for (size_t i = 0; i < limit->count && !status; i++)
    status = rule_bind(domain, rule, limit->factors[i], err);
  if (status) return status;
  rule->limit = *limit;
  for (size_t i = 0; i < limit->count; i++) rule->limit.factors[i] = rule->bound[i];
  if (!limit->launch || !limit->launch->steps) return CUGEN_OK;
  status = rule_bind(domain, rule, limit->launch->steps, err);
  rule->limit.steps = rule->bound[limit->count];
  return status;
}

/* Returns the largest number of steps over all values of the tunables with the slots at[0 ..
   count), at most STEPS_LIMITED. A number that cannot be evaluated counts as 0. */
static int64_t most_over(const struct domain *domain, const struct config_launch *launch,
                         const int *at, size_t count) {
  int64_t most = 0;
  if (!count) {
    if (expr_eval_int(launch->steps, domain->slots, &most, NULL) || most < 0) return 0;
    return most < STEPS_LIMITED ? most : STEPS_LIMITED;
  }
  const struct config_tunable *tunable =
      &domain->implementation->tunables[*at - domain->config->first_tunable];
  for (size_t i = 0; i < tunable->value_count && most < STEPS_LIMITED; i++) {
    domain->slots[*at] = tunable->values[i];
    int64_t steps = most_over(domain, launch, at + 1, count - 1);
    if (steps > most) most = steps;
  }
  return most;
}

/* Returns the largest number of steps that the launch can have, at most STEPS_LIMITED, which also
   stands for a number that is costly to find. */
static int64_t most_steps(const struct domain *domain, const struct config_launch *launch) {
  size_t count = 0, first = 0, combinations = 1;
  if (!launch->steps) return 1;
  const int *at = expr_slots(launch->steps, &count);
  while (first < count && at[first] < domain->config->first_tunable) first++;
  for (size_t i = first; i < count && combinations <= STEPS_TRIED; i++)
    combinations *=
        domain->implementation->tunables[at[i] - domain->config->first_tunable].value_count;
  int64_t most = combinations > STEPS_TRIED ? STEPS_LIMITED
                                            : most_over(domain, launch, at + first, count - first);
  /* at least 1, because step 0 also has the limit of the number of steps */
  return most ? most : 1;
}

static int add_step_limits(struct domain *domain, const struct config_launch *launch, int step,
                           cugen_error *err) {
  struct launch_limit limits[LAUNCH_LIMITS];
  struct text what[LAUNCH_LIMITS] = {0};
  size_t count = launch_limits(launch, step, domain->slots, limits, what);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = rules_add_limit(domain, launch->line, &limits[i], &what[i], err);
  for (size_t i = 0; i < count; i++) text_free(&what[i]);
  return status;
}

static int add_limits(struct domain *domain, cugen_error *err) {
  const struct config_implementation *implementation = domain->implementation;
  struct launch_limit all;
  struct text what = {0};
  int status = CUGEN_OK;
  for (size_t i = 0; i < implementation->launch_count && !status; i++) {
    const struct config_launch *launch = &implementation->launches[i];
    const int64_t steps = most_steps(domain, launch);
    for (int step = 0; step < steps && !status; step++)
      status = add_step_limits(domain, launch, step, err);
  }
  if (!status && launch_count_limit(implementation, &all, &what))
    status = rules_add_limit(domain, implementation->launches[0].line, &all, &what, err);
  text_free(&what);
  return status;
}

int domain_add_config(struct domain *domain, bool heuristics, cugen_error *err) {
  const struct config_implementation *implementation = domain->implementation;
  int status = CUGEN_OK;
  for (size_t i = 0; i < implementation->restriction_count && !status; i++)
    status = add_expression(domain, CUGEN_RESTRICTION_WHERE, implementation->restrictions[i].expr,
                            implementation->restrictions[i].line, err);
  if (!status) status = add_limits(domain, err);

  /* A heuristic was measured on one GPU, so it applies to GPUs of the same compute capability. The
     cpu device, for which there are no heuristics, uses those of all GPUs. */
  const bool gpu = domain->slots[DEVICE_FACT_is_gpu].integer != 0;
  const int64_t capability = domain->slots[DEVICE_FACT_compute_capability].integer;
  for (size_t i = 0; i < implementation->heuristic_count && heuristics && !status; i++) {
    const struct config_heuristic *one = &implementation->heuristics[i];
    if (!gpu || one->capability == capability)
      status = add_expression(domain, CUGEN_RESTRICTION_HEURISTIC, one->expr, one->line, err);
  }
  return status;
}
