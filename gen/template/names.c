/* The names of a config as a template sees them: in a `//@` line a value, in CUDA text a line of
   the prologue.

   Algorithm: one hash table for each expansion, made by names_open and then fixed, with open
   addressing and linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithm L) and
   the FNV-1a hash. At most a quarter of the buckets is in use, so that most look-ups cost one
   probe. A list beside the table has the names in the order of declaration, which is the order of
   the prologue, where only shared arrays come first.

   Known slots. A slot is known when its value is compiled in. A size that is passed by a scalar
   argument is not known: the text must be right for each value. expr_bind fills in the known values
   and leaves an expression, which is printed in C: where only N is passed, "ceil_div(N, tile)"
   becomes C text with the parameter N in it.

   Forms in CUDA text (names_define):
   - a dtype, and each NAME_t, is a `using`;
   - a number is a #define, or `constexpr auto` where the source declares the same name in a scope
     of its own, which a macro would spoil (name->scoped, found by scopes.c);
   - an expression that depends on an unknown slot is a #define of a C expression, cast to index_t
     if the result is whole;
   - a stride is the product of the extents inside of its dimension (the pitch in place of the
     innermost extent if a pitch is declared);
   - a name that is passed has no line, because the kernel has a parameter of that name.

   Invariants:
   - All names are distinct: config/scope.c refuses a config that declares one of the names that are
     made here.
   - Texts of composed names (A_stride0) lie in one text buffer. list[i].text is set when the buffer
     no longer moves.
   - names_reads leaves out nothing that the text depends on; it may give more. Two problems that
     agree in its slots, in the values of its expressions and in the width of index_t have the same
     source. */
#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/config/evaluate.h"

/* ---- The table ------------------------------------------------------------------------------ */

static size_t hash_of(const char *text, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
  return hash ^ hash >> 15;
}

struct name *names_find_any(const struct names *names, const char *text, size_t length) {
  size_t mask = names->bucket_count - 1;
  for (size_t i = hash_of(text, length) & mask; names->buckets[i]; i = (i + 1) & mask) {
    struct name *name = &names->list[names->buckets[i] - 1];
    if (name->length == length && memcmp(name->text, text, length) == 0) return name;
  }
  return NULL;
}

struct name *names_find(const struct names *names, const char *text, size_t length) {
  struct name *name = names_find_any(names, text, length);
  return name && name->kind == NAME_ELEMENT ? NULL : name;
}

static void names_insert(struct names *names, size_t index) {
  size_t mask = names->bucket_count - 1;
  size_t i = hash_of(names->list[index].text, names->list[index].length) & mask;
  while (names->buckets[i]) i = (i + 1) & mask;
  names->buckets[i] = (unsigned short)(index + 1);
}

static void names_add(struct names *names, struct name name, const char *text) {
  name.text = text;
  name.length = strlen(text);
  names->list[names->count++] = name;
}

/* Adds a name that consists of an argument's name and a suffix. */
static void add_composed(struct names *names, enum name_kind kind, int argument, const char *suffix,
                         int dimension) {
  struct name name = {.kind = kind, .index = argument, .dimension = dimension, .scalar = -1};
  name.at = names->texts.length;
  text_add(&names->texts, names->in.config->arguments[argument].name);
  text_add(&names->texts, suffix);
  if (kind == NAME_STRIDE) text_addf(&names->texts, "%d", dimension);
  name.length = names->texts.length - name.at;
  text_add_char(&names->texts, '\0');
  names->list[names->count++] = name;
}

static const struct config_argument *declared_of(const struct names *names, int argument) {
  const struct config *config = names->in.config;
  const size_t i = (size_t)argument;
  return i < config->argument_count ? &config->arguments[i]
                                    : &names->in.own[i - config->argument_count];
}

/* Returns NULL for a fact of the device. */
static const char *names_slot_name(const struct names_input *in, int slot) {
  if (slot >= in->config->first_tunable) return in->tunables[slot - in->config->first_tunable].name;
  if (slot >= in->config->first_problem)
    return in->config->problems[slot - in->config->first_problem].name;
  return NULL;
}

