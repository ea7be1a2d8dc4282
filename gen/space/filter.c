/* Filters of a space by the user (cugen_filter): expressions, and patterns of variants. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "domain.h"

/* ---- Patterns ------------------------------------------------------------------------------- */

/* Matches a pattern in which "*" stands for any text, also for none. Only the last "*" is retried,
   because the matches of earlier "*" stay valid. */
static bool matches(const char *pattern, size_t length, const char *text) {
  size_t at = 0, star = length;
  const char *again = NULL;
  while (*text) {
    if (at < length && pattern[at] == '*') {
      star = at++;
      again = text;
    } else if (at < length && pattern[at] == *text) {
      at++, text++;
    } else if (again) {
      at = star + 1;
      text = ++again;
    } else {
      return false;
    }
  }
  while (at < length && pattern[at] == '*') at++;
  return at == length;
}

bool space_list_means(const char *list, const char *name) {
  for (;; list++) {
    size_t length = strcspn(list, ", ");
    if (matches(list, length, name)) return true;
    list += length;
    if (*list != ',') return false;
  }
}

void space_add_known(cugen_error *err, const char *word, const char *const *names, size_t count) {
  const char *nearest = *word ? text_nearest(word, names, count) : NULL;
  struct text list = {0};
  if (nearest) text_addf(&list, "; did you mean \"%s\"?", nearest);
  text_addf(&list, "; there %s:", count == 1 ? "is" : "are");
  for (size_t i = 0; i < count; i++) text_addf(&list, " %s", names[i]);
  error_append(err, "%s%s", text_get(&list), count ? "" : " none");
  text_free(&list);
}

static int unknown_implementation(const struct config *config, const char *word, size_t length,
                                  cugen_error *err) {
  const char **names = calloc(config->implementation_count + 1, sizeof *names);
  char *name = strndup(word, length);
  int status = names && name ? CUGEN_ERROR_USAGE : error_memory(err);
  for (size_t i = 0; i < config->implementation_count && names; i++)
    names[i] = config->implementations[i].name;
  if (status == CUGEN_ERROR_USAGE) {
    error_set(err, status, "no implementation is called '%s'", name);
    space_add_known(err, name, names, config->implementation_count);
  }
  free(name);
  free(names);
  return status;
}

int space_list_check(const struct config *config, const char *list, cugen_error *err) {
  for (;; list++) {
    size_t length = strcspn(list, ", "), i = 0;
    while (i < config->implementation_count &&
           !matches(list, length, config->implementations[i].name))
      i++;
    if (i == config->implementation_count) return unknown_implementation(config, list, length, err);
    list += length;
    if (*list != ',') return CUGEN_OK;
  }
}

/* ---- The parts of --variant ----------------------------------------------------------------- */

/* Finds the values of the tunable that the part matches. out has room for all values. */
static size_t find_values(const struct setting *part, const struct config_tunable *tunable,
                          struct value *out) {
  size_t count = 0, length;
  const char *wanted = setting_value(part, &length);
  for (size_t i = 0; i < tunable->value_count; i++) {
    struct text text = {0};
    value_print(tunable->values[i], &text);
    if (matches(wanted, length, text_get(&text))) out[count++] = tunable->values[i];
    text_free(&text);
  }
  return count;
}

static const struct config_tunable *
filter_find_tunable(const struct config_implementation *implementation,
                    const struct setting *part) {
  for (size_t i = 0; i < implementation->tunable_count; i++)
    if (setting_is_named(part->text, implementation->tunables[i].name))
      return &implementation->tunables[i];
  return NULL;
}

/* Returns whether the pattern's words for implementations, those without "=", match the name. */
static bool filter_is_meant(const char *pattern, const char *name) {
  struct setting part;
  while (setting_next(&pattern, &part))
    if (part.name == part.length && !space_list_means(part.text, name)) return false;
  return true;
}

/* ---- Checks independent of the implementation ----------------------------------------------- */

/* Reports an unknown tunable, and the tunables of the selected implementations. */
static int unknown_tunable(const struct config *config, const char *pattern,
                           const struct setting *part, cugen_error *err) {
  size_t count = 0, most = 0;
  for (size_t i = 0; i < config->implementation_count; i++)
    most += config->implementations[i].tunable_count;
  const char **names = calloc(most + 1, sizeof *names);
  char *word = strndup(part->text, part->name);
  int status = names && word ? CUGEN_ERROR_USAGE : error_memory(err);
  for (size_t i = 0; i < config->implementation_count && names; i++) {
    const struct config_implementation *one = &config->implementations[i];
    for (size_t t = 0; t < one->tunable_count && filter_is_meant(pattern, one->name); t++) {
      size_t seen = 0;
      while (seen < count && strcmp(names[seen], one->tunables[t].name) != 0) seen++;
      if (seen == count) names[count++] = one->tunables[t].name;
    }
  }
  if (status == CUGEN_ERROR_USAGE) {
    error_set(err, status, "--variant \"%.500s\": unknown tunable \"%.100s\"", pattern, word);
    space_add_known(err, word, names, count);
  }
  free(word);
  free(names);
  return status;
}

