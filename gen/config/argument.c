/* Reads arguments and their attributes. See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

enum {
  INPUT = 1 << CUGEN_ARGUMENT_INPUT,
  OUTPUT = 1 << CUGEN_ARGUMENT_OUTPUT,
  INOUT = 1 << CUGEN_ARGUMENT_INOUT,
  SCRATCH = 1 << CUGEN_ARGUMENT_SCRATCH,
  SCALAR = 1 << CUGEN_ARGUMENT_SCALAR,
  CONSTANT = 1 << CUGEN_ARGUMENT_CONSTANT,
  BUFFER = INPUT | OUTPUT | INOUT | SCRATCH | CONSTANT
};

/* Input of the reader of one attribute, whose value is on top of the stack. */
struct reading {
  struct build *build;
  struct config_argument *argument;
  const char *what; /* name of the attribute in messages: shape of "A" */
};

static int read_dtype(const struct reading *r) {
  const char *passed[DTYPE_COUNT + 2] = {"index"};
  bool scalar = r->argument->kind == CUGEN_ARGUMENT_SCALAR;
  size_t count = 1;
  for (size_t i = 0; i < DTYPE_COUNT; i++)
    if (dtype_passed(&dtype_table[i])) passed[count++] = dtype_table[i].name;
  return read_word(r->build, r->argument->line, r->what, scalar ? passed : dtype_names,
                   &r->argument->dtype);
}

static int argument_read_shape(const struct reading *r) {
  struct config_argument *argument = r->argument;
  return read_exprs(r->build, argument->line, r->what, KERNEL_MAX_RANK, argument->shape,
                    &argument->rank);
}

static int argument_read_layout(const struct reading *r) {
  return read_layout(r->build, r->argument->line, r->what, r->argument->rank, &r->argument->layout);
}

static bool has_layout(const struct config_argument *argument) {
  return argument->layout.choice || argument->layout.word_count;
}

static int argument_read_strides(const struct reading *r) {
  struct config_argument *argument = r->argument;
  int count = 0;
  if (has_layout(argument) || argument->pitch)
    return build_fail(r->build, argument->line, "%s are in place of %s: give one of them", r->what,
                      has_layout(argument) ? "a layout" : "a pitch");
  int status =
      read_exprs(r->build, argument->line, r->what, KERNEL_MAX_RANK, argument->strides, &count);
  if (status || count == argument->rank || !argument->rank) return status;
  return build_fail(r->build, argument->line, "%s are %d, and the shape has %d dimension%s",
                    r->what, count, argument->rank, argument->rank == 1 ? "" : "s");
}

static int read_pitch(const struct reading *r) {
  if (r->argument->rank < 2)
    return build_fail(r->build, r->argument->line, "%s needs a shape of two dimensions or more",
                      r->what);
  return read_expr(r->build, r->argument->line, r->what, &r->argument->pitch);
}

static int read_fill(const struct reading *r) {
  const char *names[FILL_KIND_COUNT + 1] = {NULL};
  memcpy(names, fill_kind_names, sizeof fill_kind_names);
  return read_word(r->build, r->argument->line, r->what, names, &r->argument->fill);
}

static int read_values_attribute(const struct reading *r) {
  return read_data_values(r->build, r->argument, r->what);
}

static int read_file_attribute(const struct reading *r) {
  return read_data_file(r->build, r->argument, r->what);
}

static int read_generator_attribute(const struct reading *r) {
  return read_data_generator(r->build, r->argument, r->what);
}

static int read_struct_attribute(const struct reading *r) {
  return read_struct_name(r->build, r->argument, r->what);
}

static int read_fields_attribute(const struct reading *r) {
  return read_struct_fields(r->build, r->argument, r->what);
}

static int argument_read_memory(const struct reading *r) {
  const char *names[MEMORY_KIND_COUNT + 1] = {NULL};
  memcpy(names, memory_kind_names, sizeof memory_kind_names);
  return read_word(r->build, r->argument->line, r->what, names, &r->argument->memory);
}

static int read_access(const struct reading *r) {
  const char *words[ACCESS_KIND_COUNT + 1] = {NULL};
  size_t count = 0;
  for (int access = 0; access < ACCESS_KIND_COUNT; access++)
    if (config_has_access(r->argument->kind, (enum access_kind)access))
      words[count++] = access_kind_names[access];
  return read_word(r->build, r->argument->line, r->what, words, &r->argument->access);
}

static int argument_read_address(const struct reading *r) {
  const char *names[ADDRESS_KIND_COUNT + 1] = {NULL};
  memcpy(names, address_kind_names, sizeof address_kind_names);
  return read_word(r->build, r->argument->line, r->what, names, &r->argument->address);
}

