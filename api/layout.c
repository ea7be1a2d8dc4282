/* The arrays of a variant and the accesses of a warp; see layout.h. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/layout.h"
#include "base/warp.h"
#include "runtime/plan.h"

struct api_layouts {
  struct kernel_spec spec;
  struct text variant, words; /* words: those of all layouts, each with its zero */
  api_array *arrays;
  struct layout_map *maps;
  size_t count;
};

/* ---- Arrays --------------------------------------------------------------------------------- */

static void layouts_add_shared(struct api_layouts *l, const struct layout_array *array) {
  api_array *out = &l->arrays[l->count];
  *out = (api_array){.name = array->name,
                     .shared = 1,
                     .memory = array->dynamic ? "dynamic shared" : "static shared",
                     .dtype = array->dtype->name,
                     .layout = (const char *)(uintptr_t)l->words.length,
                     .file = array->file,
                     .line = array->line,
                     .rank = array->rank,
                     .element_bytes = array->dtype->bytes,
                     .stages = array->stages,
                     .bytes = array->stages * array->stage_stride * array->dtype->bytes};
  for (int i = 0; i < array->rank; i++) out->shape[i] = array->shape[i];
  layout_print(&array->layout, &l->words);
  text_add_char(&l->words, '\0');
  l->maps[l->count++] = array->map;
}

static void layouts_add_argument(struct api_layouts *l, const struct kernel_argument *argument) {
  api_array *out = &l->arrays[l->count];
  struct layout_map *map = &l->maps[l->count];
  if (argument->absent || argument->rank == 0) return;
  *out = (api_array){.name = argument->name,
                     .memory = "global",
                     .dtype = argument->dtype->name,
                     .layout = (const char *)(uintptr_t)l->words.length,
                     .file = argument->file,
                     .line = argument->line,
                     .rank = argument->rank,
                     .element_bytes = argument->dtype->bytes,
                     .stages = 1,
                     .bytes = argument->elements * argument->dtype->bytes};
  *map = kernel_argument_map(argument);
  for (int i = 0; i < argument->rank; i++) out->shape[i] = argument->shape[i];
  text_add(&l->words, *argument->layout ? argument->layout : "strides");
  text_add_char(&l->words, '\0');
  l->count++;
}

static int layouts_fill(struct api_layouts *l, cugen_error *err) {
  const size_t most = l->spec.argument_count + l->spec.shared_count;
  l->arrays = calloc(most + 1, sizeof *l->arrays);
  l->maps = calloc(most + 1, sizeof *l->maps);
  if (!l->arrays || !l->maps) return error_memory(err);
  for (size_t i = 0; i < l->spec.argument_count; i++)
    layouts_add_argument(l, &l->spec.arguments[i]);
  for (size_t i = 0; i < l->spec.shared_count; i++) layouts_add_shared(l, &l->spec.shared[i]);
  if (l->words.failed) return error_memory(err);
  for (size_t i = 0; i < l->count; i++)
    l->arrays[i].layout = text_get(&l->words) + (uintptr_t)l->arrays[i].layout;
  return CUGEN_OK;
}

int api_layouts_open(cugen_kernel *kernel, const char *variant, struct api_layouts **out,
                     cugen_error *error) {
  if (API_NEEDS(error, "kernel, out", kernel, out)) return CUGEN_ERROR_USAGE;
  struct api_layouts *l = *out = calloc(1, sizeof *l);
  if (!l) return error_memory(error);
  int status = api_expand_text(kernel, variant, &l->spec, error);
  if (!status) status = layouts_fill(l, error);
  if (!status) text_add(&l->variant, text_get(&kernel->variant_text));
  if (!status && l->variant.failed) status = error_memory(error);
  if (!status) return CUGEN_OK;
  api_layouts_close(l);
  *out = NULL;
  return status;
}

void api_layouts_close(struct api_layouts *l) {
  if (!l) return;
  kernel_spec_free(&l->spec);
  text_free(&l->variant);
  text_free(&l->words);
  free(l->arrays);
  free(l->maps);
  free(l);
}

const char *api_layouts_variant(const struct api_layouts *l) {
  return text_get(&l->variant);
}

size_t api_layouts_count(const struct api_layouts *l) {
  return l->count;
}

const api_array *api_layouts_array(const struct api_layouts *l, size_t array) {
  return &l->arrays[array];
}

int64_t api_layouts_offset(const struct api_layouts *l, size_t array, const int64_t *indices) {
  return layout_offset(&l->maps[array], indices);
}

/* ---- Accesses ------------------------------------------------------------------------------- */

/* The indices of each lane's access. */
struct lanes {
  int64_t at[WARP_LANES][CUGEN_MAX_RANK];
};

/* Lets the lanes go along the dimensions, in this order, `width` elements at a time along the last
   one. */
static void lanes_walk(const api_array *array, const int *order, int64_t width, struct lanes *out) {
  for (int lane = 0; lane < WARP_LANES; lane++) {
    int64_t left = lane;
    for (int i = 0; i < array->rank; i++) {
      const int d = order[i];
      const int64_t step = d == array->rank - 1 ? width : 1;
      const int64_t steps = (array->shape[d] + step - 1) / step;
      const bool last = i == array->rank - 1;
      out->at[lane][d] = (last ? left : left % steps) * step;
      left /= steps;
    }
  }
}

static struct expr_symbol find_lane(void *context, const char *name) {
  static const struct value number = {.type = VALUE_INT};
  (void)context;
  if (strcmp(name, "lane") != 0) return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
  return (struct expr_symbol){
      .kind = SYMBOL_SLOT, .values = &number, .value_count = 1, .open = true};
}