static void add_scalar(struct names *names, int argument) {
  const struct config_argument *declared = declared_of(names, argument);
  for (size_t i = 0; i < names->count; i++) {
    struct name *name = &names->list[i];
    if (name->kind != NAME_SLOT || strcmp(name->text, declared->name) != 0) continue;
    name->scalar = argument;
    if (!declared->value && !names->in.arguments[argument].compiled_in)
      names->known[name->index] = names->all_known = false;
    return;
  }
  names_add(names, (struct name){.kind = NAME_SCALAR, .index = argument, .scalar = argument},
            declared->name);
}

static void names_add_argument(struct names *names, int argument) {
  const struct kernel_argument *evaluated = &names->in.arguments[argument];
  if (evaluated->absent) return;
  if (evaluated->struct_bytes) return; /* the type of a struct is declared by the template */
  add_composed(names, NAME_TYPE, argument, "_t", 0);
  if (evaluated->kind == CUGEN_ARGUMENT_SCALAR) {
    add_scalar(names, argument);
    return;
  }
  for (int i = 0; i < evaluated->rank; i++)
    add_composed(names, NAME_STRIDE, argument, "_stride", i);
  if (evaluated->rank > 1)
    add_composed(names, NAME_PITCH, argument, "_pitch", kernel_argument_dimension(evaluated, 1));
  if (evaluated->rank > 0) add_composed(names, NAME_LAYOUT, argument, "_layout", 0);
  if (evaluated->rank > 0)
    names_add(names, (struct name){.kind = NAME_ELEMENT, .index = argument, .scalar = -1},
              names->in.config->arguments[argument].name);
}

static void add_all(struct names *names) {
  const struct names_input *in = &names->in;
  const struct config *config = in->config;
  struct name slot = {.kind = NAME_SLOT, .index = config->first_problem, .scalar = -1};
  names_add(names, (struct name){.kind = NAME_INDEX_T, .scalar = -1}, "index_t");
  names_add(names, (struct name){.kind = NAME_TENSOR_MAP, .scalar = -1}, "tensor_map");
  for (size_t i = 0; i < config->problem_count; i++, slot.index++)
    names_add(names, slot, config->problems[i].name);
  slot.index = config->first_tunable;
  for (size_t i = 0; i < in->tunable_count; i++, slot.index++)
    names_add(names, slot, in->tunables[i].name);
  for (size_t i = 0; i < in->derived_count; i++)
    names_add(names, (struct name){.kind = NAME_DERIVED, .index = (int)i, .scalar = -1},
              in->derived[i].name);
  for (size_t i = 0; i < config->argument_count; i++) names_add_argument(names, (int)i);
  for (size_t i = 0; i < in->own_count; i++) add_scalar(names, (int)(config->argument_count + i));
  for (size_t i = 0; in->sharing && i < in->sharing->shared_count; i++)
    names_add(names, (struct name){.kind = NAME_SHARED, .index = (int)i, .scalar = -1},
              in->sharing->shared[i].name);
}

static void fill_buckets(struct names *names) {
  for (size_t i = 0; i < names->count; i++) {
    if (!names->list[i].text) names->list[i].text = names->texts.data + names->list[i].at;
    names_insert(names, i);
  }
}

static bool names_allocate(struct names *names) {
  const struct names_input *in = &names->in;
  /* An argument adds at most a type, a stride for each dimension, a pitch, a layout and its
     elements. */
  names->capacity = 2 + in->config->problem_count + in->tunable_count + in->derived_count +
                    in->config->argument_count * (KERNEL_MAX_RANK + 4) + in->own_count +
                    CONFIG_MAX_SHARED;
  names->bucket_count = 64;
  while (names->bucket_count < 4 * names->capacity) names->bucket_count *= 2;
  names->list = calloc(names->capacity, sizeof *names->list);
  names->buckets = calloc(names->bucket_count, sizeof *names->buckets);
  names->known = malloc((in->slot_count + 1) * sizeof *names->known);
  names->facts = calloc(DEVICE_FACT_COUNT, sizeof *names->facts);
  return names->list && names->buckets && names->known && names->facts;
}

int names_open(const struct names_input *in, struct names *out, cugen_error *err) {
  *out = (struct names){.in = *in, .all_known = true};
  if (!names_allocate(out)) {
    names_close(out);
    return error_memory(err);
  }
  for (size_t i = 0; i < in->slot_count; i++) out->known[i] = true;
  add_all(out);
  if (out->texts.failed) {
    names_close(out);
    return error_memory(err);
  }
  fill_buckets(out);
  return CUGEN_OK;
}

