/* Reads structs that are passed by value: struct = "Params", fields = { { "dt", dtype = "f32",
   value = "0.1" }, { "x", buffer = "x" } }. See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"
#include "names.h"

enum { MOST_FIELDS = 32 };

int read_struct_name(struct build *build, struct config_argument *argument, const char *what) {
  int status = read_string(build, argument->line, what, &argument->struct_name);
  if (status || names_identifier(argument->struct_name)) return status;
  return build_fail(build, argument->line, "%s is '%.80s', which is no name of a type", what,
                    argument->struct_name);
}

/* ---- A field -------------------------------------------------------------------------------- */

/* Returns whether this may be what C names in a struct: "n", "w[1]", "in.at". Only its characters
   are looked at, because the compiler refuses a wrong name with the config's line. */
static bool is_designator(const char *name) {
  const size_t length =
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
                   ".[]");
  return length && !name[length] && !strchr("0123456789.[]", *name);
}

static int read_field_name(struct build *build, const struct config_argument *argument, int count,
                           const char *what, const char **out) {
  lua_State *L = build->L;
  lua_rawgeti(L, -1, 1);
  int status = read_string(build, argument->line, what, out);
  lua_pop(L, 1);
  if (!status && !is_designator(*out))
    return build_fail(build, argument->line, "%s: '%.80s' is no name of a field", what, *out);
  for (int i = 0; i < count && !status; i++)
    if (strcmp(argument->fields[i].name, *out) == 0)
      return build_fail(build, argument->line, "%s: there are two fields '%s'", what, *out);
  return status;
}

static int read_field_type(struct build *build, struct config_line line, const char *what,
                           const struct dtype **out) {
  const char *name = NULL;
  int table = lua_gettop(build->L);
  if (!push_field(build, table, "dtype"))
    return build_fail(build, line,
                      "%s has no dtype: { \"dt\", dtype = \"f32\", value = \"0.1\" }; the address "
                      "of a buffer is { \"x\", buffer = \"x\" }",
                      what);
  int status = read_string(build, line, what, &name);
  lua_pop(build->L, 1);
  if (status) return status;
  *out = dtype_find(name);
  if (*out && dtype_passed(*out)) return CUGEN_OK;
  return refuse_name(build, line, name, dtype_names, DTYPE_COUNT, "%s: '%s' is no dtype of a field",
                     what, name);
}

/* A field without a value has the value of the problem or shared tunable of its name. */
static int read_field_value(struct build *build, struct config_line line, const char *what,
                            struct config_field *field) {
  int table = lua_gettop(build->L);
  if (push_field(build, table, "value")) {
    int status = read_expr(build, line, what, &field->value);
    lua_pop(build->L, 1);
    return status;
  }
  struct expr *expr;
  int status = scope_parse(build, field->name, &expr);
  if (status)
    return build_fail(build, line,
                      "%s has no value, and no problem size or shared tunable has its name", what);
  if (!arena_keep(build->arena, expr)) return build_memory(build);
  field->value = expr;
  return CUGEN_OK;
}

/* Reads the name of a buffer that is declared before the struct. */
static int read_field_buffer(struct build *build, struct config_line line, const char *what,
                             size_t *out) {
  const struct config *config = build->config;
  const char *name = NULL, *names[KERNEL_MAX_ARGUMENTS];
  size_t count = 0;
  int status = read_string(build, line, what, &name);
  for (size_t i = 0; i + 1 < config->argument_count && !status; i++) {
    const struct config_argument *a = &config->arguments[i];
    if (a->kind == CUGEN_ARGUMENT_SCALAR || a->kind == CUGEN_ARGUMENT_CONSTANT) continue;
    if (strcmp(a->name, name) == 0) return *out = i, CUGEN_OK;
    names[count++] = a->name;
  }
  return status ? status
                : refuse_name(build, line, name, names, count,
                              "%s: '%.80s' is no input, output, inout or scratch that is declared "
                              "before the struct",
                              what, name);
}

/* Refuses an address that is in another field, too. */
static int check_address(struct build *build, const struct config_argument *argument,
                         const char *what, const struct config_field *field) {
  const struct config *config = build->config;
  for (size_t i = 0; i < config->argument_count; i++)
    for (int k = 0; k < config->arguments[i].field_count; k++) {
      const struct config_field *other = &config->arguments[i].fields[k];
      if (other == field) return CUGEN_OK;
      if (!other->dtype && other->buffer == field->buffer)
        return build_fail(build, argument->line,
                          "%s is the address of \"%s\", which is in field '%s' of \"%s\" already",
                          what, config->arguments[field->buffer].name, other->name,
                          config->arguments[i].name);
    }
  return CUGEN_OK;
}

