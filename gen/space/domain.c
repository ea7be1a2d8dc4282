/* Domains; see domain.h. */
#include "domain.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rules ---------------------------------------------------------------------------------- */

static int compare_rules(const void *a, const void *b) {
  const struct rule *x = a, *y = b;
  if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

int domain_without_heuristics(const struct domain *domain, struct domain *out, cugen_error *err) {
  *out = *domain;
  out->rules = malloc((domain->rule_count + 1) * sizeof *out->rules);
  if (!out->rules) return error_memory(err);
  out->rule_count = 0;
  for (size_t i = 0; i < domain->rule_count; i++)
    if (domain->listed[domain->rules[i].index].kind != CUGEN_RESTRICTION_HEURISTIC)
      out->rules[out->rule_count++] = domain->rules[i];
  return CUGEN_OK;
}

/* ---- Domains -------------------------------------------------------------------------------- */

int domain_open(const struct config *config, const struct config_implementation *implementation,
                const struct value *slots, const cugen_filter *filter, struct domain *out,
                cugen_error *err) {
  const size_t tunables = implementation->tunable_count;
  *out = (struct domain){.config = config, .implementation = implementation, .cartesian = 1};
  out->slot_count = (size_t)config->first_tunable + tunables;
  out->slots = calloc(out->slot_count + 1, sizeof *out->slots);
  out->strides = calloc(tunables + 1, sizeof *out->strides);
  int status = out->slots && out->strides ? CUGEN_OK : error_memory(err);
  if (!status) memcpy(out->slots, slots, (size_t)config->first_tunable * sizeof *slots);
  for (size_t i = tunables; i-- > 0 && !status;) {
    out->strides[i] = out->cartesian;
    if (__builtin_mul_overflow(out->cartesian, implementation->tunables[i].value_count,
                               &out->cartesian))
      status = config_fail(
          err, implementation->line,
          "implementation \"%s\" has 2^64 combinations or more: give its tunables fewer values",
          implementation->name);
  }
  if (!status) status = domain_add_config(out, !filter || !filter->all, err);
  if (!status && filter) status = domain_add_filter(out, filter, err);
  if (status) {
    domain_close(out);
    return status;
  }
  for (size_t r = 0; r < out->rule_count; r++) {
    struct rule *rule = &out->rules[r];
    rule->cost = 1 + rule->one_of_count;
    for (size_t i = 0; i < rule->bound_count; i++) rule->cost += expr_cost(rule->bound[i]);
  }
  if (out->rule_count) qsort(out->rules, out->rule_count, sizeof *out->rules, compare_rules);
  return CUGEN_OK;
}

void domain_close(struct domain *domain) {
  for (size_t i = 0; i < domain->rule_count; i++) {
    struct rule *rule = &domain->rules[i];
    for (size_t b = 0; b < rule->bound_count; b++) expr_free(rule->bound[b]);
    free(rule->one_of);
    space_rule_free(&domain->listed[i]);
  }
  for (size_t i = 0; i < domain->parsed_count; i++) expr_free(domain->parsed[i]);
  free(domain->parsed);
  free(domain->rules);
  free(domain->listed);
  free(domain->slots);
  free(domain->strides);
  *domain = (struct domain){0};
}

size_t domain_value(const struct domain *domain, uint64_t rank, size_t tunable) {
  return (size_t)(rank / domain->strides[tunable] %
                  domain->implementation->tunables[tunable].value_count);
}
