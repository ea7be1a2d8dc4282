/* Reads structs that are passed by value: struct = "Params", fields = { { "dt", dtype = "f32",
   value = "0.1" }, { "x", buffer = "x" } }. See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"
#include "names.h"

enum { MOST_FIELDS = 32 };

void read_struct_name(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  argument->struct_name = read_string(build, what);
  if (!names_identifier(argument->struct_name))
    build_fail(build, "%s is '%.80s', which is no name of a type", what, argument->struct_name);
}

/* ---- A field -------------------------------------------------------------------------------- */

/* Returns whether the name may designate a member of a C struct: "n", "w[1]", "in.at". Checks only
   the characters. */
static bool is_designator(const char *name) {
  const size_t length =
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
                   ".[]");
  return length && !name[length] && !strchr("0123456789.[]", *name);
}

/* Reads the name of field number `count` into *out, even a wrong name. */
static void read_field_name(struct build *build, const struct config_argument *argument, int count,
                            const char *what, const char **out) {
  lua_rawgeti(build->L, -1, 1);
  const char *name = *out = read_string(build, what);
  lua_pop(build->L, 1);
  if (!is_designator(name)) build_fail(build, "%s: '%.80s' is no name of a field", what, name);
  for (int i = 0; i < count; i++)
    if (strcmp(argument->fields[i].name, name) == 0)
      build_fail(build, "%s: there are two fields '%s'", what, name);
}

static const struct dtype *read_field_type(struct build *build, int table, const char *what) {
  if (!push_field(build, table, "dtype"))
    build_fail(build,
               "%s has no dtype: { \"dt\", dtype = \"f32\", value = \"0.1\" }; the address of a "
               "buffer is { \"x\", buffer = \"x\" }",
               what);
  const char *name = read_string(build, what);
  const struct dtype *dtype = dtype_find(name);
  lua_pop(build->L, 1);
  if (!dtype || !dtype_passed(dtype))
    build_fail_name(build, name, dtype_names, DTYPE_COUNT, "%s: '%s' is no dtype of a field", what,
                    name);
  return dtype;
}

/* A field without a value has the value of the problem parameter, shared tunable or derived name
   that has the field's name. */
static const struct expr *read_field_value(struct build *build, int table, const char *what,
                                           const char *name) {
  const struct expr *value = read_field_expr(build, table, "value", what);
  struct expr *expr;
  if (value) return value;
  if (scope_parse(build, name, &expr))
    build_fail(build, "%s has no value, and no problem size or shared tunable has its name", what);
  return keep_expr(build, expr, name);
}

/* Reads the name of a buffer that is declared before the struct. */
static size_t read_field_buffer(struct build *build, const char *what) {
  const struct config *config = build->config;
  const char *name = read_string(build, what), *names[KERNEL_MAX_ARGUMENTS];
  size_t count = 0;
  for (size_t i = 0; i + 1 < config->argument_count; i++) {
    const struct config_argument *a = &config->arguments[i];
    if (a->kind == CUGEN_ARGUMENT_SCALAR || a->kind == CUGEN_ARGUMENT_CONSTANT) continue;
    if (strcmp(a->name, name) == 0) return i;
    names[count++] = a->name;
  }
  build_fail_name(build, name, names, count,
                  "%s: '%.80s' is no input, output, inout or scratch that is declared before the "
                  "struct",
                  what, name);
}

/* Refuses an address that is in another field, too. */
static void check_address(struct build *build, const char *what, const struct config_field *field) {
  const struct config *config = build->config;
  for (size_t i = 0; i < config->argument_count; i++)
    for (int k = 0; k < config->arguments[i].field_count; k++) {
      const struct config_field *other = &config->arguments[i].fields[k];
      if (other == field) return;
      if (!other->dtype && other->buffer == field->buffer)
        build_fail(build, "%s is the address of \"%s\", which is in field '%s' of \"%s\" already",
                   what, config->arguments[field->buffer].name, other->name,
                   config->arguments[i].name);
    }
}