void names_close(struct names *names) {
  free(names->list);
  free(names->buckets);
  free(names->known);
  free(names->facts);
  text_free(&names->texts);
  *names = (struct names){0};
}

/* ---- Values --------------------------------------------------------------------------------- */

static int derived_error(const struct names *names, const struct name *name, int status,
                         cugen_error *err) {
  config_prefix(err, names->in.derived[name->index].line, "derived name '%s'", name->text);
  return status;
}

static int derived_value(const struct names *names, const struct name *name, struct value *out,
                         cugen_error *err) {
  int status = expr_eval(names->in.derived[name->index].expr, names->in.slots, out, err);
  return status ? derived_error(names, name, status, err) : CUGEN_OK;
}

static int check_strides(const struct names *names, const struct name *name, cugen_error *err) {
  const struct kernel_argument *argument = &names->in.arguments[name->index];
  const struct config_line line = names->in.config->arguments[name->index].line;
  if (!argument->map.count) return CUGEN_OK;
  return config_fail(err, line, "%s: the layout of \"%s\" is %s, which has no strides", name->text,
                     argument->name, argument->layout);
}

int names_value(const struct names *names, const struct name *name, struct value *out,
                cugen_error *err) {
  const struct names_input *in = &names->in;
  switch (name->kind) {
  case NAME_INDEX_T: *out = value_string(in->wide_index ? "i64" : "i32"); break;
  case NAME_TENSOR_MAP:
  case NAME_ELEMENT:
  case NAME_SHARED: *out = (struct value){.type = VALUE_NIL}; break;
  case NAME_SLOT: *out = in->slots[name->index]; break;
  case NAME_DERIVED: return derived_value(names, name, out, err);
  case NAME_SCALAR: *out = in->arguments[name->index].value; break;
  case NAME_TYPE: *out = value_string(in->arguments[name->index].dtype->name); break;
  case NAME_STRIDE:
  case NAME_PITCH:
    *out = value_int(in->arguments[name->index].stride[name->dimension]);
    return check_strides(names, name, err);
  case NAME_LAYOUT: *out = value_string(kernel_argument_layout(&in->arguments[name->index])); break;
  }
  return CUGEN_OK;
}

bool names_only_lua(const struct names *names, const struct name *name) {
  struct value value = {.type = VALUE_NIL};
  if (name->kind == NAME_LAYOUT) return true;
  if (name->kind != NAME_SLOT && name->kind != NAME_DERIVED) return false;
  if (names_value(names, name, &value, NULL)) return false;
  return value.type == VALUE_STRING && !dtype_find(value.string);
}

bool names_parameter(const struct names *names, const struct name *name) {
  return name->scalar >= 0 && !names->in.arguments[name->scalar].compiled_in;
}

bool names_macro(const struct names *names, const struct name *name) {
  struct value value = {.type = VALUE_NIL};
  if (name->kind == NAME_INDEX_T || name->kind == NAME_TENSOR_MAP || name->kind == NAME_TYPE ||
      name->kind == NAME_LAYOUT || name->kind == NAME_ELEMENT || name->kind == NAME_SHARED ||
      names_parameter(names, name))
    return false;
  return !names_value(names, name, &value, NULL) && value.type != VALUE_STRING;
}

bool names_constant(const struct names *names, const struct name *name) {
  if (name->kind == NAME_DERIVED) {
    size_t count;
    const int *slots = expr_slots(names->in.derived[name->index].expr, &count);
    bool known = true;
    for (size_t i = 0; i < count; i++) known &= names->known[slots[i]];
    return known;
  }
  if (name->kind == NAME_STRIDE || name->kind == NAME_PITCH)
    return names->all_known && !names->in.wide_index;
  return name->scalar < 0 || !names->in.arguments[name->scalar].dtype->floating;
}

bool names_tunable(const struct names *names, const struct name *name) {
  return name->kind == NAME_SLOT && name->index >= names->in.config->first_tunable;
}

/* ---- Definitions ---------------------------------------------------------------------------- */

/* Prints a number; in parentheses if it is below 0, because an operator in front could bind to the
   sign. */
static void names_put_number(struct value value, struct text *out) {
  bool negative = (value.type == VALUE_INT && value.integer < 0) ||
                  (value.type == VALUE_FLOAT && value.real < 0);
  if (value.type == VALUE_BOOL) {
    text_add(out, value.boolean ? "1" : "0");
    /* the digits of INT64_MIN without their sign are out of range in C */
  } else if (value.type == VALUE_INT && value.integer == INT64_MIN) {
    text_add(out, "(-9223372036854775807LL - 1)");
  } else {
    if (negative) text_add_char(out, '(');
    value_print_literal(value, out);
    if (negative) text_add_char(out, ')');
  }
}

