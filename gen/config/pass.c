/* `pass` and `steps`: the parameters that a launch passes, and how often the launch is repeated.
   Read with the config, evaluated for each variant and step. See build.h and evaluate.h. */
#include <inttypes.h>
#include <lua.h>
#include <string.h>

#include "build.h"
#include "evaluate.h"
#include "names.h"

/* ---- Reading -------------------------------------------------------------------------------- */

void read_steps(struct build *build, struct config_launch *out) {
  if (out->steps)
    build_fail(
        build,
        "a launch in a loop has no steps of its own: the loop's are for all of its launches");
  out->steps = read_expr(build, "steps");
  scope_add(build,
            (struct scope_name){.name = "step", .role = ROLE_LAUNCH, .slot = out->step_slot});
  scope_add(build,
            (struct scope_name){.name = "steps", .role = ROLE_LAUNCH, .slot = out->steps_slot});
}

bool sees_step(const struct config_launch *launch) {
  const int slot = launch->step_slot;
  bool seen = config_spelling_sees(&launch->entry, slot) || expr_sees(launch->shared, slot) ||
              expr_sees(launch->carveout, slot) || expr_sees(launch->overlap, slot) ||
              expr_sees(launch->cooperative, slot);
  for (int i = 0; i < 3; i++)
    seen |= expr_sees(launch->grid[i], slot) || expr_sees(launch->block[i], slot);
  for (size_t i = 0; i < launch->passed_count; i++)
    seen |= expr_sees(launch->passed[i].expr, slot) || expr_sees(launch->passed[i].value, slot);
  return seen;
}

/* Finds an argument of the kernel, or a scalar of the implementation, whose number follows those of
   the arguments. */
static bool pass_find_argument(const struct config *config,
                               const struct config_implementation *implementation, const char *name,
                               size_t *out) {
  const struct config_argument *argument = config_find_argument(config, name);
  size_t own = 0;
  while (own < implementation->own_count && strcmp(implementation->own[own].name, name) != 0) own++;
  *out = argument ? (size_t)(argument - config->arguments) : config->argument_count + own;
  return argument || own < implementation->own_count;
}

static _Noreturn void no_argument(struct build *build, const char *name) {
  const struct config *config = build->config;
  const struct config_implementation *implementation = build->implementation;
  const char *names[KERNEL_MAX_ARGUMENTS];
  size_t count = argument_names(config, names);
  for (size_t i = 0; i < implementation->own_count; i++)
    names[count++] = implementation->own[i].name;
  build_fail_name(build, name, names, count,
                  "pass names '%.80s', which is no argument of this kernel: declare it first, a "
                  "scalar with scalar \"%.80s\" { dtype = ... }",
                  name, name);
}

static bool is_word_tunable(const struct config_tunable *tunable) {
  size_t i = 0;
  while (i < tunable->value_count && tunable->values[i].type != VALUE_STRING) i++;
  return i < tunable->value_count;
}

/* Returns whether the name is a size, or a tunable without a word among its values: such a value
   cannot be the name of an argument. */
static bool pass_is_number(const struct build *build, const char *name) {
  const struct config_implementation *implementation = build->implementation;
  for (size_t i = 0; i < implementation->tunable_count; i++)
    if (strcmp(implementation->tunables[i].name, name) == 0)
      return !is_word_tunable(&implementation->tunables[i]);
  const struct config_problem *problem = config_find_problem(build->config, name);
  return problem && config_is_size(build->config, (size_t)(problem - build->config->problems));
}

/* Reads the value on top of the stack: the name of an argument, or an expression that gives one. */
static void read_passed_name(struct build *build, struct config_parameter *out) {
  const char *name = lua_type(build->L, -1) == LUA_TSTRING ? lua_tostring(build->L, -1) : NULL;
  if (!name)
    build_fail(build, "pass is a list of arguments in braces: %s",
               config_keywords[KEYWORD_pass].example);
  if (pass_find_argument(build->config, build->implementation, name, &out->argument)) return;
  if (names_identifier(name) && !scope_find(build, name)) no_argument(build, name);
  if (pass_is_number(build, name))
    build_fail(build,
               "pass names '%.80s', which is a number and no argument: declare scalar \"%.80s\" { "
               "dtype = ... } in the implementation",
               name, name);
  out->expr = read_expr(build, "pass");
}

/* Reads { "n", value = "n // 2" }. */
static void read_passed_value(struct build *build, struct config_parameter *out) {
  static const char *const known[] = {"value", ""};
  const int table = lua_gettop(build->L);
  if (unknown_key(build, table, known, 2) || lua_rawlen(build->L, table) != 1 ||
      !has_field(build, table, "value"))
    build_fail(
        build,
        "pass: a scalar with its own value in this launch is written { \"n\", value = \"M // "
        "2\" }");
  out->value = read_field_expr(build, table, "value", "value in pass");
  lua_rawgeti(build->L, table, 1);
  read_passed_name(build, out);
  lua_pop(build->L, 1);
}

