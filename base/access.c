/* Accesses of a warp to declared arrays; see access.h. */
#include "access.h"

#include <string.h>

#include "expr.h"

/* ---- Reading -------------------------------------------------------------------------------- */

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

static int evaluate_index(const char *text, int dimension, struct access *out, cugen_error *err) {
  const struct expr_scope scope = {find_lane, lane_names, NULL};
  struct expr *expr;
  int status = expr_parse(text, &scope, &expr, err);
  for (int lane = 0; lane < WARP_LANES && !status; lane++) {
    const struct value slot = value_int(lane);
    status = expr_eval_int(expr, &slot, &out->at[lane][dimension], err);
  }
  expr_free(expr);
  if (status && err) err->status = CUGEN_ERROR_USAGE;
  return status ? CUGEN_ERROR_USAGE : CUGEN_OK;
}

/* Returns the comma behind the first expression, or the end of the text. */
static const char *end_of_index(const char *text) {
  int depth = 0;
  for (; *text && (depth || *text != ','); text++) depth += (*text == '(') - (*text == ')');
  return text;
}

static int evaluate_indices(const char *access, const char *name, int rank, struct access *out,
                            cugen_error *err) {
  int count = 0, status = CUGEN_OK;
  for (const char *at = access, *end; !status; at = end + 1) {
    struct text one = {0};
    end = end_of_index(at);
    at += strspn(at, " ");
    text_add_n(&one, at, (size_t)(end - at));
    if (count < rank)
      status = one.failed ? error_memory(err) : evaluate_index(text_get(&one), count, out, err);
    text_free(&one);
    count++;
    if (!*end) break;
  }
  if (status)
    return error_prefix(
               err, "access '%s' (row, col, ldmatrix, or an index by `lane` for each dimension)",
               access),
           status;
  if (count != rank)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "the access '%s' has %d %s, and %s has %d; or it is row, col, ldmatrix",
                     access, count, count == 1 ? "index" : "indices", name, rank);
  return status;
}

int access_read(const char *text, const char *name, int rank, struct access *out,
                cugen_error *err) {
  static const char *const words[] = {
      [ACCESS_ROW] = "row", [ACCESS_COL] = "col", [ACCESS_LDMATRIX] = "ldmatrix"};
  *out = (struct access){.form = ACCESS_LANES};
  for (int form = ACCESS_ROW; form <= ACCESS_LDMATRIX; form++)
    if (strcmp(text, words[form]) == 0) out->form = (enum access_form)form;
  if (out->form == ACCESS_LANES) return evaluate_indices(text, name, rank, out, err);
  if (out->form == ACCESS_ROW || rank > 1) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE, "%s has one dimension: no access %s", name, text);
}

/* ---- Counting ------------------------------------------------------------------------------- */

/* Sets the indices of each lane: the lanes go along the dimensions in this order, `width` elements
   at a time along the last dimension. */
static void lanes_walk(const struct access_array *array, const int *order, int64_t width,
                       struct access *out) {
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

/* Fills in the indices of each lane. width: elements of a lane's access. */
static void find_lanes(const struct access_array *array, int64_t width, struct access *out) {
  int order[KERNEL_MAX_RANK];
  const int rank = array->rank;
  for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
  if (out->form == ACCESS_COL) order[0] = rank - 2, order[1] = rank - 1;
  if (out->form == ACCESS_ROW || out->form == ACCESS_COL) lanes_walk(array, order, width, out);
  for (int lane = 0; lane < WARP_LANES && out->form == ACCESS_LDMATRIX; lane++) {
    out->at[lane][rank - 2] = lane % 16;
    out->at[lane][rank - 1] = lane / 16 * width;
  }
}

static bool lies_within(const struct access_array *array, const int64_t *at) {
  for (int i = 0; i < array->rank; i++)
    if (at[i] < 0 || at[i] >= array->shape[i]) return false;
  return true;
}

/* Sets *address to where the lane's access begins, in bytes. Returns false if the access' elements
   are not side by side, or not aligned. */
static bool find_address(const struct access_array *array, const int64_t *at, int bytes,
                         uintptr_t *address) {
  const int last = array->rank - 1;
  const int64_t first = layout_offset(array->map, at), width = bytes / array->element_bytes;
  int64_t next[KERNEL_MAX_RANK];
  memcpy(next, at, sizeof next);
  *address = (uintptr_t)first * (uintptr_t)array->element_bytes;
  for (int64_t i = 1; i < width; i++) {
    next[last]++;
    if (next[last] < array->shape[last] && layout_offset(array->map, next) != first + i)
      return false;
  }
  return *address % (uintptr_t)bytes == 0;
}

int access_count(const struct access *access, const struct access_array *array, int64_t bytes,
                 struct access_count *out, cugen_error *err) {
  uintptr_t address[WARP_LANES] = {0};
  unsigned mask = 0;
  struct access lanes = *access;
  if (!bytes) bytes = access->form == ACCESS_LDMATRIX ? 16 : array->element_bytes;
  if (bytes > 16 || bytes & (bytes - 1) || bytes < array->element_bytes)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "an access of %lld bytes: it has 1, 2, 4, 8 or 16, and at least an element's "
                     "%d",
                     (long long)bytes, array->element_bytes);
  *out = (struct access_count){.bytes = (int)bytes, .apart = -1};
  find_lanes(array, bytes / array->element_bytes, &lanes);
  for (int lane = 0; lane < WARP_LANES; lane++) {
    if (!lies_within(array, lanes.at[lane])) continue;
    mask |= 1u << lane;
    if (!find_address(array, lanes.at[lane], (int)bytes, &address[lane]))
      return out->apart = lane, CUGEN_OK;
  }
  unsigned needed, least;
  if (array->shared) {
    warp_banks(address, mask, (unsigned)bytes, false, &needed, &least);
  } else {
    const struct warp_touched touched = warp_sectors(address, mask, (unsigned)bytes);
    needed = touched.sectors, least = touched.sectors_ideal;
  }
  out->lanes = __builtin_popcount(mask);
  out->needed = (int)needed, out->least = (int)least;
  return CUGEN_OK;
}

int access_least_pad(const struct access *access, const struct access_array *array,
                     const struct layout *layout, int64_t bytes, int64_t *pad,
                     struct access_count *out, cugen_error *err) {
  enum { BANK_BYTES = 128 }; /* a pad that is larger by so many bytes gives the same banks */
  struct layout padded = *layout;
  struct access_array with = *array;
  struct layout_map map;
  struct access_count count = {0};
  padded.bits = padded.bytes = 0;
  with.map = &map;
  *pad = 0;
  for (padded.pad = 0; padded.pad * array->element_bytes < BANK_BYTES; padded.pad++) {
    int status = layout_of_shape(&padded, array->shape, array->element_bytes, &map, err);
    if (!status) status = access_count(access, &with, bytes, &count, err);
    if (status) return status;
    if (!padded.pad || (count.apart < 0 && (out->apart >= 0 || count.needed < out->needed)))
      *out = count, *pad = padded.pad;
    if (out->apart < 0 && out->needed == out->least) break;
  }
  return CUGEN_OK;
}
