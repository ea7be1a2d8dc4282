/* Evaluates all attributes of the arguments for one problem: dtypes, strides, sizes. See
   evaluate.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element_conversion.h"
#include "evaluate.h"

/* Limit for the elements and bytes of one buffer: half of the range of 64-bit offsets. */
static const int64_t most_bytes = (int64_t)1 << 62;
/* Limit for 32-bit offsets: 2^31 less a margin for offsets past the end. */
static const int64_t most_narrow = ((int64_t)1 << 31) - ((int64_t)1 << 24);

struct evaluation {
  const struct config *config;
  const struct config_argument *argument;
  const struct value *slots;
  cugen_error *err;
  struct kernel_argument *all; /* the arguments in order; those before `argument` are evaluated */
};

/* Fails with "WHAT of "A" MESSAGE", and frees the message. */
static int evaluate_fail_text(const struct evaluation *e, const char *what, struct text *message) {
  const struct config_line line = e->argument->line;
  int status = message->failed ? error_memory(e->err)
                               : config_fail(e->err, line, "%s of \"%s\" %s", what,
                                             e->argument->name, text_get(message));
  text_free(message);
  return status;
}

static int PRINTF_LIKE(3, 4)
    evaluate_fail(const struct evaluation *e, const char *what, const char *format, ...) {
  struct text message = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&message, format, args);
  va_end(args);
  return evaluate_fail_text(e, what, &message);
}

/* Adds the attribute to the message of an expression that failed. */
static int evaluate_prefix(const struct evaluation *e, int status, const char *what) {
  if (status) config_prefix(e->err, e->argument->line, "%s of \"%s\"", what, e->argument->name);
  return status;
}

static int evaluate_int(const struct evaluation *e, const struct expr *expr, const char *what,
                        int64_t *out) {
  return evaluate_prefix(e, expr_eval_int(expr, e->slots, out, e->err), what);
}

