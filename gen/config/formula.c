/* Reads formula "combine(a, b)" "a + b": its head and its body, and checks that the formula can be
   printed for every value that a problem parameter lists. See build.h. */
#include <ctype.h>
#include <lua.h>
#include <string.h>

#include "build.h"
#include "formula_print.h"
#include "names.h"

struct reading {
  struct build *build;
  struct config_formula *formula;
};

/* ---- combine(a, b) -------------------------------------------------------------------------- */

static const char *formula_skip_blanks(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

/* Reads a name at *at, and moves *at behind the name and the blanks that follow. */
static const char *read_head_name(struct build *build, const char **at) {
  const char *start = *at = formula_skip_blanks(*at);
  while (isalnum((unsigned char)**at) || **at == '_') ++*at;
  const char *name = build_copy(build, start, (size_t)(*at - start));
  *at = formula_skip_blanks(*at);
  if (!names_identifier(name))
    build_fail(build, "'%.80s' is no formula's name and parameters: %s", start,
               config_keywords[KEYWORD_formula].example);
  return name;
}

static void formula_add_parameter(struct build *build, struct config_formula *formula,
                                  const char *name) {
  const struct scope_name *other = scope_find(build, name);
  if (other)
    build_fail(build, "parameter '%s' of formula \"%s\": the name is taken at %s", name,
               formula->name, build_line(build, other->line));
  for (size_t i = 0; i < formula->parameter_count; i++)
    if (strcmp(formula->parameters[i], name) == 0)
      build_fail(build, "formula \"%s\" has the parameter '%s' twice", formula->name, name);
  if (formula->parameter_count == FORMULA_MOST)
    build_fail(build, "formula \"%s\" has more than %d parameters", formula->name, FORMULA_MOST);
  formula->parameters[formula->parameter_count++] = name;
}

static void formula_read_head(struct build *build, struct config_formula *formula,
                              const char *head) {
  const char *example = config_keywords[KEYWORD_formula].example;
  formula->name = read_head_name(build, &head);
  if (*head++ != '(')
    build_fail(build, "formula \"%s\" has no parameters: %s", formula->name, example);
  scope_add(build, (struct scope_name){.name = formula->name, .role = ROLE_FORMULA, .slot = -1});
  do formula_add_parameter(build, formula, read_head_name(build, &head));
  while (*head++ == ',');
  if (head[-1] != ')' || *formula_skip_blanks(head))
    build_fail(build, "the parameters of formula \"%s\" end with a \")\": %s", formula->name,
               example);
}

/* ---- The body ------------------------------------------------------------------------------- */

static int find_parameter(const struct config_formula *formula, const char *name) {
  for (size_t i = 0; i < formula->parameter_count; i++)
    if (strcmp(formula->parameters[i], name) == 0) return (int)i;
  return -1;
}

static struct expr_symbol formula_find_symbol(void *context, const char *name) {
  const struct reading *r = context;
  const struct config *config = r->build->config;
  int parameter = find_parameter(r->formula, name);
  if (parameter >= 0)
    return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = FORMULA_PARAMETER + parameter};
  struct expr_symbol symbol = scope_symbol(r->build, name);
  const struct config_argument *argument =
      symbol.kind == SYMBOL_UNKNOWN ? config_find_argument(config, name) : NULL;
  if (!argument || argument->struct_name) return symbol;
  if (argument->kind != CUGEN_ARGUMENT_SCALAR) return (struct expr_symbol){.kind = SYMBOL_BUFFER};
  return (struct expr_symbol){.kind = SYMBOL_SLOT,
                              .slot = FORMULA_SCALAR + (int)(argument - config->arguments)};
}

static const char *const *formula_list_names(void *context, size_t *count) {
  const struct reading *r = context;
  const struct config *config = r->build->config;
  size_t seen;
  const char *const *names = scope_names(r->build, &seen);
  const size_t most = FORMULA_MOST + config->argument_count + seen;
  const char **all = arena_array(r->build->arena, most, sizeof *all);
  *count = 0;
  for (size_t i = 0; i < r->formula->parameter_count && all; i++)
    all[(*count)++] = r->formula->parameters[i];
  for (size_t i = 0; i < config->argument_count && all; i++)
    all[(*count)++] = config->arguments[i].name;
  for (size_t i = 0; i < seen && all; i++) all[(*count)++] = names[i];
  return all;
}

static bool formula_read_indices(const struct config_formula *formula, const char *const *names,
                                 size_t count, struct formula_element *out, struct text *why) {
  for (size_t i = 0; i < count; i++) {
    out->indices[i] = find_parameter(formula, names[i]);
    if (out->indices[i] > 0) continue;
    if (out->indices[i] == 0) {
      text_addf(why,
                "\"%s\", the first parameter, gives the formula its type and cannot be an index",
                names[i]);
      return false;
    }
    const char *nearest = text_nearest(names[i], formula->parameters, formula->parameter_count);
    text_addf(why, "\"%s\" is no parameter of the formula, and only these can be indices",
              names[i]);
    if (nearest) text_addf(why, "; did you mean \"%s\"?", nearest);
    return false;
  }
  return true;
}

