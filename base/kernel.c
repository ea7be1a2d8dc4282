/* Kernels as plain data; see kernel.h. */
#include "kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const memory_kind_names[MEMORY_KIND_COUNT] = {"device", "pinned", "mapped", "managed",
                                                          "registered"};
const char *const access_kind_names[ACCESS_KIND_COUNT] = {"global", "constant", "texture", "array",
                                                          "symbol", "pointer",  "tensor",  "field"};
const char *const address_kind_names[ADDRESS_KIND_COUNT] = {"clamp", "border", "wrap", "mirror"};
const char *const fill_kind_names[FILL_KIND_COUNT] = {"uniform", "identity", "index", "ones",
                                                      "zero"};

void kernel_spec_free(struct kernel_spec *spec) {
  free(spec->variant);
  free(spec->source);
  free(spec->options);
  free(spec->proof);
  free(spec->order);
  free(spec->arguments);
  free(spec->launches);
  free(spec->sequence);
  free(spec->parameters);
  free(spec->shared);
  text_free(&spec->strings);
  *spec = (struct kernel_spec){0};
}

void kernel_add_order(const struct kernel_spec *spec, cugen_outcome outcome, struct text *reason) {
  const bool may_be = outcome == CUGEN_OUTCOME_WRONG || outcome == CUGEN_OUTCOME_BOUNDS ||
                      outcome == CUGEN_OUTCOME_TRAP;
  if (spec->order && may_be) text_addf(reason, ". Are arguments exchanged? %s", spec->order);
}

struct kernel_compared kernel_spec_compared(const struct kernel_spec *spec) {
  return (struct kernel_compared){spec->source_hash, spec->launches_hash, spec->arguments_hash,
                                  kernel_spec_proof_without(spec, UINT64_MAX, true)};
}

static void add_part(struct hash there, struct hash own, struct text *out) {
  text_addf(out, " %s", strcmp(there.hex, own.hex) == 0 ? "same" : there.hex);
}

static void add_kernel(const struct kernel_compared *there, const struct kernel_compared *own,
                       struct text *out) {
  text_add(out, "on a check problem");
  if (there->source.hex[0]) {
    add_part(there->source, own->source, out);
    add_part(there->launches, own->launches, out);
    add_part(there->arguments, own->arguments, out);
    add_part(there->proof, own->proof, out);
  }
  text_add_char(out, '\n');
}

int kernel_spec_add_check(struct kernel_spec *spec, const struct kernel_compared *there,
                          size_t count, cugen_error *err) {
  const struct kernel_compared own = kernel_spec_compared(spec);
  struct text text = {0};
  text_addf(&text, "%zu check problems\n", count);
  for (size_t i = 0; i < count; i++) add_kernel(&there[i], &own, &text);
  const size_t length = text.length;
  text_add(&text, spec->proof ? spec->proof : "");
  if (text.failed) {
    text_free(&text);
    return error_memory(err);
  }
  const struct hash_piece both[] = {{spec->hash.hex, strlen(spec->hash.hex)},
                                    {text_get(&text), length}};
  free(spec->proof);
  spec->proof_hash = hash_bytes(text_get(&text), text.length);
  spec->proof = text_take(&text);
  spec->proof_check = length;
  spec->plain_hash = spec->hash;
  spec->hash = hash_pieces(both, 2);
  return CUGEN_OK;
}

struct hash kernel_spec_proof_without(const struct kernel_spec *spec, uint64_t parameters,
                                      bool plain) {
  struct hash_piece pieces[1 + KERNEL_MAX_LACKED];
  const char *const begins = spec->proof ? spec->proof + (plain ? spec->proof_check : 0) : NULL;
  const char *end = begins ? begins + strlen(begins) : NULL;
  if (!end || spec->proof_lines > KERNEL_MAX_LACKED) parameters = 0;
  if (!parameters) return plain && end ? hash_bytes(begins, strlen(begins)) : spec->proof_hash;
  for (size_t i = spec->proof_lines; i > 0; i--) {
    const char *begin = end;
    while (begin > begins && *--begin != '\n') {
    }
    bool lacked = parameters >> (i - 1) & 1;
    pieces[i] = (struct hash_piece){begin, lacked ? 0 : (size_t)(end - begin)};
    end = begin;
  }
  pieces[0] = (struct hash_piece){begins, (size_t)(end - begins)};
  return hash_pieces(pieces, 1 + spec->proof_lines);
}

/* Sorts the dimensions by their strides, the smallest first; of equal strides, the last dimension
   first. */
static void sort_dimensions(const struct kernel_argument *a, int *out) {
  for (int i = 0; i < a->rank; i++) {
    const int moved = a->rank - 1 - i;
    int to = i;
    for (; to > 0 && a->stride[out[to - 1]] > a->stride[moved]; to--) out[to] = out[to - 1];
    out[to] = moved;
  }
}

const char *kernel_argument_layout(const struct kernel_argument *a) {
  return *a->layout ? a->layout : "strides";
}