/* Reads what the field holds: a value, or the address or the pitch of a buffer. */
static int read_field_content(struct build *build, const struct config_argument *argument,
                              const char *what, struct config_field *field) {
  lua_State *L = build->L;
  const int table = lua_gettop(L);
  const bool address = push_field(build, table, "buffer");
  const bool pitch = !address && push_field(build, table, "pitch");
  int status = CUGEN_OK;
  if (address || pitch) {
    status = read_field_buffer(build, argument->line, what, &field->buffer);
    lua_pop(L, 1);
  }
  if (!status && !address) status = read_field_type(build, argument->line, what, &field->dtype);
  if (status) return status;
  if (address) return check_address(build, argument, what, field);
  if (!pitch) return read_field_value(build, argument->line, what, field);
  if (build->config->arguments[field->buffer].rank > 1) return CUGEN_OK;
  return build_fail(build, argument->line, "%s is the pitch of \"%s\", which has one dimension",
                    what, build->config->arguments[field->buffer].name);
}

static bool has_key(struct build *build, int table, const char *key) {
  if (!push_field(build, table, key)) return false;
  lua_pop(build->L, 1);
  return true;
}

static int check_field(struct build *build, struct config_line line, const char *what) {
  static const char *const known[] = {"", "dtype", "value", "buffer", "pitch"};
  enum { KNOWN = sizeof known / sizeof *known };
  lua_State *L = build->L;
  const int table = lua_gettop(L);
  const bool list = lua_type(L, table) == LUA_TTABLE && lua_rawlen(L, table) == 1;
  const char *odd = list ? unknown_key(build, table, known, KNOWN) : NULL;
  if (odd)
    return refuse_name(build, line, odd, known + 1, KNOWN - 1, "%s has an unknown '%s'", what, odd);
  const bool dtype = list && has_key(build, table, "dtype"),
             value = list && has_key(build, table, "value"),
             pitch = list && has_key(build, table, "pitch"),
             buffer = list && has_key(build, table, "buffer");
  if (list && !(buffer ? dtype || value || pitch : value && pitch)) return CUGEN_OK;
  return build_fail(build, line,
                    "%s is a number, { \"dt\", dtype = \"f32\", value = \"0.1\" }, the pitch of a "
                    "buffer, { \"stride\", dtype = \"i32\", pitch = \"A\" }, or its address, { "
                    "\"elements\", buffer = \"A\" }",
                    what);
}

static int field_bytes(const struct config_field *field) {
  return field->dtype ? field->dtype->bytes : (int)sizeof(void *);
}

/* Places the field at the next multiple of its size, as C does. */
static int place_field(struct build *build, struct config_argument *argument,
                       struct config_field *field) {
  int bytes = field_bytes(field);
  field->offset = (argument->struct_bytes + bytes - 1) / bytes * bytes;
  argument->struct_bytes = field->offset + bytes;
  if (argument->struct_bytes <= KERNEL_STRUCT_BYTES) return CUGEN_OK;
  return build_fail(build, argument->line, "struct \"%s\" has more than %d bytes", argument->name,
                    KERNEL_STRUCT_BYTES);
}

/* ---- Structs -------------------------------------------------------------------------------- */

static int struct_read_fields(struct build *build, struct config_argument *argument,
                              struct config_field *fields, int count) {
  int status = CUGEN_OK, align = 1;
  for (int i = 0; i < count && !status; i++) {
    struct text what = {0};
    text_addf(&what, "field %d of \"%s\"", i + 1, argument->name);
    lua_rawgeti(build->L, -1, i + 1);
    status = check_field(build, argument->line, text_get(&what));
    if (!status) status = read_field_name(build, argument, i, text_get(&what), &fields[i].name);
    if (!status) status = read_field_content(build, argument, text_get(&what), &fields[i]);
    if (!status) status = place_field(build, argument, &fields[i]);
    if (!status && field_bytes(&fields[i]) > align) align = field_bytes(&fields[i]);
    lua_pop(build->L, 1);
    text_free(&what);
  }
  argument->struct_bytes = (argument->struct_bytes + align - 1) / align * align;
  return status;
}

int read_struct_fields(struct build *build, struct config_argument *argument, const char *what) {
  size_t count = lua_type(build->L, -1) == LUA_TTABLE ? lua_rawlen(build->L, -1) : 0;
  if (count < 1 || count > MOST_FIELDS)
    return build_fail(
        build, argument->line,
        "%s is a list of 1 to %d fields: { { \"dt\", dtype = \"f32\", value = \"0.1\" } }", what,
        MOST_FIELDS);
  struct config_field *fields = arena_array(build->arena, count, sizeof *fields);
  if (!fields) return build_memory(build);
  argument->fields = fields;
  argument->field_count = (int)count;
  return struct_read_fields(build, argument, fields, (int)count);
}

int complete_struct(struct build *build, struct config_argument *argument) {
  const char *other = argument->dtype.word || argument->dtype.expr ? "dtype"
                      : argument->value                            ? "value"
                      : argument->compiled                         ? "specialize"
                                                                   : NULL;
  if (other)
    return build_fail(build, argument->line,
                      "scalar \"%s\" is a struct and cannot have '%s': its fields have values",
                      argument->name, other);
  if (argument->struct_name && argument->fields) return CUGEN_OK;
  return build_fail(
      build, argument->line, "scalar \"%s\" has %s", argument->name,
      argument->fields
          ? "fields but no struct: struct = \"Params\", the type's name in the template"
          : "a struct without fields: fields = { { \"dt\", dtype = \"f32\", value = \"0.1\" } }");
}
