/* Tensor maps: arguments that an implementation accesses through the tensor memory accelerator of
   Hopper. Read with the config, evaluated for each variant. See build.h and evaluate.h. */
#include <lua.h>
#include <string.h>

#include "build.h"
#include "evaluate.h"

/* ---- Reading -------------------------------------------------------------------------------- */

/* Returns the number of the argument of that name, which must be a buffer without a tensor map. */
static size_t tensor_find_argument(struct build *build, const char *name) {
  const struct config *config = build->config;
  const struct config_implementation *implementation = build->implementation;
  const struct config_argument *argument = config_find_argument(config, name);
  const char *names[KERNEL_MAX_ARGUMENTS];
  if (!argument)
    build_fail_name(build, name, names, argument_names(config, names),
                    "tensor names '%s', which is no argument of this kernel", name);
  const size_t i = (size_t)(argument - config->arguments);
  const cugen_argument_kind kind = argument->kind;
  if (kind == CUGEN_ARGUMENT_SCALAR || kind == CUGEN_ARGUMENT_CONSTANT)
    build_fail(build, "tensor \"%s\": a %s has no tensor map, only buffers have", name,
               kind == CUGEN_ARGUMENT_SCALAR ? "scalar" : "constant");
  for (size_t k = 0; k + 1 < implementation->tensor_count; k++)
    if (implementation->tensors[k].argument == i)
      build_fail(build, "tensor \"%s\" stands at %s already", name,
                 build_line(build, implementation->tensors[k].line));
  return i;
}

static void read_box(struct build *build, int table, const char *what, struct config_tensor *out) {
  const int rank = build->config->arguments[out->argument].rank;
  if (!push_field(build, table, "box"))
    build_fail(build, "%s has neither `into` nor a box: %s", what,
               config_keywords[KEYWORD_tensor].example);
  const int count = read_exprs(build, what, KERNEL_MAX_RANK, out->box);
  lua_pop(build->L, 1);
  if (count != rank)
    build_fail(build, "%s has a box of %d dimensions, the argument has %d", what, count, rank);
  out->swizzle = read_field_expr(build, table, "swizzle", what);
}

/* Reads the name of the shared array on top of the stack, and pops it. */
static void read_into(struct build *build, int table, const char *what, struct config_tensor *out) {
  static const char *const follow[] = {"box", "swizzle"};
  const struct config_implementation *implementation = build->implementation;
  const char *name = read_string(build, build_text(build, "into of %s", what));
  const char *names[CONFIG_MAX_SHARED];
  lua_pop(build->L, 1);
  for (size_t i = 0; i < implementation->shared_count; i++) {
    names[i] = implementation->shared[i].name;
    if (strcmp(names[i], name) == 0) out->into = &implementation->shared[i];
  }
  if (!out->into)
    build_fail_name(build, name, names, implementation->shared_count,
                    "%s goes into '%s', which is no shared array of this implementation", what,
                    name);
  out->shared_by = read_field_expr(build, table, "shared_by", what);
  for (int i = 0; i < 2; i++)
    if (has_field(build, table, follow[i]))
      build_fail(build, "%s: its %s follows from shared \"%s\": leave it out", what, follow[i],
                 name);
}

