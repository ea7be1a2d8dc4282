/* Reads arguments and their attributes. See build.h. */
#include <lua.h>
#include <stddef.h>
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

/* ---- Attributes that are more than an expression -------------------------------------------- */

static void read_dtype(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  const char *passed[DTYPE_COUNT + 2] = {"index"};
  size_t count = 1;
  for (size_t i = 0; i < DTYPE_COUNT; i++)
    if (dtype_passed(&dtype_table[i])) passed[count++] = dtype_table[i].name;
  argument->dtype =
      read_word(build, what, argument->kind == CUGEN_ARGUMENT_SCALAR ? passed : dtype_names);
}

static void argument_read_shape(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  argument->rank = read_exprs(build, what, KERNEL_MAX_RANK, argument->shape);
}

static void argument_read_layout(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  argument->layout = read_layout(build, what, argument->rank);
}

static void argument_read_strides(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  const bool layout = argument->layout.choice || argument->layout.word_count;
  if (layout || argument->pitch)
    build_fail(build, "%s are in place of %s: give one of them", what,
               layout ? "a layout" : "a pitch");
  const int count = read_exprs(build, what, KERNEL_MAX_RANK, argument->strides);
  if (count != argument->rank && argument->rank)
    build_fail(build, "%s are %d, and the shape has %d dimension%s", what, count, argument->rank,
               argument->rank == 1 ? "" : "s");
}

static void read_pitch(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  if (argument->rank < 2) build_fail(build, "%s needs a shape of two dimensions or more", what);
  argument->pitch = read_expr(build, what);
}

static void read_access(struct build *build, void *object, const char *what) {
  struct config_argument *argument = object;
  const char *words[ACCESS_KIND_COUNT + 1] = {NULL};
  size_t count = 0;
  for (int access = 0; access < ACCESS_KIND_COUNT; access++)
    if (config_has_access(argument->kind, (enum access_kind)access))
      words[count++] = access_kind_names[access];
  argument->access = read_word(build, what, words);
}

/* Reads a condition; returns NULL for `false`. */
static const struct expr *read_condition(struct build *build, const char *what) {
  lua_State *L = build->L;
  if (lua_type(L, -1) == LUA_TBOOLEAN && !lua_toboolean(L, -1)) return NULL;
  return read_expr(build, what);
}

static void read_specialize(struct build *build, void *object, const char *what) {
  ((struct config_argument *)object)->compiled = read_condition(build, what);
}

static void read_overwrite(struct build *build, void *object, const char *what) {
  ((struct config_argument *)object)->overwrite = read_condition(build, what);
}

/* The attributes in the order in which they are read, because layout, pitch and strides
   need the shape. */
#define READ(read)        read, 0, NULL, 0
#define EXPRESSION(field) NULL, offsetof(struct config_argument, field), NULL, 0
#define WORD(field, names)                                                                         \
  NULL, offsetof(struct config_argument, field), names, sizeof names / sizeof *names
static const struct attribute attributes[] = {
    {"dtype", BUFFER | SCALAR, READ(read_dtype)},
    {"shape", BUFFER, READ(argument_read_shape)},
    {"layout", BUFFER, READ(argument_read_layout)},
    {"pitch", BUFFER, READ(read_pitch)},
    {"strides", BUFFER, READ(argument_read_strides)},
    {"fill", INPUT | INOUT | CONSTANT | SCRATCH, WORD(fill, fill_kind_names)},
    {"values", INPUT | INOUT | CONSTANT, READ(read_data_values)},
    {"file", INPUT | INOUT | CONSTANT, READ(read_data_file)},
    {"generator", INPUT | INOUT | CONSTANT, READ(read_data_generator)},
    {"memory", INPUT | OUTPUT | INOUT | SCRATCH, WORD(memory, memory_kind_names)},
    {"access", BUFFER, READ(read_access)},
    {"address", INPUT, WORD(address, address_kind_names)},
    {"overwrite", INPUT, READ(read_overwrite)},
    {"tolerance", OUTPUT | INOUT, EXPRESSION(tolerance)},
    {"norm", OUTPUT | INOUT, EXPRESSION(norm)},
    {"value", SCALAR, EXPRESSION(value)},
    {"specialize", SCALAR, READ(read_specialize)},
    {"struct", SCALAR, READ(read_struct_name)},
    {"fields", SCALAR, READ(read_struct_fields)},
    {"when", INPUT | SCRATCH | SCALAR | CONSTANT, EXPRESSION(when)},
};
#undef READ
#undef EXPRESSION
#undef WORD

enum { ATTRIBUTE_COUNT = sizeof attributes / sizeof *attributes };