static void define_type(const struct name *name, const struct dtype *dtype, struct text *out,
                        const struct dtype **type) {
  text_add(out, "using ");
  text_add_n(out, name->text, name->length);
  text_add(out, " = ");
  text_add(out, dtype->cuda_name);
  text_add(out, ";\n");
  *type = dtype;
}

static void define_number(const struct name *name, struct value value, struct text *out) {
  text_add(out, name->scoped ? "constexpr auto " : "#define ");
  text_add_n(out, name->text, name->length);
  text_add(out, name->scoped ? " = " : " ");
  names_put_number(value, out);
  text_add(out, name->scoped ? ";\n" : "\n");
}

/* A boolean that the text only asks about by #ifdef is a macro if it is true, and not defined if it
   is false. */
static void define_value(const struct name *name, struct value value, struct text *out,
                         const struct dtype **type) {
  if (!name->valued && value.type == VALUE_BOOL && !value.boolean) return;
  if (value.type == VALUE_STRING)
    define_type(name, dtype_find(value.string), out, type);
  else
    define_number(name, value, out);
}

static void define_scalar(const struct names *names, const struct name *name, struct text *out,
                          const struct dtype **type) {
  const struct kernel_argument *argument = &names->in.arguments[name->scalar];
  if (!argument->dtype->floating) {
    define_number(name, argument->value, out);
    return;
  }
  /* A plain literal such as 0.5 would be a double and make the arithmetic on floats double. */
  text_addf(out, "#define %s ((%s)(", name->text, argument->dtype->cuda_name);
  names_put_number(argument->value, out);
  text_add(out, "))\n");
  *type = argument->dtype;
}

/* Prints slots in C. expr_print_c takes slots for long long, but a parameter of type index_t may be
   an int. */
struct slot_writer {
  const struct names *names;
  bool wide;        /* convert parameters to long long */
  struct text name; /* the name returned last */
};

static const char *names_write_slot(void *context, int slot) {
  struct slot_writer *writer = context;
  text_clear(&writer->name);
  text_addf(&writer->name, writer->wide ? "((long long)%s)" : "%s",
            names_slot_name(&writer->names->in, slot));
  return text_get(&writer->name);
}

static int refuse_real_slots(const struct names *names, const struct expr *bound,
                             cugen_error *err) {
  size_t count;
  const int *slots = expr_slots(bound, &count);
  for (size_t i = 0; i < count; i++)
    if (names->in.slots[slots[i]].type != VALUE_INT)
      return error_set(
          err, CUGEN_ERROR_TEMPLATE,
          "'%s' is no whole number and passed at launch, so that \"%s\" cannot be written in C",
          names_slot_name(&names->in, slots[i]), expr_text(bound));
  return CUGEN_OK;
}

/* Returns whether the text is just the name of one of expr's slots. */
static bool is_slot(const struct names *names, const struct expr *expr, const char *text) {
  size_t count;
  const int *slots = expr_slots(expr, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(text, names_slot_name(&names->in, slots[i])) == 0) return true;
  return false;
}

/* Prints the expression. Its parameters are converted to long long, unless the text is just the
   name of one parameter. */
static int print_slots(struct slot_writer *writer, const struct expr *bound, struct text *out,
                       cugen_error *err) {
  struct text plain = {0};
  int status = expr_print_c(bound, names_write_slot, writer, &plain, err);
  bool alone = !status && is_slot(writer->names, bound, text_get(&plain));
  writer->wide = true;
  text_add_char(out, '(');
  if (alone)
    text_add(out, text_get(&plain));
  else if (!status)
    status = expr_print_c(bound, names_write_slot, writer, out, err);
  text_add_char(out, ')');
  out->failed |= plain.failed || writer->name.failed;
  text_free(&plain);
  return status;
}

/* Binds the known slots of expr. Sets *constant to the value if it is known then; otherwise to
   VALUE_NIL, and appends the C expression in parentheses. */