void read_pass(struct build *build, struct config_launch *out) {
  lua_State *L = build->L;
  const int table = lua_gettop(L);
  const lua_Integer length = list_length(build);
  if (length < 0 || length > KERNEL_MAX_ARGUMENTS)
    build_fail(build, "pass is a list of at most %d arguments in braces: %s", KERNEL_MAX_ARGUMENTS,
               config_keywords[KEYWORD_pass].example);
  struct config_parameter *passed = build_array(build, (size_t)length, sizeof *passed);
  out->passed = passed;
  for (lua_Integer i = 0; i < length; i++) {
    lua_rawgeti(L, table, i + 1);
    if (lua_type(L, -1) == LUA_TTABLE)
      read_passed_value(build, &passed[i]);
    else
      read_passed_name(build, &passed[i]);
    lua_pop(L, 1);
    out->passed_count++;
  }
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

int config_steps(const struct config_launch *launch, const struct value *slots, int64_t *out,
                 cugen_error *err) {
  *out = 1;
  int status = launch->steps ? expr_eval_int(launch->steps, slots, out, err) : CUGEN_OK;
  if (status) return config_prefix(err, launch->line, "steps"), status;
  if (*out >= 0 && *out <= KERNEL_MAX_SEQUENCE) return CUGEN_OK;
  return config_fail(err, launch->line, "steps is %" PRId64 " (from \"%s\"): it must be 0 to %d",
                     *out, expr_text(launch->steps), KERNEL_MAX_SEQUENCE);
}

struct passing {
  const struct config *config;
  const struct config_implementation *implementation;
  const struct config_launch *launch;
  const struct config_parameter *parameter;
  const struct kernel_argument *arguments;
  const struct value *slots;
  cugen_error *err;
};

static int pass_fail(const struct passing *p, const char *format, const char *name) {
  size_t number = (size_t)(p->parameter - p->launch->passed) + 1;
  error_set(p->err, CUGEN_ERROR_CONFIG, format, name);
  return config_prefix(p->err, p->launch->line, "pass, parameter %zu", number), CUGEN_ERROR_CONFIG;
}

static int passed_argument(const struct passing *p, size_t *out) {
  struct value name;
  *out = p->parameter->argument;
  if (!p->parameter->expr) return CUGEN_OK;
  int status = expr_eval(p->parameter->expr, p->slots, &name, p->err);
  if (status) return config_prefix(p->err, p->launch->line, "pass"), status;
  if (name.type == VALUE_STRING &&
      pass_find_argument(p->config, p->implementation, name.string, out))
    return CUGEN_OK;
  struct text text = {0};
  value_print(name, &text);
  status = pass_fail(p,
                     name.type == VALUE_STRING
                         ? "\"%s\" is no argument of this kernel"
                         : "\"%s\" is no argument of this kernel: a number is passed by a "
                           "scalar, of the kernel or the implementation",
                     text_get(&text));
  text_free(&text);
  return status;
}

/* Refuses an argument that is not a parameter of the kernel. */
static int check_passed(const struct passing *p, const struct kernel_argument *argument) {
  if (p->parameter->value && argument->kind != CUGEN_ARGUMENT_SCALAR)
    return pass_fail(p, "'%s' is a buffer: only scalars have a value", argument->name);
  if (argument->absent) return pass_fail(p, "'%s' is no argument of this problem", argument->name);
  if (argument->compiled_in)
    return pass_fail(p, "'%s' is compiled in (specialize), so it is no parameter", argument->name);
  static const char *const places[ACCESS_KIND_COUNT] = {
      [ACCESS_CONSTANT] = "'%s' is a __constant__ symbol, so it is no parameter",
      [ACCESS_SYMBOL] = "'%s' is a __device__ symbol, so it is no parameter",
      [ACCESS_POINTER] = "the address of '%s' is in a symbol, so it is no parameter",
      [ACCESS_FIELD] = "the address of '%s' is in a field of a struct, so it is no parameter"};
  if (places[argument->access]) return pass_fail(p, places[argument->access], argument->name);
  return CUGEN_OK;
}

static int passed_value(const struct passing *p, const struct kernel_argument *argument,
                        struct value *out) {
  int status = expr_eval(p->parameter->value, p->slots, out, p->err);
  if (status) return config_prefix(p->err, p->launch->line, "value in pass"), status;
  if (out->type == VALUE_BOOL) *out = value_int(out->boolean);
  if (value_is_number(out)) return CUGEN_OK;
  return pass_fail(p, "the value of '%s' is no number", argument->name);
}

/* The struct kernel_spec lacks the values of the implementation's own scalars, so the launch
   carries them. */
static int evaluate_parameter(const struct passing *p, struct kernel_parameter *out) {
  *out = (struct kernel_parameter){.value = {.type = VALUE_NIL}};
  int status = passed_argument(p, &out->argument);
  const struct kernel_argument *argument = &p->arguments[out->argument];
  if (!status) status = check_passed(p, argument);
  if (status) return status;
  if (p->parameter->value) return passed_value(p, argument, &out->value);
  if (out->argument >= p->config->argument_count) out->value = argument->value;
  return CUGEN_OK;
}

int config_pass(const struct config *config, const struct config_implementation *implementation,
                const struct config_launch *launch, const struct kernel_argument *arguments,
                const struct value *slots, struct kernel_parameter *out, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < launch->passed_count && !status; i++)
    status = evaluate_parameter(&(struct passing){config, implementation, launch,
                                                  &launch->passed[i], arguments, slots, err},
                                &out[i]);
  return status;
}