static const char *const *lane_names(void *context, size_t *count) {
  static const char *const names[] = {"lane"};
  (void)context;
  *count = 1;
  return names;
}

static int evaluate_index(const char *text, int dimension, struct lanes *out, cugen_error *err) {
  const struct expr_scope scope = {find_lane, lane_names, NULL};
  struct expr *expr;
  int status = expr_parse(text, &scope, &expr, err);
  for (int lane = 0; lane < WARP_LANES && !status; lane++) {
    const struct value slot = value_int(lane);
    status = expr_eval_int(expr, &slot, &out->at[lane][dimension], err);
  }
  if (!status || expr) expr_free(expr);
  if (status) err->status = CUGEN_ERROR_USAGE;
  return status ? CUGEN_ERROR_USAGE : CUGEN_OK;
}

/* Returns the comma that ends the expression, or its end. */
static const char *end_of_index(const char *text) {
  int depth = 0;
  for (; *text && (depth || *text != ','); text++) depth += (*text == '(') - (*text == ')');
  return text;
}

static int evaluate_indices(const api_array *array, const char *access, struct lanes *out,
                            cugen_error *err) {
  int count = 0, status = CUGEN_OK;
  for (const char *at = access, *end; !status; at = end + 1) {
    struct text one = {0};
    end = end_of_index(at);
    at += strspn(at, " ");
    text_add_n(&one, at, (size_t)(end - at));
    if (count < array->rank)
      status = one.failed ? error_memory(err) : evaluate_index(text_get(&one), count, out, err);
    text_free(&one);
    count++;
    if (!*end) break;
  }
  if (!status && count != array->rank)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "the access '%s' has %d indices, and %s has %d; or it is row, col, ldmatrix",
                     access, count, array->name, array->rank);
  return status;
}

static int find_lanes(const api_array *array, const char *access, int bytes, struct lanes *out,
                      cugen_error *err) {
  int order[CUGEN_MAX_RANK];
  const int rank = array->rank;
  const int64_t width = bytes / array->element_bytes;
  *out = (struct lanes){0};
  for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
  if (strcmp(access, "row") == 0) return lanes_walk(array, order, width, out), CUGEN_OK;
  if (rank < 2 && (strcmp(access, "col") == 0 || strcmp(access, "ldmatrix") == 0))
    return error_set(err, CUGEN_ERROR_USAGE, "%s has one dimension: no access %s", array->name,
                     access);
  if (strcmp(access, "col") == 0) {
    order[0] = rank - 2, order[1] = rank - 1;
    return lanes_walk(array, order, width, out), CUGEN_OK;
  }
  if (strcmp(access, "ldmatrix") != 0) return evaluate_indices(array, access, out, err);
  for (int lane = 0; lane < WARP_LANES; lane++) {
    out->at[lane][rank - 2] = lane % 16;
    out->at[lane][rank - 1] = lane / 16 * width;
  }
  return CUGEN_OK;
}

static bool layout_lies_within(const api_array *array, const int64_t *at) {
  for (int i = 0; i < array->rank; i++)
    if (at[i] < 0 || at[i] >= array->shape[i]) return false;
  return true;
}

/* Sets *address to where the lane's access begins, in bytes. Returns false if its elements are not
   side by side, or not aligned. */
static bool find_address(const struct api_layouts *l, size_t array, const int64_t *at, int bytes,
                         uintptr_t *address) {
  const api_array *a = &l->arrays[array];
  const int64_t first = api_layouts_offset(l, array, at), width = bytes / a->element_bytes;
  int64_t next[CUGEN_MAX_RANK];
  memcpy(next, at, sizeof next);
  *address = (uintptr_t)(first * a->element_bytes);
  for (int64_t i = 1; i < width; i++) {
    next[a->rank - 1]++;
    if (next[a->rank - 1] < a->shape[a->rank - 1] &&
        api_layouts_offset(l, array, next) != first + i)
      return false;
  }
  return *address % (uintptr_t)bytes == 0;
}

int api_layouts_access(const struct api_layouts *l, size_t array, const char *access, int bytes,
                       api_access *out, cugen_error *error) {
  const api_array *a = &l->arrays[array];
  uintptr_t address[WARP_LANES] = {0};
  unsigned mask = 0, needed, least;
  struct lanes lanes;
  if (!bytes) bytes = strcmp(access, "ldmatrix") == 0 ? 16 : a->element_bytes;
  if (bytes > 16 || bytes & (bytes - 1) || bytes < a->element_bytes)
    return error_set(error, CUGEN_ERROR_USAGE,
                     "an access of %d bytes: it has 1, 2, 4, 8 or 16, and at least an element's %d",
                     bytes, a->element_bytes);
  int status = find_lanes(a, access, bytes, &lanes, error);
  if (status) return status;
  for (int lane = 0; lane < WARP_LANES; lane++) {
    if (!layout_lies_within(a, lanes.at[lane])) continue;
    mask |= 1u << lane;
    if (!find_address(l, array, lanes.at[lane], bytes, &address[lane]))
      return error_set(error, CUGEN_ERROR_USAGE,
                       "%s: layout %s does not keep the %d bytes of lane %d's access together and "
                       "aligned",
                       a->name, a->layout, bytes, lane);
  }
  *out = (api_access){.bytes = bytes, .lanes = __builtin_popcount(mask)};
  if (!a->shared) {
    const struct warp_touched touched = warp_sectors(address, mask, (unsigned)bytes);
    out->sectors = (int)touched.sectors;
    out->least = (int)touched.sectors_ideal;
  } else {
    warp_banks(address, mask, (unsigned)bytes, &needed, &least);
    out->passes = (int)needed;
    out->least = (int)least;
  }
  return CUGEN_OK;
}