static int names_put_bound(const struct names *names, const struct expr *expr,
                           struct value *constant, struct text *out, cugen_error *err) {
  struct expr *bound;
  int status = expr_bind(expr, names->in.slots, names->known, names->in.slot_count, &bound, err);
  if (status) return status;
  constant->type = VALUE_NIL;
  if (!expr_constant(bound, constant)) {
    struct slot_writer writer = {.names = names};
    status = refuse_real_slots(names, bound, err);
    if (!status) status = print_slots(&writer, bound, out, err);
    text_free(&writer.name);
  }
  expr_free(bound);
  return status;
}

static int define_derived(const struct names *names, const struct name *name, struct text *out,
                          const struct dtype **type, cugen_error *err) {
  struct value value, constant = {.type = VALUE_NIL};
  struct text text = {0};
  int status = derived_value(names, name, &value, err);
  if (status) return status;
  if (!names->all_known) {
    status = names_put_bound(names, names->in.derived[name->index].expr, &constant, &text, err);
    if (status) status = derived_error(names, name, status, err);
  }
  if (!status && text.failed) status = error_memory(err);
  if (!status && text.length)
    text_addf(out, value.type == VALUE_INT ? "#define %s ((index_t)%s)\n" : "#define %s %s\n",
              name->text, text_get(&text));
  else if (!status)
    define_value(name, value, out, type);
  text_free(&text);
  return status;
}

/* The factors of a dimension's stride: the pitch (or the extent of the contiguous dimension and its
   pad), then the extents of the dimensions in between. A declared stride is its only factor. */
struct product {
  const struct expr *factors[KERNEL_MAX_RANK];
  int count;
  int64_t pad; /* is added to the first factor */
};

static struct product stride_factors(const struct names *names, int argument, int dimension) {
  const struct config_argument *declared = &names->in.config->arguments[argument];
  const struct kernel_argument *evaluated = &names->in.arguments[argument];
  const bool plain = names->in.plain[argument];
  struct product product = {{NULL}, 0, 0};
  struct layout layout;
  if (declared->strides[0] && !plain) return (struct product){{declared->strides[dimension]}, 1, 0};
  for (int i = 0, at; (at = kernel_argument_dimension(evaluated, i)) != dimension; i++)
    product.factors[product.count++] =
        i == 0 && declared->pitch && !plain ? declared->pitch : declared->shape[at];
  if (product.count && !layout_read(evaluated->layout, evaluated->rank, &layout, NULL))
    product.pad = layout.pad;
  return product;
}

/* Appends the factors that only the launch knows; *constant becomes the product of the other
   factors. */
static int put_product(const struct names *names, const struct product *product, int64_t *constant,
                       struct text *out, cugen_error *err) {
  *constant = 1;
  for (int i = 0; i < product->count; i++) {
    const int64_t pad = i ? 0 : product->pad;
    struct value value;
    struct text factor = {0};
    int status = names_put_bound(names, product->factors[i], &value, &factor, err);
    if (!status && value.type == VALUE_INT) value.integer += pad;
    if (!status && value.type == VALUE_INT &&
        __builtin_mul_overflow(*constant, value.integer, constant))
      status = error_set(err, CUGEN_ERROR_CONFIG, "a stride is above 2^63 - 1");
    if (factor.length && out->length) text_add(out, " * ");
    if (factor.length && pad)
      text_addf(out, "(%s + %lld)", text_get(&factor), (long long)pad);
    else
      text_add(out, text_get(&factor));
    out->failed |= factor.failed;
    text_free(&factor);
    if (status) return status;
  }
  return CUGEN_OK;
}

/* A stride has the width of offsets, because an int times a plain number would be computed as an
   int. A text that does not mention index_t does not define that type, so that type is spelled out
   for a stride that is a number. */
static int define_distance(const struct names *names, const struct name *name, struct text *out,
                           cugen_error *err) {
  const struct config_argument *declared = &names->in.config->arguments[name->index];
  const int64_t stride = names->in.arguments[name->index].stride[name->dimension];
  struct product product = stride_factors(names, name->index, name->dimension);
  struct text factors = {0};
  int64_t constant = 1;
  int status = check_strides(names, name, err);
  if (status) return status;
  if (!names->all_known) status = put_product(names, &product, &constant, &factors, err);
  if (status) config_prefix(err, declared->line, "%s", name->text);
  if (!status && factors.failed) status = error_memory(err);
  if (!status && factors.length && constant != 1)
    text_addf(out, "#define %s ((index_t)(%lld * %s))\n", name->text, (long long)constant,
              text_get(&factors));
  else if (!status && factors.length)
    text_addf(out, "#define %s ((index_t)%s)\n", name->text, text_get(&factors));
  else if (!status && names->in.wide_index && stride > 1)
    text_addf(out, "#define %s ((long long)%" PRId64 ")\n", name->text, stride);
  else if (!status)
    define_number(name, value_int(stride), out);
  text_free(&factors);
  return status;
}

