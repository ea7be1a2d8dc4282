/* The rules of a domain: what the config restricts, what the device limits, what a filter leaves out. See space_walk.h. */
#include <stdlib.h>
#include <string.h>

#include "space_walk.h"

/* ---- One rule ---- */

int domain_add_rule(struct domain *domain, struct space_rule listed, struct rule **out, cugen_error *err) {
  if (domain->rule_count == domain->rule_capacity) {
    size_t capacity = 2 * domain->rule_capacity + 8;
    struct rule *rules = realloc(domain->rules, capacity * sizeof *rules);
    if (rules) domain->rules = rules;
    struct space_rule *all = realloc(domain->listed, capacity * sizeof *all);
    if (all) domain->listed = all;
    if (!rules || !all) {
      if (listed.kind != CUGEN_RESTRICTION_WHERE) free((char *)(uintptr_t)listed.text);
      return error_memory(err);
    }
    domain->rule_capacity = capacity;
  }
  domain->listed[domain->rule_count] = listed;
  *out = &domain->rules[domain->rule_count];
  **out = (struct rule){.index = domain->rule_count++, .depth = -1, .hoist = -1};
  return listed.text ? CUGEN_OK : error_memory(err);
}

/* The highest two of the tunables that it mentions are its levels. */
static void note_tunable(struct rule *rule, int tunable) {
  if (tunable == rule->depth || tunable <= rule->hoist) return;
  if (tunable > rule->depth) {
    rule->hoist = rule->depth;
    rule->depth = tunable;
  } else {
    rule->hoist = tunable;
  }
}

int rule_bind(const struct domain *domain, struct rule *rule, const struct expr *expr, cugen_error *err) {
  size_t first = (size_t)domain->config->first_tunable, count;
  bool *known = malloc(first + 1);
  if (!known) return error_memory(err);
  memset(known, true, first + 1);
  int status = expr_bind(expr, domain->slots, known, first, &rule->bound[rule->bound_count], err);
  free(known);
  if (status) return status;
  const int *slots = expr_slots(rule->bound[rule->bound_count++], &count);
  for (size_t i = 0; i < count; i++) note_tunable(rule, slots[i] - (int)first);
  return CUGEN_OK;
}

int rule_try(const struct domain *domain, const struct rule *rule, const struct value *slots, bool *holds) {
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
  for (size_t b = 0; b < rule->bound_count; b++) {
    size_t count;
    const int *slots = expr_slots(rule->bound[b], &count);
    for (size_t i = 0; i < count; i++)
      if (slots[i] == slot) return true;
  }
  return false;
}

/* ---- Restrictions and limits ---- */

static int add_restriction(struct domain *domain, const struct config_restriction *restriction, cugen_error *err) {
  struct rule *rule;
  struct space_rule listed = {CUGEN_RESTRICTION_WHERE, expr_text(restriction->expr), NULL, restriction->line, 0};
  int status = domain_add_rule(domain, listed, &rule, err);
  if (status) return status;
  rule->written = restriction->expr;
  return rule_bind(domain, rule, restriction->expr, err);
}

static int add_limit(struct domain *domain, int line, struct launch_limit limit, struct text *what,
                     cugen_error *err) {
  struct rule *rule;
  struct space_rule listed = {CUGEN_RESTRICTION_LIMIT, text_take(what), NULL, line, 0};
  int status = domain_add_rule(domain, listed, &rule, err);
  for (size_t i = 0; i < limit.count && !status; i++) status = rule_bind(domain, rule, limit.factors[i], err);
  if (status) return status;
  rule->limit = limit;
  for (size_t i = 0; i < limit.count; i++) rule->limit.factors[i] = rule->bound[i];
  if (!limit.steps) return CUGEN_OK;
  status = rule_bind(domain, rule, limit.steps, err);
  rule->limit.steps = rule->bound[limit.count];
  return status;
}

/* Whether a combination says all of it. */
static bool is_known(const struct domain *domain, const struct launch_limit *limit) {
  for (size_t i = 0; i < limit->count; i++) {
    size_t count;
    const int *slots = expr_slots(limit->factors[i], &count);
    if (count && (size_t)slots[count - 1] >= domain->slot_count) return false;
  }
  return true;
}

static int add_limits(struct domain *domain, const struct config_launch *launch, cugen_error *err) {
  struct launch_limit limits[LAUNCH_LIMITS];
  struct text what[LAUNCH_LIMITS] = {0};
  size_t count = launch_limits(launch, domain->slots, limits, what);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    if (is_known(domain, &limits[i])) status = add_limit(domain, launch->line, limits[i], &what[i], err);
  for (size_t i = 0; i < count; i++) text_free(&what[i]);
  return status;
}

/* ---- All of them ---- */

static int compare_rules(const void *a, const void *b) {
  const struct rule *x = a, *y = b;
  if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

int domain_open_rules(struct domain *domain, const struct space_filter *filter, cugen_error *err) {
  const struct config_implementation *implementation = domain->implementation;
  int status = CUGEN_OK;
  for (size_t i = 0; i < implementation->restriction_count && !status; i++)
    status = add_restriction(domain, &implementation->restrictions[i], err);
  for (size_t i = 0; i < implementation->launch_count && !status; i++)
    status = add_limits(domain, &implementation->launches[i], err);
  if (!status && filter) status = domain_add_filter(domain, filter, err);
  if (!status && domain->rule_count) qsort(domain->rules, domain->rule_count, sizeof *domain->rules, compare_rules);
  return status;
}

void domain_close_rules(struct domain *domain) {
  for (size_t i = 0; i < domain->rule_count; i++) {
    struct rule *rule = &domain->rules[i];
    const struct space_rule *listed = &domain->listed[i];
    for (size_t b = 0; b < rule->bound_count; b++) expr_free(rule->bound[b]);
    free(rule->one_of);
    if (listed->kind != CUGEN_RESTRICTION_WHERE) free((char *)(uintptr_t)listed->text); /* ours */
  }
  for (size_t i = 0; i < domain->parsed_count; i++) expr_free(domain->parsed[i]);
  free(domain->parsed);
  free(domain->rules);
  free(domain->listed);
}