static int unknown_value(const char *pattern, const struct setting *part,
                         const struct config_tunable *tunable, cugen_error *err) {
  struct text list = {0};
  size_t length;
  const char *word = setting_value(part, &length);
  for (size_t i = 0; i < tunable->value_count; i++) {
    text_add_char(&list, ' ');
    value_print(tunable->values[i], &list);
  }
  int status = error_set(
      err, CUGEN_ERROR_USAGE, "--variant \"%.500s\": %s has no value \"%.*s\"; there are:%.1000s",
      pattern, tunable->name, (int)(length < 100 ? length : 100), word, text_get(&list));
  text_free(&list);
  return status;
}

static int filter_check_value(const struct config *config, const char *pattern,
                              const struct setting *part, cugen_error *err) {
  const struct config_tunable *found = NULL;
  for (size_t i = 0; i < config->implementation_count; i++) {
    const struct config_implementation *one = &config->implementations[i];
    const struct config_tunable *tunable =
        filter_is_meant(pattern, one->name) ? filter_find_tunable(one, part) : NULL;
    if (!tunable) continue;
    struct value *values = calloc(tunable->value_count + 1, sizeof *values);
    if (!values) return error_memory(err);
    size_t count = find_values(part, tunable, values);
    free(values);
    if (count) return CUGEN_OK;
    found = tunable;
  }
  return found ? unknown_value(pattern, part, found, err)
               : unknown_tunable(config, pattern, part, err);
}

/* ---- Expressions ---------------------------------------------------------------------------- */

/* The scope of an expression: the names of one implementation. */
struct scope {
  const struct config *config;
  const struct config_implementation *implementation;
  const char **names; /* the names that expressions of any implementation see, for suggestions */
  size_t count;
  /* One symbol for each tunable of this implementation. A symbol has the values of all tunables of
     that name in any implementation, because the filter must be valid for all implementations. */
  struct expr_symbol *tunables;
  struct value *values;
  bool elsewhere; /* the expression uses a name that only other implementations have */
};

static void filter_add_values(const struct config *config, const char *name, struct value *values,
                              size_t *count) {
  for (size_t i = 0; i < config->implementation_count; i++) {
    const struct config_implementation *one = &config->implementations[i];
    for (size_t t = 0; t < one->tunable_count; t++) {
      const struct config_tunable *tunable = &one->tunables[t];
      if (strcmp(tunable->name, name) != 0) continue;
      memcpy(values + *count, tunable->values, tunable->value_count * sizeof *values);
      *count += tunable->value_count;
    }
  }
}

/* The tunables of an implementation have different names, so the number of all values of all
   tunables is enough room. */
static bool fill_values(struct scope *scope) {
  const struct config *config = scope->config;
  const struct config_implementation *one = scope->implementation;
  size_t most = 0, at = 0;
  for (size_t i = 0; i < config->implementation_count; i++)
    for (size_t t = 0; t < config->implementations[i].tunable_count; t++)
      most += config->implementations[i].tunables[t].value_count;
  scope->values = calloc(most + 1, sizeof *scope->values);
  scope->tunables = calloc(one->tunable_count + 1, sizeof *scope->tunables);
  if (!scope->values || !scope->tunables) return false;
  for (size_t t = 0; t < one->tunable_count; t++) {
    struct expr_symbol *symbol = &scope->tunables[t];
    *symbol = (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = config->first_tunable + (int)t};
    symbol->values = scope->values + at;
    filter_add_values(config, one->tunables[t].name, scope->values + at, &symbol->value_count);
    at += symbol->value_count;
  }
  return true;
}