static int read_tolerance(const struct reading *r) {
  return read_expr(r->build, r->argument->line, r->what, &r->argument->tolerance);
}

static int read_norm(const struct reading *r) {
  return read_expr(r->build, r->argument->line, r->what, &r->argument->norm);
}

static int read_scalar_value(const struct reading *r) {
  return read_expr(r->build, r->argument->line, r->what, &r->argument->value);
}

static int read_specialize(const struct reading *r) {
  lua_State *L = r->build->L;
  if (lua_type(L, -1) == LUA_TBOOLEAN && !lua_toboolean(L, -1)) return CUGEN_OK;
  return read_expr(r->build, r->argument->line, r->what, &r->argument->compiled);
}

static int read_overwrite(const struct reading *r) {
  lua_State *L = r->build->L;
  if (lua_type(L, -1) == LUA_TBOOLEAN && !lua_toboolean(L, -1)) return CUGEN_OK;
  return read_expr(r->build, r->argument->line, r->what, &r->argument->overwrite);
}

static int read_when(const struct reading *r) {
  return read_expr(r->build, r->argument->line, r->what, &r->argument->when);
}

/* The attributes in the order in which they are read, because layout, pitch and strides
   need the shape. */
static const struct attribute {
  const char *name;
  int kinds; /* bits of the kinds of arguments that may have the attribute */
  int (*read)(const struct reading *r);
} attributes[] = {
    {"dtype", BUFFER | SCALAR, read_dtype},
    {"shape", BUFFER, argument_read_shape},
    {"layout", BUFFER, argument_read_layout},
    {"pitch", BUFFER, read_pitch},
    {"strides", BUFFER, argument_read_strides},
    {"fill", INPUT | INOUT | CONSTANT | SCRATCH, read_fill},
    {"values", INPUT | INOUT | CONSTANT, read_values_attribute},
    {"file", INPUT | INOUT | CONSTANT, read_file_attribute},
    {"generator", INPUT | INOUT | CONSTANT, read_generator_attribute},
    {"memory", INPUT | OUTPUT | INOUT | SCRATCH, argument_read_memory},
    {"access", BUFFER, read_access},
    {"address", INPUT, argument_read_address},
    {"overwrite", INPUT, read_overwrite},
    {"tolerance", OUTPUT | INOUT, read_tolerance},
    {"norm", OUTPUT | INOUT, read_norm},
    {"value", SCALAR, read_scalar_value},
    {"specialize", SCALAR, read_specialize},
    {"struct", SCALAR, read_struct_attribute},
    {"fields", SCALAR, read_fields_attribute},
    {"when", INPUT | SCRATCH | SCALAR | CONSTANT, read_when},
};

enum { ATTRIBUTE_COUNT = sizeof attributes / sizeof *attributes };

static int refuse_attribute(struct build *build, const struct config_argument *argument,
                            const char *keyword, const char *name, const char *const *known,
                            size_t count) {
  for (int i = 0; i < ATTRIBUTE_COUNT; i++)
    if (strcmp(attributes[i].name, name) == 0)
      return build_fail(build, argument->line,
                        "%s \"%s\" cannot have '%s': that is not for this kind of argument",
                        keyword, argument->name, name);
  const char *nearest = text_nearest(name, known, count);
  if (nearest)
    return build_fail(build, argument->line, "unknown attribute '%s' of %s \"%s\" (nearest '%s')",
                      name, keyword, argument->name, nearest);
  struct text list = {0};
  for (size_t i = 0; i < count; i++) text_addf(&list, "%s%s", i ? ", " : "", known[i]);
  int status = build_fail(build, argument->line, "%s%s%s of %s \"%s\"; attributes are %s",
                          *name ? "unknown attribute '" : "a value without 'name ='", name,
                          *name ? "'" : "", keyword, argument->name, text_get(&list));
  text_free(&list);
  return status;
}

static int check_attributes(struct build *build, int table, const struct config_argument *argument,
                            const char *keyword) {
  const char *known[ATTRIBUTE_COUNT];
  size_t count = 0;
  for (int i = 0; i < ATTRIBUTE_COUNT; i++)
    if (attributes[i].kinds & 1 << argument->kind) known[count++] = attributes[i].name;
  const char *odd = unknown_key(build, table, known, count);
  return odd ? refuse_attribute(build, argument, keyword, odd, known, count) : CUGEN_OK;
}

static int read_attributes(struct build *build, int table, struct config_argument *argument) {
  int status = CUGEN_OK;
  for (int i = 0; i < ATTRIBUTE_COUNT && !status; i++) {
    if (!push_field(build, table, attributes[i].name)) continue;
    struct text what = {0};
    text_addf(&what, "%s of \"%s\"", attributes[i].name, argument->name);
    status = attributes[i].read(&(struct reading){build, argument, text_get(&what)});
    lua_pop(build->L, 1);
    text_free(&what);
  }
  return status;
}