int kernel_argument_dimension(const struct kernel_argument *a, int i) {
  int sorted[KERNEL_MAX_RANK];
  struct layout layout;
  if (strcmp(a->layout, "row") == 0) return a->rank - 1 - i;
  if (strcmp(a->layout, "col") == 0) return i;
  if (a->layout[0] && !layout_read(a->layout, a->rank, &layout, NULL))
    return layout.order[0][a->rank - 1 - i];
  sort_dimensions(a, sorted);
  return sorted[i];
}

struct layout_map kernel_argument_map(const struct kernel_argument *a) {
  struct layout_map out = {.count = a->rank, .size = a->elements};
  int sorted[KERNEL_MAX_RANK];
  if (a->map.count) return a->map;
  sort_dimensions(a, sorted);
  for (int i = 0; i < a->rank; i++) {
    const int at = sorted[a->rank - 1 - i];
    out.modes[i] = (struct layout_mode){
        .dimension = at, .divisor = 1, .extent = a->shape[at], .stride = a->stride[at]};
  }
  return out;
}

struct tensor_extent kernel_argument_tensor(const struct kernel_argument *argument) {
  struct tensor_extent out = {.rank = argument->rank};
  for (int i = 0; i < argument->rank; i++) {
    const int at = kernel_argument_dimension(argument, i);
    out.shape[i] = argument->shape[at];
    out.stride[i] = argument->stride[at] * argument->dtype->bytes;
    out.box[i] = argument->box[at];
  }
  if (argument->parts <= 1) return out;
  int last = out.rank++;
  out.shape[last - 1] /= argument->parts;
  out.shape[last] = argument->parts;
  out.stride[last] = out.stride[last - 1] * out.shape[last - 1];
  out.box[last] = 1;
  return out;
}

int64_t kernel_argument_bytes(const struct kernel_argument *argument) {
  if (argument->struct_bytes) return argument->struct_bytes;
  return argument->rank ? argument->elements * argument->dtype->bytes : argument->dtype->bytes;
}

const struct dtype kernel_struct_dtype = {.id = DTYPE_u8,
                                          .name = "struct",
                                          .bytes = 1,
                                          .cuda_name = "struct",
                                          .c_name = "struct",
                                          .wide = &dtype_table[DTYPE_u8]};

/* ---- Identity ------------------------------------------------------------------------------- */

static void describe_access(const struct kernel_argument *a, struct text *out) {
  if (kernel_argument_textured(a))
    text_addf(out, " %s %s", access_kind_names[a->access], address_kind_names[a->address]);
  if (a->access == ACCESS_SYMBOL) text_add(out, " symbol");
  if (a->access == ACCESS_POINTER) text_add(out, " pointer");
  if (a->access == ACCESS_FIELD) text_addf(out, " field %zu %d", a->holder, a->offset);
  if (a->access != ACCESS_TENSOR) return;
  text_addf(out, " tensor %d", a->swizzle);
  if (a->parts > 1) text_addf(out, " parts %" PRId64, a->parts);
  for (int i = 0; i < a->rank; i++) text_addf(out, " %" PRId64 " %d", a->shape[i], a->box[i]);
}

/* Records refer to hashes of this text, so it must not change. */
void kernel_argument_describe(const struct kernel_argument *a, unsigned aspects, struct text *out) {
  const size_t start = out->length;
  int64_t count = 1;
  for (int i = 0; i < a->rank; i++) count *= a->shape[i];
  if (aspects & ARGUMENT_STORAGE) {
    text_addf(out, "argument %d %s %s %" PRId64, (int)a->kind, a->dtype->name,
              memory_kind_names[a->memory], a->elements);
    if (a->map.count) text_addf(out, " layout %s of", a->layout);
    for (int i = 0; i < a->rank; i++)
      text_addf(out, " %" PRId64, a->map.count ? a->shape[i] : a->stride[i]);
  }
  if (aspects & ARGUMENT_VALUE) {
    if (a->kind == CUGEN_ARGUMENT_SCALAR) text_add_char(out, ' '), value_print(a->value, out);
    for (int i = 0; i < a->struct_bytes; i++) text_addf(out, "%s%02x", i ? "" : " ", a->packed[i]);
  }
  if (aspects & ARGUMENT_ACCESS) describe_access(a, out);
  if (aspects & ARGUMENT_FILL) {
    text_addf(out, "%s%d%s", out->length > start ? " fill " : "", (int)a->fill,
              a->overwrite ? " overwrite" : "");
    if (a->data) text_addf(out, " data %s", a->data_hash.hex);
  }
  if (aspects & ARGUMENT_TOLERANCE) {
    text_addf(out, " %.17g", a->tolerance);
    if (a->norm > 0) text_addf(out, " %.17g", a->norm);
  }
  if (aspects & ARGUMENT_SHAPE && count != a->elements && a->rank && !a->map.count) {
    text_add(out, " shape");
    for (int i = 0; i < a->rank; i++) text_addf(out, " %" PRId64, a->shape[i]);
  }
}

bool kernel_argument_passed(const struct kernel_argument *argument) {
  return !kernel_argument_symbol(argument) && argument->access != ACCESS_FIELD &&
         !argument->compiled_in;
}