static int evaluate_bool(const struct evaluation *e, const struct expr *expr, const char *what,
                         bool *out) {
  return evaluate_prefix(e, expr_eval_bool(expr, e->slots, out, e->err), what);
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Finds the number of the word among the known words; *out is `otherwise` if the attribute is not
   declared. */
static int evaluate_find_word(const struct evaluation *e, const char *what,
                              const struct config_word *word, const char *const *known,
                              size_t count, size_t otherwise, size_t *out) {
  struct value value = value_string(word->word);
  *out = otherwise;
  if (!word->word && !word->expr) return CUGEN_OK;
  int status = word->word
                   ? CUGEN_OK
                   : evaluate_prefix(e, expr_eval(word->expr, e->slots, &value, e->err), what);
  if (status) return status;
  for (*out = 0; *out < count; ++*out)
    if (value.type == VALUE_STRING && strcmp(known[*out], value.string) == 0) return CUGEN_OK;
  struct text text = {0};
  text_add(&text, "is ");
  value_print(value, &text);
  text_add(&text, ", which is none of ");
  for (size_t i = 0; i < count; i++) text_addf(&text, "%s%s", i ? ", " : "", known[i]);
  return evaluate_fail_text(e, what, &text);
}

/* ---- Buffers -------------------------------------------------------------------------------- */

static int evaluate_shape(const struct evaluation *e, struct kernel_argument *out) {
  out->rank = e->argument->rank;
  for (int i = 0; i < out->rank; i++) {
    int status = evaluate_int(e, e->argument->shape[i], "shape", &out->shape[i]);
    if (status) return status;
    if (out->shape[i] < 1)
      return evaluate_fail(e, "shape", "has the extent %lld (%s): it must be 1 or more",
                           (long long)out->shape[i], expr_text(e->argument->shape[i]));
  }
  return CUGEN_OK;
}

static int evaluate_refuse_size(const struct evaluation *e, const struct kernel_argument *out) {
  struct text text = {0};
  text_add(&text, "is too large: ");
  for (int i = 0; i < out->rank; i++)
    text_addf(&text, "%s%lld", i ? " x " : "", (long long)out->shape[i]);
  text_addf(&text, " elements of %s, and a buffer has at most 2^62 bytes", out->dtype->name);
  return evaluate_fail_text(e, "shape", &text);
}

/* Computes the strides outwards from the contiguous dimension: 1, the pitch, and then the previous
   stride times the previous extent. The buffer consists of whole rows. */
static int set_strides(const struct evaluation *e, const struct layout *layout,
                       struct kernel_argument *out) {
  int at = layout->order[0][out->rank - 1];
  const int64_t extent = out->shape[at];
  int64_t next = extent;
  int status = e->argument->pitch ? evaluate_int(e, e->argument->pitch, "pitch", &next) : CUGEN_OK;
  if (status) return status;
  if (next < extent)
    return evaluate_fail(e, "pitch", "is %lld, but the contiguous dimension has %lld elements",
                         (long long)next, (long long)extent);
  out->stride[at] = 1;
  if (__builtin_add_overflow(next, layout->pad, &next)) return evaluate_refuse_size(e, out);
  for (int i = out->rank - 2; i >= 0; i--) {
    at = layout->order[0][i];
    out->stride[at] = next;
    if (__builtin_mul_overflow(next, out->shape[at], &next)) return evaluate_refuse_size(e, out);
  }
  out->elements = next;
  return CUGEN_OK;
}

/* A swizzle may exchange elements within a line or an innermost tile, not beyond it. */
static int check_swizzle(const struct evaluation *e, const struct layout *layout,
                         const struct kernel_argument *out) {
  const int64_t *tile = layout->tiles ? layout->tile[layout->tiles - 1] : NULL,
                block = (int64_t)1 << (out->map.bits + out->map.base);
  int64_t most = tile ? 1 : out->shape[layout->order[0][out->rank - 1]];
  for (int i = 0; tile && i < out->rank; i++) most *= tile[i];
  most += layout->pad;
  if (!out->map.bits || block <= most) return CUGEN_OK;
  return evaluate_fail(e, "layout",
                       "is %s, which exchanges elements within %lld, but a %s has %lld",
                       out->layout, (long long)block, tile ? "tile" : "line", (long long)most);
}

/* Sets the word of the argument in its shortest form. */
static int set_word(const struct layout *layout, struct kernel_argument *out, cugen_error *err) {
  struct text word = {0};
  const bool plain = !layout->tiles && !layout->pad && !layout->bits && !layout->bytes;
  if (plain && layout->order[0][out->rank - 1] == out->rank - 1 && out->rank <= 2)
    return memcpy(out->layout, "row", sizeof "row"), CUGEN_OK;
  layout_print(layout, &word);
  int status = word.failed ? error_memory(err) : CUGEN_OK;
  if (!status && word.length >= LAYOUT_WORD)
    status = error_set(err, CUGEN_ERROR_CONFIG, "'%s' is longer than %d characters",
                       text_get(&word), LAYOUT_WORD - 1);
  if (!status) memcpy(out->layout, text_get(&word), word.length + 1);
  text_free(&word);
  return status;
}

static int lay_out_by_word(const struct evaluation *e, struct kernel_argument *out) {
  struct layout layout;
  int status = config_layout_read(&e->argument->layout, e->slots, out->rank, &layout, e->err);
  if (!status) status = set_word(&layout, out, e->err);
  if (status) return evaluate_prefix(e, status, "layout");
  if (e->argument->pitch && strcmp(out->layout, "row") != 0 && strcmp(out->layout, "col") != 0)
    return evaluate_fail(e, "pitch",
                         "is for the layouts row and col, and this one is %s: the layout row+8 "
                         "leaves 8 elements free behind each line",
                         out->layout);
  if (!layout.tiles && !layout.bits && !layout.bytes) return set_strides(e, &layout, out);
  status = evaluate_prefix(
      e, layout_of_shape(&layout, out->shape, out->dtype->bytes, &out->map, e->err), "layout");
  out->elements = out->map.size;
  return status ? status : check_swizzle(e, &layout, out);
}

/* ---- Strides -------------------------------------------------------------------------------- */

/* wide: the dimension whose stride is too small; span: how far the dimensions of smaller strides
   reach, in elements. */
static int refuse_overlap(const struct evaluation *e, const struct kernel_argument *out, int wide,
                          int64_t span) {
  struct text text = {0};
  text_add(&text, "are ");
  for (int i = 0; i < out->rank; i++)
    text_addf(&text, "%s%lld", i ? ", " : "", (long long)out->stride[i]);
  text_addf(
      &text,
      ": dimension %d moves by %lld elements, and the dimensions of smaller strides reach %lld "
      "elements, so that elements share an offset or interleave",
      wide, (long long)out->stride[wide], (long long)span);
  return evaluate_fail_text(e, "strides", &text);
}

/* Every stride must reach beyond the elements of the dimensions with smaller strides. A dimension
   of one element may have any stride. */
static int lay_out_by_strides(const struct evaluation *e, struct kernel_argument *out) {
  for (int i = 0; i < out->rank; i++) {
    int status = evaluate_int(e, e->argument->strides[i], "strides", &out->stride[i]);
    if (status) return status;
    if (out->stride[i] >= 1) continue;
    if (out->shape[i] > 1)
      return evaluate_fail(e, "strides",
                           "have %lld (%s) for dimension %d of %lld elements: it must be 1 or more",
                           (long long)out->stride[i], expr_text(e->argument->strides[i]), i,
                           (long long)out->shape[i]);
    out->stride[i] = 1; /* has no effect: the dimension has one element */
  }
  int64_t span = 1, reach;
  for (int i = 0; i < out->rank; i++) {
    const int at = kernel_argument_dimension(out, i);
    if (out->shape[at] == 1) continue;
    if (out->stride[at] < span) return refuse_overlap(e, out, at, span);
    if (__builtin_mul_overflow(out->stride[at], out->shape[at] - 1, &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return evaluate_refuse_size(e, out);
  }
  out->elements = span;
  return CUGEN_OK;
}

static int lay_out(const struct evaluation *e, struct kernel_argument *out) {
  int status = e->argument->strides[0] ? lay_out_by_strides(e, out) : lay_out_by_word(e, out);
  if (status) return status;
  return out->elements > most_bytes / out->dtype->bytes ? evaluate_refuse_size(e, out) : CUGEN_OK;
}

/* A texture over a buffer (ACCESS_TEXTURE) must have two dimensions, a texture over a CUDA array
   (ACCESS_ARRAY) one to three. The rows of both must be contiguous. */
static int check_texture(const struct evaluation *e, const struct kernel_argument *out) {
  const bool fits = out->access == ACCESS_TEXTURE ? out->rank == 2 : out->rank <= 3,
             rows = !out->map.count && out->stride[kernel_argument_dimension(out, 0)] == 1;
  const char *access = access_kind_names[out->access];
  if (!kernel_argument_textured(out) || (out->dtype->texel && fits && rows)) return CUGEN_OK;
  if (!rows)
    return evaluate_fail(
        e, "access", "is %s, which needs contiguous rows: layout row or col, with or without a pad",
        access);
  if (!fits)
    return evaluate_fail(e, "access", "is %s, which has %s dimensions, but the shape has %d",
                         access, out->access == ACCESS_TEXTURE ? "two" : "one to three", out->rank);
  return evaluate_fail(e, "access",
                       "is %s, and textures have no elements of dtype %s: f32, f16, or an integer "
                       "of at most 32 bits",
                       access, out->dtype->name);
}

bool config_has_access(cugen_argument_kind kind, enum access_kind access) {
  enum { ADDRESS = 1 << ACCESS_GLOBAL | 1 << ACCESS_POINTER };
  static const unsigned accesses[] = {
      [CUGEN_ARGUMENT_INPUT] =
          ADDRESS | 1u << ACCESS_TEXTURE | 1u << ACCESS_ARRAY | 1u << ACCESS_SYMBOL,
      [CUGEN_ARGUMENT_OUTPUT] = ADDRESS | 1u << ACCESS_SYMBOL,
      [CUGEN_ARGUMENT_INOUT] = ADDRESS | 1u << ACCESS_SYMBOL,
      [CUGEN_ARGUMENT_SCRATCH] = ADDRESS,
      [CUGEN_ARGUMENT_SCALAR] = 1u << ACCESS_GLOBAL,
      [CUGEN_ARGUMENT_CONSTANT] =
          1u << ACCESS_CONSTANT | 1u << ACCESS_GLOBAL | 1u << ACCESS_SYMBOL};
  return accesses[kind] >> access & 1;
}

/* Refuses a word, given by an expression, that only other kinds of arguments may have. */
static int refuse_access(const struct evaluation *e, const struct kernel_argument *out) {
  static const char *const kinds[] = {[CUGEN_ARGUMENT_INPUT] = "input",
                                      [CUGEN_ARGUMENT_OUTPUT] = "output",
                                      [CUGEN_ARGUMENT_INOUT] = "inout",
                                      [CUGEN_ARGUMENT_SCRATCH] = "scratch",
                                      [CUGEN_ARGUMENT_CONSTANT] = "constant"};
  struct text text = {0};
  const char *between = "";
  text_addf(&text, "is %s: of an argument of kind %s it is ", access_kind_names[out->access],
            kinds[out->kind]);
  for (int access = 0; access < ACCESS_KIND_COUNT; access++)
    if (config_has_access(out->kind, (enum access_kind)access))
      text_addf(&text, "%s%s", between, access_kind_names[access]), between = ", ";
  return evaluate_fail_text(e, "access", &text);
}

static int evaluate_access(const struct evaluation *e, struct kernel_argument *out) {
  bool constant = out->kind == CUGEN_ARGUMENT_CONSTANT;
  size_t access, address;
  int status =
      evaluate_find_word(e, "access", &e->argument->access, access_kind_names, ACCESS_TENSOR,
                         constant ? ACCESS_CONSTANT : ACCESS_GLOBAL, &access);
  if (!status)
    status = evaluate_find_word(e, "address", &e->argument->address, address_kind_names,
                                ADDRESS_KIND_COUNT, ADDRESS_CLAMP, &address);
  if (status) return status;
  out->access = (enum access_kind)access;
  out->address = (enum address_kind)address;
  return config_has_access(out->kind, out->access) ? check_texture(e, out) : refuse_access(e, out);
}

/* Only an input that is read by address can be overwritten, not a texture or symbol. */
static int evaluate_overwrite(const struct evaluation *e, struct kernel_argument *out) {
  if (!e->argument->overwrite) return CUGEN_OK;
  int status = evaluate_bool(e, e->argument->overwrite, "overwrite", &out->overwrite);
  if (status || !out->overwrite || out->access == ACCESS_GLOBAL || out->access == ACCESS_POINTER)
    return status;
  return evaluate_fail(e, "overwrite",
                       "is for inputs that are read by address: access = \"global\"");
}

static int evaluate_bound(const struct evaluation *e, const struct expr *expr, const char *what,
                          double *out) {
  if (!expr) return CUGEN_OK;
  int status = evaluate_prefix(e, expr_eval_float(expr, e->slots, out, e->err), what);
  if (!status && !(*out >= 0)) return evaluate_fail(e, what, "is negative");
  return status;
}

static int evaluate_buffer(const struct evaluation *e, struct kernel_argument *out) {
  size_t memory, fill;
  int status = evaluate_shape(e, out);
  if (!status)
    status = evaluate_find_word(e, "memory", &e->argument->memory, memory_kind_names,
                                MEMORY_KIND_COUNT, MEMORY_DEVICE, &memory);
  if (!status)
    status = evaluate_find_word(e, "fill", &e->argument->fill, fill_kind_names, FILL_KIND_COUNT,
                                FILL_UNIFORM, &fill);
  bool filled = e->argument->fill.word || e->argument->fill.expr;
  if (!status && out->kind == CUGEN_ARGUMENT_SCRATCH && filled && fill != FILL_ZERO)
    return evaluate_fail(e, "fill", "can only be zero: scratch has no data of its own");
  if (status) return status;
  out->memory = (enum memory_kind)memory;
  out->fill = (enum fill_kind)fill;
  out->data = e->argument->data.kind;
  status = lay_out(e, out);
  if (!status) status = evaluate_access(e, out);
  if (!status) status = evaluate_overwrite(e, out);
  if (!status) status = evaluate_bound(e, e->argument->tolerance, "tolerance", &out->tolerance);
  return status ? status : evaluate_bound(e, e->argument->norm, "norm", &out->norm);
}

/* ---- Scalars -------------------------------------------------------------------------------- */

/* out->dtype NULL stands for "index". */
static int check_scalar(const struct evaluation *e, struct kernel_argument *out) {
  const struct dtype *dtype = out->dtype ? out->dtype : &dtype_table[DTYPE_i64];
  struct value *value = &out->value;
  struct text text = {0};
  if (value->type == VALUE_BOOL) *value = value_int(value->boolean);
  bool right = value_is_number(value) &&
               (dtype->floating ? !element_overflows(dtype, *value)
                                : value->type == VALUE_INT && dtype_fits(dtype, value->integer));
  if (right) return CUGEN_OK;
  text_add(&text, "is ");
  value_print(*value, &text);
  text_addf(&text, ", which is no number of dtype %s", out->dtype ? dtype->name : "index");
  return evaluate_fail_text(e, "value", &text);
}

/* value: the number that the field cannot hold; NULL: the buffer is at fault. */
static int refuse_field(const struct evaluation *e, const struct config_field *field,
                        const struct value *value) {
  const struct kernel_argument *buffer = &e->all[field->buffer];
  struct text text = {0};
  text_addf(&text, "in its field '%s' is ", field->name);
  if (value) {
    value_print(*value, &text);
    text_addf(&text, ", which is no number of dtype %s", field->dtype->name);
  } else if (field->dtype) {
    text_addf(&text, "the pitch of \"%s\", which has none: the array has tiles or a swizzle",
              buffer->name);
  } else {
    text_addf(&text, "the address of \"%s\", whose access is %s: it must be global", buffer->name,
              access_kind_names[buffer->access]);
  }
  return evaluate_fail_text(e, "value", &text);
}

/* A buffer that the problem lacks has the address and the pitch 0. */
static int evaluate_field(const struct evaluation *e, const struct config_field *field,
                          struct kernel_argument *out) {
  struct kernel_argument *buffer = &e->all[field->buffer];
  struct value value = value_int(0);
  int status = CUGEN_OK;
  if (field->value) {
    status = evaluate_prefix(e, expr_eval(field->value, e->slots, &value, e->err), field->name);
  } else if (!buffer->absent && field->dtype) {
    if (buffer->map.count) return refuse_field(e, field, NULL);
    value = value_int(buffer->stride[kernel_argument_dimension(buffer, 1)]);
  } else if (!buffer->absent) {
    if (buffer->access != ACCESS_GLOBAL) return refuse_field(e, field, NULL);
    buffer->access = ACCESS_FIELD;
    buffer->holder = (size_t)(out - e->all);
    buffer->offset = field->offset;
  }
  if (status || !field->dtype) return status;
  return element_pack(field->dtype, value, out->packed + field->offset) &&
                 !element_overflows(field->dtype, value)
             ? CUGEN_OK
             : refuse_field(e, field, &value);
}

/* Packs the values of the fields into bytes; padding bytes and addresses are zero. */
static int evaluate_struct(const struct evaluation *e, struct kernel_argument *out) {
  int status = CUGEN_OK;
  out->struct_name = e->argument->struct_name;
  out->struct_bytes = e->argument->struct_bytes;
  for (int i = 0; i < e->argument->field_count && !status; i++)
    status = evaluate_field(e, &e->argument->fields[i], out);
  return status;
}

/* Returns whether the scalar passes a size unchanged: by its name, or by an expression of that size
   alone. */
static bool passes_size(const struct evaluation *e, struct value value) {
  size_t count = 1;
  const int *slots =
      e->argument->value ? expr_slots(e->argument->value, &count) : &e->argument->slot;
  if (count != 1 || slots[0] < e->config->first_problem) return false;
  const size_t problem = (size_t)(slots[0] - e->config->first_problem);
  return problem < e->config->problem_count && config_is_size(e->config, problem) &&
         value_equal(value, e->slots[slots[0]]);
}

static int evaluate_scalar(const struct evaluation *e, struct kernel_argument *out) {
  int status = CUGEN_OK;
  if (e->argument->value)
    status =
        evaluate_prefix(e, expr_eval(e->argument->value, e->slots, &out->value, e->err), "value");
  else
    out->value = e->slots[e->argument->slot];
  out->is_size = !status && passes_size(e, out->value);
  if (!status && e->argument->compiled)
    status = evaluate_bool(e, e->argument->compiled, "specialize", &out->compiled_in);
  return status ? status : check_scalar(e, out);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

/* Sets *out to NULL for a scalar whose dtype is written as the word "index"; an expression cannot
   give "index". */
static int find_dtype(const struct evaluation *e, const struct dtype **out) {
  *out = &kernel_struct_dtype;
  if (e->argument->struct_name) return CUGEN_OK;
  const char *names[DTYPE_COUNT + 1];
  size_t count = DTYPE_COUNT, found;
  memcpy(names, dtype_names, sizeof names);
  if (config_is_index(e->argument)) names[count++] = "index";
  int status = evaluate_find_word(e, "dtype", &e->argument->dtype, names, count, 0, &found);
  if (!status) *out = found < DTYPE_COUNT ? &dtype_table[found] : NULL;
  return status;
}

/* Evaluates the dtype and `when`. An argument that the problem lacks becomes a compiled-in scalar
   with the value 0. */
static int evaluate_kind(const struct evaluation *e, struct kernel_argument *out) {
  bool present = true;
  *out = (struct kernel_argument){.name = e->argument->name, .kind = e->argument->kind};
  int status = find_dtype(e, &out->dtype);
  if (!status && e->argument->when) status = evaluate_bool(e, e->argument->when, "when", &present);
  if (status || present) return status;
  out->kind = CUGEN_ARGUMENT_SCALAR;
  out->absent = out->compiled_in = true;
  out->value = value_int(0);
  return CUGEN_OK;
}

int config_argument_lies(const struct config *config, const struct config_argument *argument,
                         const struct value *slots, struct kernel_argument *out, cugen_error *err) {
  const struct evaluation e = {config, argument, slots, err, NULL};
  int status = evaluate_kind(&e, out);
  if (status || out->absent) return status;
  status = evaluate_shape(&e, out);
  return status ? status : lay_out(&e, out);
}

static int evaluate_argument(const struct evaluation *e, struct kernel_argument *out) {
  int status = evaluate_kind(e, out);
  if (status || out->absent) return status;
  if (e->argument->struct_name) return evaluate_struct(e, out);
  return out->kind == CUGEN_ARGUMENT_SCALAR ? evaluate_scalar(e, out) : evaluate_buffer(e, out);
}

/* Returns the name of a dtype, or of a type that only tensor cores know: tf32 (f32 rounded to 10
   bits of fraction) or fp8 (bytes that kernels take for floats). NULL: the value is neither. */
static const char *product_type(struct value value) {
  static const char *const others[] = {"tf32", "fp8"};
  const struct dtype *dtype = value.type == VALUE_STRING ? dtype_find(value.string) : NULL;
  for (size_t i = 0; i < 2 && value.type == VALUE_STRING; i++)
    if (strcmp(others[i], value.string) == 0) return others[i];
  return dtype ? dtype->name : NULL;
}

int config_products(const struct config *config, const struct value *slots, const char **out,
                    cugen_error *err) {
  struct value value;
  *out = NULL;
  if (!config->products.expr) return CUGEN_OK;
  int status = expr_eval(config->products.expr, slots, &value, err);
  if (status) return config_prefix(err, config->products.line, "products"), status;
  *out = product_type(value);
  if (*out) return CUGEN_OK;
  struct text text = {0};
  value_print(value, &text);
  status =
      config_fail(err, config->products.line,
                  "products is %s, which is no type: tf32, fp8 or a dtype is one", text_get(&text));
  text_free(&text);
  return status;
}

bool config_is_index(const struct config_argument *argument) {
  return argument->kind == CUGEN_ARGUMENT_SCALAR && argument->dtype.word &&
         strcmp(argument->dtype.word, "index") == 0;
}

bool config_wide_index(const struct config *config, const struct kernel_argument *arguments) {
  for (size_t i = 0; i < config->argument_count; i++) {
    const struct kernel_argument *argument = &arguments[i];
    if (config_is_index(&config->arguments[i]) &&
        !dtype_fits(&dtype_table[DTYPE_i32], argument->value.integer))
      return true;
    if (argument->rank && argument->elements > most_narrow) return true;
  }
  return false;
}

int config_check_sizes(const struct config *config, const struct problem *problem,
                       const struct device_facts *facts, cugen_error *err) {
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  if (config->shared_tunable_count) return CUGEN_OK;
  struct value *slots = calloc(config_slot_count(config, NULL) + 1, sizeof *slots);
  if (!slots) return error_memory(err);
  config_slots(config, problem, facts, slots);
  int status = config_arguments(config, slots, arguments, err);
  free(slots);
  return status;
}

int config_arguments(const struct config *config, const struct value *slots,
                     struct kernel_argument *out, cugen_error *err) {
  for (size_t i = 0; i < config->argument_count; i++) {
    int status = evaluate_argument(
        &(struct evaluation){config, &config->arguments[i], slots, err, out}, &out[i]);
    if (status) return status;
  }
  const struct dtype *index = &dtype_table[config_wide_index(config, out) ? DTYPE_i64 : DTYPE_i32];
  for (size_t i = 0; i < config->argument_count; i++)
    if (!out[i].dtype) out[i].dtype = index;
  return CUGEN_OK;
}

int config_own(const struct config *config, const struct config_implementation *implementation,
               const struct value *slots, struct kernel_argument *arguments, cugen_error *err) {
  const struct dtype *index =
      &dtype_table[config_wide_index(config, arguments) ? DTYPE_i64 : DTYPE_i32];
  for (size_t i = 0; i < implementation->own_count; i++) {
    const struct evaluation e = {config, &implementation->own[i], slots, err, arguments};
    struct kernel_argument *out = &arguments[config->argument_count + i];
    int status = evaluate_argument(&e, out);
    if (status) return status;
    if (!out->dtype) out->dtype = index;
    if (config_is_index(e.argument) && !dtype_fits(index, out->value.integer))
      return evaluate_fail(
          &e, "value",
          "does not fit into the 32 bits of index_t here; with dtype = \"i64\" it does");
  }
  return CUGEN_OK;
}