/* ---- Required attributes -------------------------------------------------------------------- */

static int complete_scalar(struct build *build, struct config_argument *argument) {
  if (argument->struct_name || argument->fields) return complete_struct(build, argument);
  if (!argument->dtype.word && !argument->dtype.expr) argument->dtype.word = "index";
  const struct scope_name *same = scope_find(build, argument->name);
  argument->slot = same && !argument->value ? same->slot : -1;
  if (argument->value || argument->slot >= 0) return CUGEN_OK;
  if (same && same->role == ROLE_DERIVED)
    return build_fail(build, argument->line,
                      "scalar \"%s\" has no value, and %s is a derived name: take another name, "
                      "with value = \"%s\"",
                      argument->name, argument->name, argument->name);
  return build_fail(build, argument->line,
                    "scalar \"%s\" has no value: no size of the problem or tunable has its name; "
                    "give it value = \"...\"",
                    argument->name);
}

static int complete_buffer(struct build *build, const struct config_argument *argument,
                           const char *keyword) {
  bool dtype = argument->dtype.word || argument->dtype.expr;
  if (dtype && argument->rank) return CUGEN_OK;
  return build_fail(build, argument->line, "%s \"%s\" has no %s", keyword, argument->name,
                    dtype ? "shape: shape = { \"M\", \"N\" }" : "dtype: dtype = \"f32\"");
}

static int argument_add_name(struct build *build, const struct config_argument *argument) {
  bool passes =
      argument->kind == CUGEN_ARGUMENT_SCALAR && !argument->value && !argument->struct_name;
  return scope_add(build, &(struct scope_name){.name = argument->name,
                                               .role = ROLE_ARGUMENT,
                                               .line = argument->line,
                                               .slot = passes ? argument->slot : -1});
}

static const struct {
  enum keyword_id keyword;
  cugen_argument_kind kind;
} kinds[] = {
    {KEYWORD_input, CUGEN_ARGUMENT_INPUT},   {KEYWORD_output, CUGEN_ARGUMENT_OUTPUT},
    {KEYWORD_inout, CUGEN_ARGUMENT_INOUT},   {KEYWORD_scratch, CUGEN_ARGUMENT_SCRATCH},
    {KEYWORD_scalar, CUGEN_ARGUMENT_SCALAR}, {KEYWORD_constant, CUGEN_ARGUMENT_CONSTANT},
};

bool is_argument(enum keyword_id id) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].keyword == id) return true;
  return false;
}

static cugen_argument_kind argument_kind_of(enum keyword_id id) {
  size_t i = 0;
  while (kinds[i].keyword != id) i++;
  return kinds[i].kind;
}

static int read_table(struct build *build, struct config_argument *out, const char *keyword) {
  int table = lua_gettop(build->L);
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, out->line, "%s \"%s\" needs its attributes in braces", keyword,
                      out->name);
  int status = check_attributes(build, table, out, keyword);
  if (!status) status = read_attributes(build, table, out);
  if (!status)
    status = out->kind == CUGEN_ARGUMENT_SCALAR ? complete_scalar(build, out)
                                                : complete_buffer(build, out, keyword);
  return status;
}

int read_argument(struct build *build, const struct list *list, const struct item *item,
                  struct config_argument *out) {
  const struct keyword *keyword = item->declaration->keyword;
  *out = (struct config_argument){.kind = argument_kind_of(keyword->id),
                                  .line = item->declaration->line};
  out->name = arena_string(build->arena, item->name, strlen(item->name));
  if (!out->name) return build_memory(build);
  list_push(build, list, item);
  int status = read_table(build, out, keyword->name);
  lua_pop(build->L, 1);
  return status ? status : argument_add_name(build, out);
}

int read_own_scalar(struct build *build, const struct list *list, const struct item *item,
                    struct config_argument *out) {
  static const char *const others[] = {"struct", "fields", "specialize", "when"};
  lua_State *L = build->L;
  int status = CUGEN_OK;
  list_push(build, list, item);
  const int table = lua_gettop(L);
  for (size_t i = 0;
       i < sizeof others / sizeof *others && !status && lua_type(L, table) == LUA_TTABLE; i++) {
    if (!push_field(build, table, others[i])) continue;
    lua_pop(L, 1);
    status = build_fail(build, item->declaration->line,
                        "scalar \"%s\" of an implementation has a dtype and a value, no %s: the "
                        "kernel's scalars may. (A tunable "
                        "without such a scalar is compiled in.)",
                        item->name, others[i]);
  }
  lua_pop(L, 1);
  return status ? status : read_argument(build, list, item, out);
}