/* ---- Elements of arguments ------------------------------------------------------------------ */

/* The parameters of the macro A(i_, j_). No size or argument has such a name, because
   gen/config/names.c reserves them. */
static const char *const element_indices[KERNEL_MAX_RANK] = {"i_", "j_", "k_", "l_"};

/* Appends how many tiles of `tile` elements the dimension has, or elements for a tile of 1. */
static int put_extent(const struct names *names, const struct config_argument *declared,
                      int dimension, int64_t tile, struct text *out, cugen_error *err) {
  struct value value;
  struct text extent = {0};
  int status = names_put_bound(names, declared->shape[dimension], &value, &extent, err);
  if (!status && !extent.length) {
    text_addf(out, " * %" PRId64, (value.integer + tile - 1) / tile);
  } else if (!status) {
    text_addf(out, tile == 1 ? " * (index_t)%s" : " * (((index_t)%s + ", text_get(&extent));
    if (tile > 1) text_addf(out, "%" PRId64 ") / %" PRId64 ")", tile - 1, tile);
  }
  out->failed |= extent.failed;
  text_free(&extent);
  return status;
}

/* Appends the factor of a mode of the outermost tiles: the elements of one of these tiles, times
   the numbers of tiles along the dimensions inside of it, which only the launch may know. */
static int put_tile_stride(const struct names *names, const struct name *name, int mode,
                           struct text *out, cugen_error *err) {
  const struct kernel_argument *argument = &names->in.arguments[name->index];
  const struct layout_map *map = &argument->map;
  int status = CUGEN_OK;
  text_addf(out, " * %" PRId64, map->modes[argument->rank - 1].stride);
  for (int i = mode + 1; i < argument->rank && !status; i++)
    status = put_extent(names, &names->in.config->arguments[name->index], map->modes[i].dimension,
                        map->modes[i].divisor, out, err);
  return status;
}

/* Appends the offset of an element of a tiled argument. */
static int put_tiles(const struct names *names, const struct name *name, struct text *out,
                     cugen_error *err) {
  const struct kernel_argument *argument = &names->in.arguments[name->index];
  const struct layout_map *map = &argument->map;
  const char *type = names->in.wide_index ? "unsigned long long" : "unsigned";
  int status = CUGEN_OK;
  for (int i = 0; i < map->count && !status; i++) {
    const struct layout_mode *mode = &map->modes[i];
    const bool outermost = i < argument->rank;
    if (!outermost && mode->extent == 1) continue;
    if (i) text_add(out, " + ");
    text_addf(out, "(index_t)((%s)(%s)", type, element_indices[mode->dimension]);
    if (mode->divisor > 1) text_addf(out, " / %" PRId64, mode->divisor);
    if (!outermost) text_addf(out, " %% %" PRId64, mode->extent);
    text_add(out, ")");
    if (outermost)
      status = put_tile_stride(names, name, i, out, err);
    else if (mode->stride > 1)
      text_addf(out, " * %" PRId64, mode->stride);
  }
  return status;
}

/* Returns whether the dimension's stride is 1 whatever the sizes are. */
static bool is_contiguous(const struct names *names, const struct name *name, int dimension) {
  const struct expr *stride = names->in.config->arguments[name->index].strides[dimension];
  struct value value;
  if (!stride || names->in.plain[name->index])
    return kernel_argument_dimension(&names->in.arguments[name->index], 0) == dimension;
  return expr_constant(stride, &value) && value.type == VALUE_INT && value.integer == 1;
}

/* Appends the offset of an element of an argument without tiles. The strides of a swizzled argument
   have no names. */