/* Reads what the field holds: a value, or the address or the pitch of a buffer. */
static void read_field_content(struct build *build, const char *what, struct config_field *field) {
  const int table = lua_gettop(build->L);
  const bool address = push_field(build, table, "buffer");
  const bool pitch = !address && push_field(build, table, "pitch");
  if (address || pitch) {
    field->buffer = read_field_buffer(build, what);
    lua_pop(build->L, 1);
  }
  if (address) {
    check_address(build, what, field);
    return;
  }
  field->dtype = read_field_type(build, table, what);
  const struct config_argument *buffer = &build->config->arguments[field->buffer];
  if (pitch && buffer->rank <= 1)
    build_fail(build, "%s is the pitch of \"%s\", which has one dimension", what, buffer->name);
  if (!pitch) field->value = read_field_value(build, table, what, field->name);
}

static void check_field(struct build *build, const char *what) {
  static const char *const known[] = {"", "dtype", "value", "buffer", "pitch"};
  enum { KNOWN = sizeof known / sizeof *known };
  lua_State *L = build->L;
  const int table = lua_gettop(L);
  const bool list = lua_type(L, table) == LUA_TTABLE && lua_rawlen(L, table) == 1;
  const char *odd = list ? unknown_key(build, table, known, KNOWN) : NULL;
  if (odd) build_fail_name(build, odd, known + 1, KNOWN - 1, "%s has an unknown '%s'", what, odd);
  const bool value = list && has_field(build, table, "value"),
             pitch = list && has_field(build, table, "pitch"),
             buffer = list && has_field(build, table, "buffer"),
             dtype = list && has_field(build, table, "dtype");
  if (!list || (buffer ? dtype || value || pitch : value && pitch))
    build_fail(build,
               "%s is a number, { \"dt\", dtype = \"f32\", value = \"0.1\" }, the pitch of a "
               "buffer, { \"stride\", dtype = \"i32\", pitch = \"A\" }, or its address, { "
               "\"elements\", buffer = \"A\" }",
               what);
}

static int field_bytes(const struct config_field *field) {
  return field->dtype ? field->dtype->bytes : (int)sizeof(void *);
}

/* Places the field at the next multiple of its size, as C does. */
static void place_field(struct build *build, struct config_argument *argument,
                        struct config_field *field) {
  const int bytes = field_bytes(field);
  field->offset = (argument->struct_bytes + bytes - 1) / bytes * bytes;
  argument->struct_bytes = field->offset + bytes;
  if (argument->struct_bytes > KERNEL_STRUCT_BYTES)
    build_fail(build, "struct \"%s\" has more than %d bytes", argument->name, KERNEL_STRUCT_BYTES);
}

/* ---- Structs -------------------------------------------------------------------------------- */

void read_struct_fields(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  const size_t count = lua_type(build->L, -1) == LUA_TTABLE ? lua_rawlen(build->L, -1) : 0;
  int align = 1;
  if (count < 1 || count > MOST_FIELDS)
    build_fail(build,
               "%s is a list of 1 to %d fields: { { \"dt\", dtype = \"f32\", value = \"0.1\" } }",
               what, MOST_FIELDS);
  struct config_field *fields = build_array(build, count, sizeof *fields);
  argument->fields = fields;
  argument->field_count = (int)count;
  for (int i = 0; i < (int)count; i++) {
    const char *field = build_text(build, "field %d of \"%s\"", i + 1, argument->name);
    lua_rawgeti(build->L, -1, i + 1);
    check_field(build, field);
    read_field_name(build, argument, i, field, &fields[i].name);
    read_field_content(build, field, &fields[i]);
    place_field(build, argument, &fields[i]);
    if (field_bytes(&fields[i]) > align) align = field_bytes(&fields[i]);
    lua_pop(build->L, 1);
  }
  argument->struct_bytes = (argument->struct_bytes + align - 1) / align * align;
}

void complete_struct(struct build *build, const struct config_argument *argument) {
  const char *other = argument->dtype.word || argument->dtype.expr ? "dtype"
                      : argument->value                            ? "value"
                      : argument->compiled                         ? "specialize"
                                                                   : NULL;
  if (other)
    build_fail(build, "scalar \"%s\" is a struct and cannot have '%s': its fields have values",
               argument->name, other);
  if (argument->struct_name && argument->fields) return;
  build_fail(
      build, "scalar \"%s\" has %s", argument->name,
      argument->fields
          ? "fields but no struct: struct = \"Params\", the type's name in the template"
          : "a struct without fields: fields = { { \"dt\", dtype = \"f32\", value = \"0.1\" } }");
}