static void check_attributes(struct build *build, const struct config_argument *argument,
                             const char *keyword) {
  const char *known[ATTRIBUTE_COUNT];
  size_t count = 0;
  for (int i = 0; i < ATTRIBUTE_COUNT; i++)
    if (attributes[i].kinds & 1u << argument->kind) known[count++] = attributes[i].name;
  const char *odd = unknown_key(build, lua_gettop(build->L), known, count);
  for (int i = 0; i < ATTRIBUTE_COUNT && odd; i++)
    if (strcmp(attributes[i].name, odd) == 0)
      build_fail(build, "%s \"%s\" cannot have '%s': that is not for this kind of argument",
                 keyword, argument->name, odd);
  refuse_unknown_key(build, "attribute", build_text(build, "%s \"%s\"", keyword, argument->name),
                     known, count);
}

/* ---- Required attributes -------------------------------------------------------------------- */

static void complete_scalar(struct build *build, struct config_argument *argument) {
  if (argument->struct_name || argument->fields) {
    complete_struct(build, argument);
    return;
  }
  if (!argument->dtype.word && !argument->dtype.expr) argument->dtype.word = "index";
  const struct scope_name *same = scope_find(build, argument->name);
  argument->slot = same && !argument->value ? same->slot : -1;
  if (argument->value || argument->slot >= 0) return;
  if (same && same->role == ROLE_DERIVED)
    build_fail(
        build,
        "scalar \"%s\" has no value, and %s is a derived name: take another name, with value "
        "= \"%s\"",
        argument->name, argument->name, argument->name);
  build_fail(build,
             "scalar \"%s\" has no value: no size of the problem or tunable has its name; give it "
             "value = \"...\"",
             argument->name);
}

static void complete_buffer(struct build *build, const struct config_argument *argument,
                            const char *keyword) {
  const bool dtype = argument->dtype.word || argument->dtype.expr;
  if (!dtype || !argument->rank)
    build_fail(build, "%s \"%s\" has no %s", keyword, argument->name,
               dtype ? "shape: shape = { \"M\", \"N\" }" : "dtype: dtype = \"f32\"");
}

static const struct {
  enum keyword_id keyword;
  cugen_argument_kind kind;
} kinds[] = {
    {KEYWORD_input, CUGEN_ARGUMENT_INPUT},   {KEYWORD_output, CUGEN_ARGUMENT_OUTPUT},
    {KEYWORD_inout, CUGEN_ARGUMENT_INOUT},   {KEYWORD_scratch, CUGEN_ARGUMENT_SCRATCH},
    {KEYWORD_scalar, CUGEN_ARGUMENT_SCALAR}, {KEYWORD_constant, CUGEN_ARGUMENT_CONSTANT},
};

/* Returns the index of the keyword in `kinds`, or the number of kinds if the keyword declares no
   argument. */
static size_t find_kind(enum keyword_id id) {
  size_t i = 0;
  while (i < sizeof kinds / sizeof *kinds && kinds[i].keyword != id) i++;
  return i;
}

bool is_argument(enum keyword_id id) {
  return find_kind(id) < sizeof kinds / sizeof *kinds;
}

size_t argument_names(const struct config *config, const char **names) {
  for (size_t i = 0; i < config->argument_count; i++) names[i] = config->arguments[i].name;
  return config->argument_count;
}

void read_argument(struct build *build, const struct item *item, void *object) {
  struct config_argument *out = object;
  const struct keyword *keyword = item->declaration->keyword;
  *out = (struct config_argument){.name = build_copy(build, item->name, strlen(item->name)),
                                  .kind = kinds[find_kind(keyword->id)].kind,
                                  .line = build->line};
  const bool scalar = out->kind == CUGEN_ARGUMENT_SCALAR;
  if (lua_type(build->L, -1) != LUA_TTABLE)
    build_fail(build, "%s \"%s\" needs its attributes in braces", keyword->name, out->name);
  check_attributes(build, out, keyword->name);
  read_attributes(build, attributes, ATTRIBUTE_COUNT, build_text(build, "\"%s\"", out->name), out);
  if (scalar)
    complete_scalar(build, out);
  else
    complete_buffer(build, out, keyword->name);
  const bool passes = scalar && !out->value && !out->struct_name;
  scope_add(build, (struct scope_name){
                       .name = out->name, .role = ROLE_ARGUMENT, .slot = passes ? out->slot : -1});
}

void read_own_scalar(struct build *build, const struct item *item, void *out) {
  static const char *const others[] = {"struct", "fields", "specialize", "when"};
  const int table = lua_gettop(build->L);
  for (size_t i = 0; i < 4 && lua_type(build->L, table) == LUA_TTABLE; i++)
    if (has_field(build, table, others[i]))
      build_fail(build,
                 "scalar \"%s\" of an implementation has a dtype and a value, no %s: the kernel's "
                 "scalars may. (A tunable without such a scalar is compiled in.)",
                 item->name, others[i]);
  read_argument(build, item, out);
}