static int put_strides(const struct names *names, const struct name *name, struct text *out,
                       cugen_error *err) {
  const struct kernel_argument *argument = &names->in.arguments[name->index];
  int status = CUGEN_OK;
  for (int i = 0; i < argument->rank && !status; i++) {
    if (i) text_add(out, " + ");
    if (is_contiguous(names, name, i)) {
      text_addf(out, "(%s)", element_indices[i]);
    } else if (!argument->map.count) {
      text_addf(out, "(index_t)(%s) * %s_stride%d", element_indices[i], argument->name, i);
    } else {
      const struct product product = stride_factors(names, name->index, i);
      struct text factors = {0};
      int64_t constant;
      status = put_product(names, &product, &constant, &factors, err);
      text_addf(out, "(index_t)(%s)", element_indices[i]);
      if (constant != 1) text_addf(out, " * %" PRId64, constant);
      if (factors.length) text_addf(out, " * (index_t)(%s)", text_get(&factors));
      out->failed |= factors.failed;
      text_free(&factors);
    }
  }
  return status;
}

/* Defines A(i, j) as A[i * A_stride0 + j]: the contiguous index has no factor. A swizzle uses the
   offset twice, and is a function therefore. */
static int define_element(const struct names *names, const struct name *name, struct text *out,
                          cugen_error *err) {
  const struct kernel_argument *argument = &names->in.arguments[name->index];
  const struct config_argument *declared = &names->in.config->arguments[name->index];
  const struct layout_map *map = &argument->map;
  if (kernel_argument_textured(argument) || argument->access == ACCESS_TENSOR)
    return config_fail(err, declared->line,
                       "%s is a %s here, so that %s(i) has no element: read it by its functions",
                       declared->name, access_kind_names[argument->access], declared->name);
  const bool tiled = map->count > argument->rank;
  if (map->bits)
    text_addf(out,
              "__device__ __forceinline__ index_t %s_swizzled(index_t o) { return o ^ (o >> %d & "
              "%" PRId64 "); }\n",
              declared->name, map->shift, (((int64_t)1 << map->bits) - 1) << map->base);
  text_addf(out, "#define %s(", declared->name);
  for (int i = 0; i < argument->rank; i++)
    text_addf(out, "%s%s", i ? ", " : "", element_indices[i]);
  text_addf(out, ") %s[", declared->name);
  if (map->bits) text_addf(out, "%s_swizzled(", declared->name);
  int status = tiled ? put_tiles(names, name, out, err) : put_strides(names, name, out, err);
  text_add(out, map->bits ? ")]\n" : "]\n");
  return status;
}

/* Returns the alignment that the block's dynamic shared memory needs if the name is the first of
   its arrays that the source mentions; else 0. */
static int64_t block_align(const struct names *names, const struct name *name) {
  const struct layout_array *arrays = names->in.shared;
  int64_t most = 0;
  if (!arrays[name->index].dynamic) return 0;
  for (const struct name *other = names->list; other < names->list + names->count; other++) {
    const struct layout_array *array = other->kind == NAME_SHARED ? &arrays[other->index] : NULL;
    if (!array || !array->dynamic) continue;
    if (other < name && other->used) return 0;
    if (array->align > most) most = array->align;
  }
  return most;
}

int names_define(const struct names *names, const struct name *name, struct text *out,
                 const struct dtype **type, cugen_error *err) {
  const struct names_input *in = &names->in;
  *type = NULL;
  if (names_parameter(names, name)) return CUGEN_OK;
  switch (name->kind) {
  case NAME_INDEX_T:
    define_type(name, &dtype_table[in->wide_index ? DTYPE_i64 : DTYPE_i32], out, type);
    break;
  case NAME_TENSOR_MAP:
    /* Stands for the driver's CUtensorMap, whose header NVRTC cannot read. */
    text_add(out, "struct alignas(64) tensor_map { unsigned long long words[16]; };\n");
    break;
  case NAME_SLOT:
    if (name->scalar >= 0)
      define_scalar(names, name, out, type);
    else
      define_value(name, in->slots[name->index], out, type);
    break;
  case NAME_DERIVED: return define_derived(names, name, out, type, err);
  case NAME_SCALAR: define_scalar(names, name, out, type); break;
  case NAME_TYPE: define_type(name, in->arguments[name->index].dtype, out, type); break;
  case NAME_STRIDE:
  case NAME_PITCH: return define_distance(names, name, out, err);
  case NAME_LAYOUT: break; /* a string, which is refused where the text mentions it */
  case NAME_ELEMENT: return define_element(names, name, out, err);
  case NAME_SHARED:
    *type = in->shared[name->index].dtype;
    shared_array_define(&in->shared[name->index], block_align(names, name), out);
    break;
  }
  return CUGEN_OK;
}