void read_tensor(struct build *build, const struct item *item, void *context) {
  static const char *const known[] = {"into", "shared_by", "box", "swizzle", "parts", "when"};
  struct config_tensor *out = context;
  const int table = lua_gettop(build->L);
  *out = (struct config_tensor){.line = build->line,
                                .argument = tensor_find_argument(build, item->name)};
  const char *what = build_text(build, "tensor \"%s\"", item->name);
  refuse_odd_table(build, "attribute", what, item->declaration->keyword->example, known, 6);
  if (push_field(build, table, "into"))
    read_into(build, table, what, out);
  else
    read_box(build, table, what, out);
  out->parts = read_field_expr(build, table, "parts", what);
  out->when = read_field_expr(build, table, "when", what);
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

/* The rules are those of cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object Management"):
   MOST_BOX is the largest extent of a box; strides, and the box's rows, are multiples of GRANULE
   bytes. */
enum { MOST_BOX = 256, GRANULE = 16 };

struct tensor_evaluation {
  const struct config_implementation *implementation;
  const struct config_tensor *tensor;
  struct kernel_argument *argument;
  cugen_error *err;
};

static int tensor_fail(const struct tensor_evaluation *e, const char *what, int64_t value,
                       const char *rule) {
  return config_fail(e->err, e->tensor->line, "tensor \"%s\": %s %lld: it must be %s",
                     e->argument->name, what, (long long)value, rule);
}

static int tensor_evaluate(const struct tensor_evaluation *e, const struct expr *expr,
                           const struct value *slots, int64_t *out) {
  int status = expr ? expr_eval_int(expr, slots, out, e->err) : CUGEN_OK;
  if (status) config_prefix(e->err, e->tensor->line, "tensor \"%s\"", e->argument->name);
  return status;
}

static int set_box(const struct tensor_evaluation *e, int dimension, int64_t extent) {
  if (extent < 1 || extent > MOST_BOX)
    return tensor_fail(e, "an extent of the box is", extent, "1 to 256");
  e->argument->box[dimension] = (int)extent;
  return CUGEN_OK;
}

/* Evaluates a box and a swizzle that the config gives. */
static int evaluate_box(const struct tensor_evaluation *e, const struct value *slots) {
  int status = CUGEN_OK;
  for (int i = 0; i < e->argument->rank && !status; i++) {
    int64_t extent = 0;
    status = tensor_evaluate(e, e->tensor->box[i], slots, &extent);
    if (!status) status = set_box(e, i, extent);
  }
  int64_t swizzle = 0;
  if (!status) status = tensor_evaluate(e, e->tensor->swizzle, slots, &swizzle);
  if (status) return status;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return tensor_fail(e, "swizzle is", swizzle, "0, 32, 64 or 128 bytes");
  e->argument->swizzle = (int)swizzle;
  return CUGEN_OK;
}

static int refuse_array(const struct tensor_evaluation *e, const struct layout_array *array,
                        const char *why) {
  struct text word = {0};
  layout_print(&array->layout, &word);
  int status = config_fail(
      e->err, e->tensor->line, "tensor \"%s\" cannot go into shared \"%s\" (%s of %s): %s",
      e->argument->name, array->name, text_get(&word), array->dtype->name, why);
  text_free(&word);
  return status;
}

/* Refuses an array that a tensor map cannot fill. A box is written line after line, its dimensions
   in the order of the argument's strides. */
static int check_array(const struct tensor_evaluation *e, const struct layout_array *array) {
  const struct layout *layout = &array->layout;
  const int tiles = layout->tiles;
  for (int i = 0; i < array->rank; i++)
    if (layout->order[tiles][i] != i)
      return refuse_array(e, array,
                          "within its innermost tile the last index must be the contiguous one");
  if (array->dtype->bytes != e->argument->dtype->bytes)
    return refuse_array(e, array, "its elements must have as many bytes as the argument's");
  if (array->rank != e->argument->rank)
    return refuse_array(e, array, "it must have as many dimensions as the argument");
  if (layout->pad || (layout->bits && !layout->bytes))
    return refuse_array(e, array,
                        "a tensor map writes no pads, and of swizzles only ^32, ^64 and ^128");
  const int64_t line = (tiles ? layout->tile[tiles - 1] : array->shape)[array->rank - 1];
  if (layout->bytes && line * array->dtype->bytes != layout->bytes)
    return refuse_array(e, array, "a line of it must have as many bytes as its swizzle");
  if (array->align < 128) return refuse_array(e, array, "it needs align = 128");
  return CUGEN_OK;
}

/* Takes box and swizzle from the shared array: the box is the array's innermost tile, or a block's
   part of that tile. */
static int evaluate_into(const struct tensor_evaluation *e, const struct value *slots) {
  struct layout_array arrays[CONFIG_MAX_SHARED];
  const struct layout_array *array = &arrays[e->tensor->into - e->implementation->shared];
  const int rank = e->argument->rank;
  int64_t shared_by = 1;
  int status = config_shared_arrays(e->implementation, slots, arrays, e->err);
  if (!status) status = check_array(e, array);
  if (!status) status = tensor_evaluate(e, e->tensor->shared_by, slots, &shared_by);
  if (status) return status;
  const struct layout *layout = &array->layout;
  const int64_t *extents = layout->tiles ? layout->tile[layout->tiles - 1] : array->shape;
  if (shared_by < 1 || extents[0] % shared_by)
    return tensor_fail(e, "shared_by is", shared_by, "1 or more, and divide the lines of the box");
  for (int i = 0; i < rank && !status; i++)
    status = set_box(e, kernel_argument_dimension(e->argument, rank - 1 - i),
                     i ? extents[i] : extents[0] / shared_by);
  e->argument->swizzle = layout->bytes;
  int64_t bytes = array->dtype->bytes;
  for (int i = 0; i < rank && !status; i++) bytes *= e->argument->box[i];
  if (!status && shared_by > 1 && bytes % 128)
    return tensor_fail(e, "the bytes of a block's part are", bytes,
                       "a multiple of 128, where copies may begin");
  return status;
}

/* Cuts the outermost dimension into equal parts. */
static int evaluate_parts(const struct tensor_evaluation *e, const struct value *slots) {
  int64_t parts = 1;
  int status = tensor_evaluate(e, e->tensor->parts, slots, &parts);
  const int outermost = kernel_argument_dimension(e->argument, e->argument->rank - 1);
  if (status) return status;
  if (parts < 1 || e->argument->shape[outermost] % parts)
    return tensor_fail(e, "parts are", parts, "1 or more, all equally long");
  if (parts > 1 && e->argument->rank == 1)
    return tensor_fail(e, "parts are", parts, "1 where there is one dimension");
  e->argument->parts = parts;
  return CUGEN_OK;
}

static int tensor_check_bytes(const struct tensor_evaluation *e) {
  const struct kernel_argument *argument = e->argument;
  const int contiguous = kernel_argument_dimension(argument, 0);
  int64_t inner = (int64_t)argument->box[contiguous] * argument->dtype->bytes;
  if (inner % GRANULE)
    return tensor_fail(e, "the box's bytes along the contiguous dimension are", inner,
                       "a multiple of 16");
  if (argument->swizzle && inner > argument->swizzle)
    return tensor_fail(e, "the box's bytes along the contiguous dimension are", inner,
                       "at most the swizzle's");
  const struct tensor_extent extent = kernel_argument_tensor(argument);
  for (int i = 0; i < extent.rank; i++) {
    if (i && extent.stride[i] % GRANULE)
      return tensor_fail(e, "its rows' distance in bytes is", extent.stride[i], "a multiple of 16");
    if (extent.stride[i] >= (int64_t)1 << 40)
      return tensor_fail(e, "its rows' distance in bytes is", extent.stride[i], "below 2^40");
    if (extent.shape[i] > (int64_t)1 << 32)
      return tensor_fail(e, "an extent is", extent.shape[i], "2^32 at most");
  }
  return CUGEN_OK;
}

static int tensor_evaluate_when(const struct tensor_evaluation *e, const struct value *slots,
                                bool *out) {
  *out = !e->argument->absent;
  if (!*out || !e->tensor->when) return CUGEN_OK;
  int status = expr_eval_bool(e->tensor->when, slots, out, e->err);
  if (status) config_prefix(e->err, e->tensor->line, "tensor \"%s\": when", e->argument->name);
  return status;
}

static int check_strides(const struct tensor_evaluation *e) {
  const struct kernel_argument *argument = e->argument;
  if (argument->map.count)
    return config_fail(e->err, e->tensor->line,
                       "tensor \"%s\": its layout is %s, and a tensor map needs an array with "
                       "strides, without tiles or a swizzle",
                       argument->name, argument->layout);
  const int64_t stride = argument->stride[kernel_argument_dimension(argument, 0)];
  return stride == 1 ? CUGEN_OK : tensor_fail(e, "its smallest stride is", stride, "1");
}

static int evaluate_tensor(const struct tensor_evaluation *e, const struct value *slots) {
  bool wanted = false;
  int status = tensor_evaluate_when(e, slots, &wanted);
  if (status || !wanted) return status;
  status = check_strides(e);
  if (!status) status = e->tensor->into ? evaluate_into(e, slots) : evaluate_box(e, slots);
  if (!status) status = evaluate_parts(e, slots);
  if (!status) status = tensor_check_bytes(e);
  if (status) return status;
  if (e->argument->access != ACCESS_GLOBAL)
    return config_fail(e->err, e->tensor->line,
                       "tensor \"%s\": its access is %s, and a tensor map needs global",
                       e->argument->name, access_kind_names[e->argument->access]);
  e->argument->access = ACCESS_TENSOR;
  return CUGEN_OK;
}

int config_tensors(const struct config_implementation *implementation, const struct value *slots,
                   struct kernel_argument *arguments, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < implementation->tensor_count && !status; i++) {
    const struct config_tensor *tensor = &implementation->tensors[i];
    status = evaluate_tensor(
        &(struct tensor_evaluation){implementation, tensor, &arguments[tensor->argument], err},
        slots);
  }
  return status;
}
