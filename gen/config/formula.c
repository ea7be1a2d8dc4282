/* Reads formula "combine(a, b)" "a + b": its head and its body, and checks that the formula can be
   printed for every value that a problem lists. See build.h. */
#include <ctype.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "formula_print.h"
#include "names.h"

struct reading {
  struct build *build;
  struct config_formula *formula;
  const char *what;   /* name in messages: formula "combine" */
  const char **names; /* the names that the body sees, for suggestions */
};

/* ---- combine(a, b) -------------------------------------------------------------------------- */

static const char *formula_skip_blanks(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

/* Reads a name at *at, and moves *at behind the name and the blanks that follow. */
static int read_head_name(struct build *build, struct config_line line, const char **at,
                          const char **out) {
  const char *start = *at = formula_skip_blanks(*at);
  *out = "";
  while (isalnum((unsigned char)**at) || **at == '_') ++*at;
  char *name = arena_string(build->arena, start, (size_t)(*at - start));
  if (!name) return build_memory(build);
  *out = name;
  *at = formula_skip_blanks(*at);
  if (names_identifier(name)) return CUGEN_OK;
  return build_fail(build, line, "'%.80s' is no formula's name and parameters: %s", start,
                    config_keywords[KEYWORD_formula].example);
}

static int formula_add_parameter(struct build *build, struct config_formula *formula,
                                 const char *name) {
  const struct scope_name *other = scope_find(build, name);
  if (other)
    return build_fail(build, formula->line,
                      "parameter '%s' of formula \"%s\": the name is taken at %s", name,
                      formula->name, build_line(build, formula->line, other->line));
  for (size_t i = 0; i < formula->parameter_count; i++)
    if (strcmp(formula->parameters[i], name) == 0)
      return build_fail(build, formula->line, "formula \"%s\" has the parameter '%s' twice",
                        formula->name, name);
  if (formula->parameter_count == FORMULA_MOST)
    return build_fail(build, formula->line, "formula \"%s\" has more than %d parameters",
                      formula->name, FORMULA_MOST);
  formula->parameters[formula->parameter_count++] = name;
  return CUGEN_OK;
}

static int formula_read_parameters(struct build *build, struct config_formula *formula,
                                   const char *at) {
  const char *name = NULL;
  int status;
  do {
    status = read_head_name(build, formula->line, &at, &name);
    if (!status) status = formula_add_parameter(build, formula, name);
  } while (!status && *at++ == ',');
  if (!status && (at[-1] != ')' || *formula_skip_blanks(at)))
    return build_fail(build, formula->line, "the parameters of formula \"%s\" end with a \")\": %s",
                      formula->name, config_keywords[KEYWORD_formula].example);
  return status;
}

static int formula_read_head(struct build *build, struct config_formula *formula,
                             const char *head) {
  int status = read_head_name(build, formula->line, &head, &formula->name);
  if (!status && *head != '(')
    return build_fail(build, formula->line, "formula \"%s\" has no parameters: %s", formula->name,
                      config_keywords[KEYWORD_formula].example);
  if (!status)
    status = scope_add(
        build, &(struct scope_name){
                   .name = formula->name, .role = ROLE_FORMULA, .line = formula->line, .slot = -1});
  return status ? status : formula_read_parameters(build, formula, head + 1);
}

/* ---- The body ------------------------------------------------------------------------------- */

static int find_parameter(const struct config_formula *formula, const char *name) {
  for (size_t i = 0; i < formula->parameter_count; i++)
    if (strcmp(formula->parameters[i], name) == 0) return (int)i;
  return -1;
}

static const struct config_argument *formula_find_argument(const struct config *config,
                                                           const char *name) {
  for (size_t i = 0; i < config->argument_count; i++)
    if (strcmp(config->arguments[i].name, name) == 0) return &config->arguments[i];
  return NULL;
}

static struct expr_symbol formula_find_symbol(void *context, const char *name) {
  const struct reading *r = context;
  const struct config *config = r->build->config;
  int parameter = find_parameter(r->formula, name);
  if (parameter >= 0)
    return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = FORMULA_PARAMETER + parameter};
  struct expr_symbol symbol = scope_symbol(r->build, name);
  const struct config_argument *argument =
      symbol.kind == SYMBOL_UNKNOWN ? formula_find_argument(config, name) : NULL;
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
  *count = 0;
  for (size_t i = 0; i < r->formula->parameter_count; i++)
    r->names[(*count)++] = r->formula->parameters[i];
  for (size_t i = 0; i < config->argument_count; i++)
    r->names[(*count)++] = config->arguments[i].name;
  for (size_t i = 0; i < seen; i++) r->names[(*count)++] = names[i];
  return r->names;
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
  const struct config_argument *argument = formula_find_argument(config, name);
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

/* Reads the string on top of the stack. */
static int formula_read_text(struct reading *r) {
  struct build *build = r->build;
  const char *source;
  struct expr *expr;
  int status = read_string(build, r->formula->line, r->what, &source);
  if (status) return status;
  if (strlen(source) > LONGEST_EXPRESSION)
    return build_fail(build, r->formula->line, "%s is longer than %d characters", r->what,
                      LONGEST_EXPRESSION);
  struct expr_scope scope = {formula_find_symbol, formula_list_names, r};
  status = expr_parse_formula(source, &scope, find_element, &expr, build->err);
  if (status)
    return error_prefix_at(build->err, r->formula->line.path, r->formula->line.number, "%s",
                           r->what),
           status;
  if (!arena_keep(build->arena, expr) || !arena_charge(build->arena, 16 * strlen(source)))
    return build_memory(build);
  r->formula->expr = expr;
  return CUGEN_OK;
}

static int formula_read_body(struct build *build, struct config_formula *formula) {
  struct text what = {0};
  size_t most = FORMULA_MOST + KERNEL_MAX_ARGUMENTS + build->name_count + DEVICE_FACT_COUNT;
  struct reading r = {.build = build, .formula = formula, .names = calloc(most, sizeof *r.names)};
  text_addf(&what, "formula \"%s\"", formula->name);
  r.what = text_get(&what);
  int status = r.names ? formula_read_text(&r) : error_memory(build->err);
  free(r.names);
  text_free(&what);
  return status;
}

/* ---- Whether a formula can be printed ------------------------------------------------------- */

static int try_values(struct build *build, const struct config_formula *formula,
                      const struct value *slots, const bool *known, size_t count,
                      const struct config_problem *problem) {
  const char *arguments[FORMULA_MOST];
  struct text text = {0};
  for (size_t i = 0; i < FORMULA_MOST; i++) arguments[i] = "";
  int status =
      formula_print(build->config, formula, slots, known, count, arguments, &text, build->err);
  text_clear(&text);
  if (status && problem) {
    value_print(slots[build->config->first_problem + (problem - build->config->problems)], &text);
    error_append(build->err, " (with %s=%s)", problem->name, text_get(&text));
  }
  text_free(&text);
  if (!status) return CUGEN_OK;
  return error_prefix_at(build->err, formula->line.path, formula->line.number, "formula \"%s\"",
                         formula->name),
         status;
}

static int try_problems(struct build *build, const struct config_formula *formula,
                        struct value *slots, const bool *known, size_t count) {
  const struct config *config = build->config;
  int status = try_values(build, formula, slots, known, count, NULL);
  for (size_t i = 0; i < config->problem_count; i++) {
    const struct config_problem *problem = &config->problems[i];
    struct value *slot = &slots[config->first_problem + (int)i];
    for (size_t value = 1; value < problem->value_count && !status; value++) {
      *slot = problem->values[value];
      status = try_values(build, formula, slots, known, count, problem);
    }
    *slot = problem->values[0];
  }
  return status;
}

/* Prints the formula with the defaults of all problems, and with each other value that a problem
   lists. All facts of the device are 1. */
static int check_formula(struct build *build, const struct config_formula *formula) {
  const struct config *config = build->config;
  size_t count = (size_t)config->first_tunable + config->shared_tunable_count;
  struct value *slots = calloc(count, sizeof *slots);
  bool *known = malloc(count * sizeof *known);
  int status = slots && known ? CUGEN_OK : error_memory(build->err);
  for (size_t i = 0; i < count && !status; i++) {
    known[i] = true;
    slots[i] = i < DEVICE_FACT_COUNT ? value_int(1)
               : i < (size_t)config->first_tunable
                   ? config->problems[i - DEVICE_FACT_COUNT].values[0]
                   : config->shared_tunables[i - (size_t)config->first_tunable].values[0];
  }
  if (!status) status = try_problems(build, formula, slots, known, count);
  free(slots);
  free(known);
  return status;
}

/* ---- Formulas ------------------------------------------------------------------------------- */

static int read_formula(struct build *build, const struct item *item, struct config_formula *out) {
  *out = (struct config_formula){.line = item->declaration->line};
  int status = formula_read_head(build, out, item->name);
  if (!status) status = formula_read_body(build, out);
  return status ? status : check_formula(build, out);
}

int read_formulas(struct build *build, const struct list *list) {
  struct config *config = build->config;
  struct config_formula *formulas =
      arena_array(build->arena, list_count(list, KEYWORD_formula), sizeof *formulas);
  if (!formulas) return build_memory(build);
  config->formulas = formulas;
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_formula) continue;
    list_push(build, list, &list->items[i]);
    status = read_formula(build, &list->items[i], &formulas[config->formula_count++]);
    lua_pop(build->L, 1);
  }
  return status;
}
