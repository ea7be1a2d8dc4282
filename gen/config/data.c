/* Reads data other than fills (values = "expression" or a list, file, generator), and results that
   a reference gives by an expression or a file. See build.h. */
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "build.h"
#include "evaluate.h"

struct reading {
  struct build *build;
  const struct config_argument *argument; /* whose elements the expression gives */
  struct config_data *data;               /* where the expression is stored */
  size_t readable;                        /* the arguments below this number may be read */
  struct scope_name clash; /* a name of the config that has another meaning in the expression; name
                              NULL: none */
};

static void take_kind(struct build *build, struct config_argument *argument, enum data_kind kind) {
  static const char *const names[] = {"fill", "values", "values", "file", "generator"};
  if (argument->data.kind != DATA_FILL || argument->fill.word || argument->fill.expr)
    build_fail(build, "\"%s\" has both %s and %s: its data comes from one of them", argument->name,
               names[argument->data.kind], names[kind]);
  argument->data.kind = kind;
}

/* ---- values = "expression" ------------------------------------------------------------------ */

int config_data_slot(const struct config *config) {
  return config->first_tunable + (int)config->shared_tunable_count;
}

static const char *const coordinate_names[] = {"index", "i0", "i1", "i2", "i3"};

/* Finds a coordinate of the element, or pi. */
static struct expr_symbol find_coordinate(const struct reading *r, const char *name) {
  for (int i = 0; i <= r->argument->rank; i++)
    if (strcmp(coordinate_names[i], name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT,
                                  .slot = config_data_slot(r->build->config) + i};
  if (strcmp(name, "pi") == 0)
    return (struct expr_symbol){.kind = SYMBOL_CONSTANT,
                                .constant = value_float(0x1.921fb54442d18p1)};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static const struct config_argument *find_readable(const struct reading *r, const char *name) {
  const struct config *config = r->build->config;
  const struct config_argument *argument = config_find_argument(config, name);
  return argument && (size_t)(argument - config->arguments) < r->readable ? argument : NULL;
}

static struct expr_symbol data_find_symbol(void *context, const char *name) {
  struct reading *r = context;
  struct expr_symbol own = find_coordinate(r, name);
  if (own.kind == SYMBOL_UNKNOWN) {
    const struct config_argument *argument = find_readable(r, name);
    const struct expr_symbol known = scope_symbol(r->build, name);
    if (!argument || known.kind != SYMBOL_UNKNOWN) return known;
    if (argument->kind == CUGEN_ARGUMENT_SCALAR && argument->value)
      return (struct expr_symbol){.kind = SYMBOL_EXPR, .expr = argument->value};
    return (struct expr_symbol){.kind = SYMBOL_BUFFER};
  }
  const struct scope_name *clash = scope_find(r->build, name);
  if (clash) r->clash = *clash;
  return own;
}

static const char *const *data_list_names(void *context, size_t *count) {
  return scope_names(((struct reading *)context)->build, count);
}

static bool data_find_buffer(void *context, const char *name, int *buffer, int *rank,
                             struct text *why) {
  struct reading *r = context;
  const struct config *config = r->build->config;
  const struct config_argument *argument = find_readable(r, name);
  if (!argument || !config_has_data(argument->kind)) {
    text_addf(why, "\"%.100s\" is no input, inout or constant", name);
    if (r->readable < config->argument_count)
      text_addf(why, " that is declared before \"%s\"", r->argument->name);
    return false;
  }
  if (argument->data.kind == DATA_GENERATOR) {
    text_addf(why,
              "\"%s\" comes from a generator, which runs on the device: kernels can read it, "
              "expressions cannot",
              name);
    return false;
  }
  *buffer = (int)(argument - config->arguments);
  *rank = argument->rank;
  r->data->reads |= 1u << *buffer;
  return true;
}

static void data_read_expression(struct reading *r, const char *what) {
  struct build *build = r->build;
  const struct expr_scope scope = {data_find_symbol, data_list_names, r};
  const struct expr_extras extras = {.find_buffer = data_find_buffer};
  r->data->values = read_expr_of(build, what, &scope, &extras);
  if (r->clash.name)
    build_fail(
        build,
        "%s: '%s' has a meaning of its own there and is also declared at %s: rename that one", what,
        r->clash.name, build_line(build, r->clash.line));
}

/* ---- values = { 1, 2, 1 } ------------------------------------------------------------------- */

static void read_list_values(struct build *build, struct config_data *data, const char *what) {
  lua_State *L = build->L;
  const int table = lua_gettop(L);
  const lua_Integer length = list_length(build);
  if (length < 1)
    build_fail(build, "%s is an expression in quotes or a list of numbers: { 1, 2, 1 }", what);
  struct value *list = build_array(build, (size_t)length, sizeof *list);
  for (lua_Integer i = 1; i <= length; i++) {
    lua_rawgeti(L, table, i);
    if (lua_type(L, -1) == LUA_TTABLE)
      build_fail(build, "%s has a list inside: all elements stand in one, row by row", what);
    if (lua_type(L, -1) != LUA_TNUMBER)
      build_fail(build, "%s: number %lld of the list is a %s, not a number", what, (long long)i,
                 lua_typename(L, lua_type(L, -1)));
    list[i - 1] =
        lua_isinteger(L, -1) ? value_int(lua_tointeger(L, -1)) : value_float(lua_tonumber(L, -1));
    lua_pop(L, 1);
  }
  data->list = list;
  data->list_count = (size_t)length;
}

void read_data_values(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  const bool list = lua_type(build->L, -1) == LUA_TTABLE;
  take_kind(build, argument, list ? DATA_LIST : DATA_VALUES);
  struct reading r = {.build = build,
                      .argument = argument,
                      .data = &argument->data,
                      .readable = build->config->argument_count - 1};
  if (list)
    read_list_values(build, &argument->data, what);
  else
    data_read_expression(&r, what);
}

/* ---- file, generator ------------------------------------------------------------------------ */

void read_data_file(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  take_kind(build, argument, DATA_FILE);
  argument->data.file = read_string(build, what);
}

void read_data_generator(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  take_kind(build, argument, DATA_GENERATOR);
  const char *text = read_string(build, what);
  for (size_t i = 0; i + 1 < build->config->argument_count; i++)
    if (config_has_data(build->config->arguments[i].kind)) argument->data.reads |= 1u << i;
  read_kernel_file(build, what, text, &argument->data.file, &argument->data.generator);
}

/* ---- reference { y = "2 * x[i0]", z = "z.npy" } ---------------------------------------------- */

void read_answers(struct build *build) {
  lua_State *L = build->L;
  struct config *config = build->config;
  struct config_data *answers = build_array(build, config->argument_count, sizeof *answers);
  config->answers = answers;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    const struct config_argument *argument = name ? config_find_argument(config, name) : NULL;
    if (!name)
      build_fail(build, "reference: each result has its output's name: { y = \"2 * x[i0]\" }");
    if (!argument || !config_has_result(argument->kind))
      build_fail(build, "reference: '%s' is no output or inout", name);
    struct config_data *answer = &answers[argument - config->arguments];
    const char *what = build_text(build, "reference of '%.64s'", name);
    answer->file = read_string(build, what);
    answer->kind = npy_is_name(answer->file) ? DATA_FILE : DATA_VALUES;
    struct reading r = {
        .build = build, .argument = argument, .data = answer, .readable = config->argument_count};
    if (answer->kind == DATA_VALUES) data_read_expression(&r, what);
  }
  for (size_t i = 0; i < config->argument_count; i++)
    if (config_has_result(config->arguments[i].kind) && answers[i].kind == DATA_FILL)
      build_fail(build, "reference: the result of '%s' is missing", config->arguments[i].name);
}

/* ---- What data depends on ------------------------------------------------------------------- */

static void describe_read(const struct kernel_argument *argument, struct text *out) {
  text_addf(out, "%s %d %s", argument->dtype->name, (int)argument->fill, argument->data_hash.hex);
  for (int i = 0; i < argument->rank; i++) text_addf(out, " %lld", (long long)argument->shape[i]);
  text_add_char(out, '\n');
}

static void describe_values(const struct config *config, const struct config_data *data,
                            const struct value *slots, struct text *out) {
  size_t count;
  const int *list = expr_slots(data->values, &count);
  text_addf(out, "%s\n", expr_text(data->values));
  for (size_t i = 0; i < count && list[i] < config_data_slot(config); i++) {
    value_print(slots[list[i]], out);
    text_add_char(out, '\n');
  }
}

/* Describes the numbers as doubles. A whole number of 2^53 or more is appended as an integer,
   too. */
static void data_describe_list(const struct config_data *data, struct text *out) {
  for (size_t i = 0; i < data->list_count; i++) {
    const struct value *value = &data->list[i];
    const bool whole = value->type == VALUE_INT,
               large = whole && llabs(value->integer / 2) >= INT64_C(1) << 52;
    const double number = value_real(value);
    text_add_n(out, (const char *)&number, sizeof number);
    if (large) text_add_n(out, (const char *)&value->integer, sizeof value->integer);
  }
}

void config_data_describe(const struct config *config, const struct config_data *data,
                          const struct value *slots, const struct kernel_argument *arguments,
                          struct hash content, struct text *out) {
  text_addf(out, "%d\n", (int)data->kind);
  if (data->kind == DATA_VALUES) describe_values(config, data, slots, out);
  if (data->kind == DATA_LIST) data_describe_list(data, out);
  if (data->kind == DATA_FILE) text_addf(out, "%s\n%s\n", data->file, content.hex);
  if (data->kind == DATA_GENERATOR) text_addf(out, "%s\n", content.hex);
  for (size_t k = 0; k < config->argument_count; k++)
    if (data->reads >> k & 1) describe_read(&arguments[k], out);
}