static const struct config_argument *formula_find_buffer(const struct reading *r, const char *name,
                                                         struct text *why) {
  const struct config *config = r->build->config;
  const struct config_argument *argument = config_find_argument(config, name);
  const char *names[KERNEL_MAX_ARGUMENTS];
  size_t count = 0;
  if (argument &&
      (argument->kind == CUGEN_ARGUMENT_INPUT || argument->kind == CUGEN_ARGUMENT_CONSTANT))
    return argument;
  for (size_t i = 0; i < config->argument_count; i++)
    if (config->arguments[i].kind == CUGEN_ARGUMENT_INPUT ||
        config->arguments[i].kind == CUGEN_ARGUMENT_CONSTANT)
      names[count++] = config->arguments[i].name;
  const char *nearest = text_nearest(name, names, count);
  text_addf(why, "\"%.100s\" is no input or constant buffer", name);
  if (nearest) text_addf(why, "; did you mean \"%s\"?", nearest);
  return NULL;
}

static bool find_element(void *context, const char *name, const char *const *indices, size_t count,
                         int *slot, struct text *why) {
  const struct reading *r = context;
  struct config_formula *formula = r->formula;
  const struct config_argument *argument = formula_find_buffer(r, name, why);
  struct formula_element element = {0};
  if (!argument) return false;
  if (count != (size_t)argument->rank) {
    text_addf(why, "\"%s\" has %d dimension%s, not %zu", name, argument->rank,
              argument->rank == 1 ? "" : "s", count);
    return false;
  }
  if (!formula_read_indices(formula, indices, count, &element, why)) return false;
  if (formula->element_count == FORMULA_MOST) {
    text_addf(why, "a formula reads at most %d elements", FORMULA_MOST);
    return false;
  }
  element.argument = (size_t)(argument - r->build->config->arguments);
  *slot = FORMULA_ELEMENT + (int)formula->element_count;
  formula->elements[formula->element_count++] = element;
  return true;
}

/* ---- Whether a formula can be printed ------------------------------------------------------- */

/* Fails unless the formula can be printed with these values. problem: the parameter whose value is
   not its default, for the message; NULL: all parameters have their defaults. */
static void try_values(struct build *build, const struct config_formula *formula, const char *what,
                       const struct value *slots, size_t count,
                       const struct config_problem *problem) {
  const struct config *config = build->config;
  const char *arguments[FORMULA_MOST];
  bool *known = build_array(build, count, sizeof *known);
  struct text text = {0};
  for (size_t i = 0; i < FORMULA_MOST; i++) arguments[i] = "";
  memset(known, true, count * sizeof *known);
  const int status =
      formula_print(config, formula, slots, known, count, arguments, &text, &build->error);
  text_free(&text);
  if (status && problem)
    error_append(&build->error, " (with %s=%s)", problem->name,
                 build_value(build, slots[config->first_problem + (problem - config->problems)]));
  build_check(build, status, what);
}

/* Tries the formula with the defaults of all problem parameters, and with each other value that a
   parameter lists, one parameter at a time. All facts of the device are 1. */
static void check_formula(struct build *build, const struct config_formula *formula,
                          const char *what) {
  const struct config *config = build->config;
  const size_t count = (size_t)config->first_tunable + config->shared_tunable_count;
  struct value *slots = build_array(build, count, sizeof *slots);
  for (size_t i = 0; i < count; i++)
    slots[i] = i < DEVICE_FACT_COUNT ? value_int(1)
               : i < (size_t)config->first_tunable
                   ? config->problems[i - DEVICE_FACT_COUNT].values[0]
                   : config->shared_tunables[i - (size_t)config->first_tunable].values[0];
  try_values(build, formula, what, slots, count, NULL);
  for (size_t i = 0; i < config->problem_count; i++) {
    const struct config_problem *problem = &config->problems[i];
    struct value *slot = &slots[config->first_problem + (int)i];
    for (size_t value = 1; value < problem->value_count; value++) {
      *slot = problem->values[value];
      try_values(build, formula, what, slots, count, problem);
    }
    *slot = problem->values[0];
  }
}

/* ---- Formulas ------------------------------------------------------------------------------- */

void read_formula(struct build *build, const struct item *item, void *context) {
  struct config_formula *out = context;
  *out = (struct config_formula){.line = build->line};
  formula_read_head(build, out, item->name);
  const char *what = build_text(build, "formula \"%s\"", out->name);
  struct reading r = {build, out};
  const struct expr_scope scope = {formula_find_symbol, formula_list_names, &r};
  const struct expr_extras extras = {.element = find_element};
  out->expr = read_expr_of(build, what, &scope, &extras);
  check_formula(build, out, what);
}