static struct expr_symbol find_own(const struct config *config,
                                   const struct config_implementation *one, const char *name) {
  for (size_t i = 0; i < one->tunable_count; i++)
    if (strcmp(one->tunables[i].name, name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = config->first_tunable + (int)i};
  for (size_t i = 0; i < one->derived_count; i++)
    if (strcmp(one->derived[i].name, name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_EXPR, .expr = one->derived[i].expr};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static struct expr_symbol filter_find_name(void *context, const char *name) {
  struct scope *scope = context;
  const struct config *config = scope->config;
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    if (strcmp(device_fact_names[i], name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = i};
  const struct config_problem *problem = config_find_problem(config, name);
  if (problem)
    return (struct expr_symbol){.kind = SYMBOL_SLOT,
                                .slot = config->first_problem + (int)(problem - config->problems),
                                .values = problem->values,
                                .value_count = problem->value_count,
                                .open = !problem->listed};
  struct expr_symbol own = find_own(config, scope->implementation, name);
  if (own.kind == SYMBOL_SLOT) return scope->tunables[own.slot - config->first_tunable];
  for (size_t i = 0;
       i < config->implementation_count && own.kind == SYMBOL_UNKNOWN && !scope->elsewhere; i++)
    scope->elsewhere = find_own(config, &config->implementations[i], name).kind != SYMBOL_UNKNOWN;
  return own;
}

static const char *const *filter_list_names(void *context, size_t *count) {
  struct scope *scope = context;
  *count = scope->count;
  return scope->names;
}

static bool fill_names(struct scope *scope) {
  const struct config *config = scope->config;
  size_t most = DEVICE_FACT_COUNT + config->problem_count;
  for (size_t i = 0; i < config->implementation_count; i++)
    most += config->implementations[i].tunable_count + config->implementations[i].derived_count;
  scope->names = calloc(most + 1, sizeof *scope->names);
  if (!scope->names) return false;
  for (size_t i = 0; i < config->implementation_count; i++) {
    const struct config_implementation *one = &config->implementations[i];
    for (size_t t = 0; t < one->tunable_count; t++)
      scope->names[scope->count++] = one->tunables[t].name;
    for (size_t d = 0; d < one->derived_count; d++)
      scope->names[scope->count++] = one->derived[d].name;
  }
  for (size_t i = 0; i < config->problem_count; i++)
    scope->names[scope->count++] = config->problems[i].name;
  for (int i = 0; i < DEVICE_FACT_COUNT; i++) scope->names[scope->count++] = device_fact_names[i];
  return true;
}

/* Parses an expression of the filter. *out is NULL without an error if the expression uses a name
   that only other implementations have; then no variant of this implementation is wanted. */
static int filter_parse(const struct config *config,
                        const struct config_implementation *implementation, const char *text,
                        struct expr **out, cugen_error *err) {
  struct scope scope = {.config = config, .implementation = implementation};
  struct expr_scope names = {filter_find_name, filter_list_names, &scope};
  cugen_error why = {0};
  *out = NULL;
  int status = fill_names(&scope) && fill_values(&scope) ? CUGEN_OK : error_memory(&why);
  if (!status) status = expr_parse(text, &names, out, &why);
  free(scope.names);
  free(scope.tunables);
  free(scope.values);
  if (!status || scope.elsewhere) return CUGEN_OK;
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  return error_set(err, CUGEN_ERROR_USAGE, "--where: %s", why.message);
}

int space_filter_check(const struct config *config, const cugen_filter *filter, cugen_error *err) {
  const char *at = filter->variant;
  struct setting part;
  int status =
      filter->implementation ? space_list_check(config, filter->implementation, err) : CUGEN_OK;
  while (at && !status && setting_next(&at, &part))
    status = part.name < part.length ? filter_check_value(config, filter->variant, &part, err)
                                     : space_list_check(config, part.text, err);
  return status;
}

/* ---- The rules ------------------------------------------------------------------------------ */

static struct space_rule make_rule(const char *option, const char *text) {
  return (struct space_rule){CUGEN_RESTRICTION_FILTER, strdup(text), option, {NULL, 0}, 0};
}

static int filter_add_where(struct domain *domain, const char *text, cugen_error *err) {
  struct rule *rule;
  struct expr *expr;
  int status = filter_parse(domain->config, domain->implementation, text, &expr, err);
  if (!status) status = domain_add_rule(domain, make_rule("--where", text), &rule, err);
  if (status || !expr) return expr_free(expr), status;
  if (!ARRAY_ADD(domain->parsed, domain->parsed_count, expr))
    return expr_free(expr), error_memory(err);
  rule->written = expr;
  return rule_bind(domain, rule, expr, err);
}

/* Adds the rule of one part of a pattern. A part that names other implementations, or a tunable
   that the implementation lacks, makes a rule that nothing passes. */
static int filter_add_part(struct domain *domain, const char *pattern, const struct setting *part,
                           cugen_error *err) {
  const struct config_implementation *implementation = domain->implementation;
  const struct config_tunable *tunable =
      part->name < part->length ? filter_find_tunable(implementation, part) : NULL;
  struct rule *rule;
  if (part->name == part->length && space_list_means(part->text, implementation->name))
    return CUGEN_OK;
  int status = domain_add_rule(domain, make_rule("--variant", pattern), &rule, err);
  if (status || !tunable) return status;
  rule->one_of = calloc(tunable->value_count + 1, sizeof *rule->one_of);
  if (!rule->one_of) return error_memory(err);
  rule->one_of_count = find_values(part, tunable, rule->one_of);
  rule->depth = (int)(tunable - implementation->tunables);
  return CUGEN_OK;
}

int domain_add_filter(struct domain *domain, const cugen_filter *filter, cugen_error *err) {
  const char *at = filter->variant;
  struct setting part;
  struct rule *rule;
  int status = CUGEN_OK;
  if (filter->implementation &&
      !space_list_means(filter->implementation, domain->implementation->name))
    status =
        domain_add_rule(domain, make_rule("--implementation", filter->implementation), &rule, err);
  while (at && !status && setting_next(&at, &part))
    status = filter_add_part(domain, filter->variant, &part, err);
  for (size_t i = 0; i < filter->where_count && !status; i++)
    status = filter_add_where(domain, filter->where[i], err);
  return status;
}