void kernel_struct_fill(const struct kernel_spec *spec, size_t index, void *const *addresses,
                        unsigned char *bytes) {
  for (size_t i = 0; i < index; i++)
    if (spec->arguments[i].access == ACCESS_FIELD && spec->arguments[i].holder == index)
      memcpy(bytes + spec->arguments[i].offset, &addresses[i], sizeof addresses[i]);
}

bool kernel_argument_symbol(const struct kernel_argument *argument) {
  return argument->access == ACCESS_CONSTANT || argument->access == ACCESS_SYMBOL ||
         argument->access == ACCESS_POINTER;
}

size_t kernel_launch_parameters(const struct kernel_spec *spec, const struct kernel_launch *launch,
                                struct kernel_parameter out[KERNEL_MAX_ARGUMENTS]) {
  size_t count = launch->listed ? launch->parameter_count : 0;
  for (size_t i = 0; i < count; i++) out[i] = spec->parameters[launch->first_parameter + i];
  if (launch->listed) return count;
  for (size_t i = 0; i < spec->argument_count; i++)
    if (kernel_argument_passed(&spec->arguments[i]))
      out[count++] = (struct kernel_parameter){.argument = i};
  return count;
}

bool kernel_argument_textured(const struct kernel_argument *argument) {
  return argument->access == ACCESS_TEXTURE || argument->access == ACCESS_ARRAY;
}

size_t kernel_spec_calls(const struct kernel_spec *spec) {
  return spec->sequence ? spec->sequence_count : spec->launch_count;
}

size_t kernel_spec_call(const struct kernel_spec *spec, size_t i) {
  return spec->sequence ? spec->sequence[i] : i;
}

void kernel_spec_times(const struct kernel_spec *spec, size_t *times) {
  for (size_t i = 0; i < spec->launch_count; i++) times[i] = !spec->sequence;
  for (size_t i = 0; spec->sequence && i < spec->sequence_count; i++) times[spec->sequence[i]]++;
}

bool kernel_spec_is_long(const struct kernel_spec *spec) {
  /* A call of more launches than LONG is described in a shorter form. The description of other
     calls must not change, because records refer to its hash. */
  enum { LONG = 64 };
  return kernel_spec_calls(spec) > LONG;
}

struct hash kernel_spec_passed(const struct kernel_spec *spec) {
  struct text text = {0};
  if (!spec->own_count) return spec->source_hash;
  text_add(&text, spec->source_hash.hex);
  const bool each = kernel_spec_is_long(spec);
  const size_t count = each ? spec->launch_count : kernel_spec_calls(spec);
  for (size_t i = 0; i < count; i++) {
    const struct kernel_launch *launch = &spec->launches[each ? i : kernel_spec_call(spec, i)];
    for (size_t p = 0; p < launch->parameter_count; p++) {
      const struct kernel_parameter *parameter = &spec->parameters[launch->first_parameter + p];
      if (parameter->argument < spec->argument_count) continue; /* not the implementation's own */
      text_add_char(&text, ' ');
      value_print(parameter->value, &text);
    }
  }
  const struct hash hash =
      text.failed ? (struct hash){""} : hash_bytes(text_get(&text), text.length);
  text_free(&text);
  return hash;
}

/* Returns the word for the argument's data, or NULL if the argument has no data. Scratch has data
   only if it must be zeroed. */
static const char *data_word(const struct kernel_argument *a) {
  static const char *const words[] = {[DATA_VALUES] = "values",
                                      [DATA_LIST] = "values",
                                      [DATA_FILE] = "file",
                                      [DATA_GENERATOR] = "generator"};
  bool zero = a->kind == CUGEN_ARGUMENT_SCRATCH && a->fill == FILL_ZERO;
  bool given = a->kind == CUGEN_ARGUMENT_INPUT || a->kind == CUGEN_ARGUMENT_INOUT ||
               a->kind == CUGEN_ARGUMENT_CONSTANT;
  if (a->absent || !(given || zero)) return NULL;
  return a->data == DATA_FILL ? fill_kind_names[a->fill] : words[a->data];
}

void kernel_argument_info(const struct kernel_argument *a, cugen_argument_info *out) {
  *out = (cugen_argument_info){.name = a->name,
                               .kind = a->kind,
                               .dtype = a->dtype->name,
                               .rank = a->rank,
                               .layout = a->rank ? kernel_argument_layout(a) : "row",
                               .bytes = a->absent || a->unused ? 0 : kernel_argument_bytes(a),
                               .memory = memory_kind_names[a->memory],
                               .compiled_in = a->compiled_in,
                               .absent = a->absent,
                               .overwrite = a->overwrite,
                               .data = data_word(a),
                               .access = access_kind_names[a->access],
                               .is_size = a->is_size,
                               .size = a->is_size ? a->value.integer : 0};
  for (int i = 0; i < a->rank; i++) {
    out->shape[i] = a->shape[i];
    out->stride[i] = a->stride[i];
  }
}