/* ---- What a text depends on ----------------------------------------------------------------- */

/* Notes the slots that an expression depends on. known_only: slots that the launch decides stay
   names in the text and do not count. */
static void names_read_expr(const struct names *names, const struct expr *expr, bool known_only,
                            bool *reads) {
  size_t count = 0;
  const int *slots = expr ? expr_slots(expr, &count) : NULL;
  for (size_t i = 0; i < count; i++)
    if (!known_only || names->known[slots[i]]) reads[slots[i]] = true;
}

static void names_read_distance(const struct names *names, const struct name *name, bool known_only,
                                bool *reads) {
  struct product product = stride_factors(names, name->index, name->dimension);
  for (int i = 0; i < product.count; i++)
    names_read_expr(names, product.factors[i], known_only, reads);
  config_layout_reads(&names->in.config->arguments[name->index].layout, reads);
}

/* Notes the slots that a scalar's value depends on. A scalar without a value expression has the
   value of the slot that has its name. */
static void read_scalar(const struct names *names, int argument, bool *reads) {
  const struct config_argument *declared = declared_of(names, argument);
  config_expr_reads(declared->value, reads);
  if (declared->value) return;
  for (size_t i = 0; i < names->count; i++)
    if (names->list[i].kind == NAME_SLOT && strcmp(names->list[i].text, declared->name) == 0)
      reads[names->list[i].index] = true;
}

static void names_read_element(const struct names *names, int argument, bool known_only,
                               bool *reads) {
  const struct config_argument *declared = &names->in.config->arguments[argument];
  for (int i = 0; i < declared->rank; i++) {
    names_read_expr(names, declared->shape[i], known_only, reads);
    names_read_expr(names, declared->strides[i], known_only, reads);
  }
  names_read_expr(names, declared->pitch, known_only, reads);
  config_layout_reads(&declared->layout, reads);
}

static void names_read_name(const struct names *names, const struct name *name, bool known_only,
                            bool *reads) {
  const struct config *config = names->in.config;
  switch (name->kind) {
  case NAME_INDEX_T:
  case NAME_TENSOR_MAP: break;
  case NAME_SLOT:
    if (name->scalar >= 0 && known_only) read_scalar(names, name->scalar, reads);
    if (!known_only || names->known[name->index]) reads[name->index] = true;
    break;
  case NAME_DERIVED:
    names_read_expr(names, names->in.derived[name->index].expr, known_only, reads);
    break;
  case NAME_SCALAR: read_scalar(names, name->index, reads); break;
  case NAME_TYPE: config_expr_reads(config->arguments[name->index].dtype.expr, reads); break;
  case NAME_STRIDE:
  case NAME_PITCH: names_read_distance(names, name, known_only, reads); break;
  case NAME_LAYOUT: config_layout_reads(&config->arguments[name->index].layout, reads); break;
  case NAME_ELEMENT: names_read_element(names, name->index, known_only, reads); break;
  case NAME_SHARED:
    config_shared_reads(names->in.sharing, names->in.sharing->shared[name->index].launch, reads);
    break;
  }
}

void names_read_value(const struct expr *expr, struct names_values *values) {
  if (expr) values->list[values->count++] = expr;
}

void names_reads(const struct names *names, bool *reads, struct names_values *values) {
  /* Every expansion depends on how the parameters of the kernel are declared and passed. */
  for (size_t i = 0; i < names->in.config->argument_count; i++) {
    const struct config_argument *declared = &names->in.config->arguments[i];
    config_expr_reads(declared->dtype.expr, reads);
    config_expr_reads(declared->compiled, reads);
    config_expr_reads(declared->access.expr, reads);
    names_read_value(declared->when, values);
  }
  for (size_t i = 0; i < names->in.own_count; i++)
    config_expr_reads(names->in.own[i].dtype.expr, reads);
  for (int i = 0; i < DEVICE_FACT_COUNT; i++) reads[i] |= names->facts[i];
  for (size_t i = 0; i < names->count; i++) {
    const struct name *name = &names->list[i];
    if (name->asked && name->kind == NAME_DERIVED)
      names_read_value(names->in.derived[name->index].expr, values);
    else if (name->asked)
      names_read_name(names, name, false, reads);
    if (name->used && !names_parameter(names, name)) names_read_name(names, name, true, reads);
  }
}
