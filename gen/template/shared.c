/* Shared arrays in the source; see shared.h. For example, `shared "part" { dtype = "f32", shape = {
   32, 32 }, layout = "row^5,0,5" }` becomes

     struct alignas(16) part_array { // row^5,0,5, transpose.lua:12
       float data[1024];
       static __device__ int offset(int i, int j) { return 32 * i + (j ^ (i & 31)); }
       ...
     };
     __shared__ part_array part; */
#include "shared.h"

#include <inttypes.h>

/* The names of indices. */
static const char *const letters[KERNEL_MAX_RANK] = {"i", "j", "k", "l"};

/* ---- The offset of an element --------------------------------------------------------------- */

/* Returns whether the mode has what the modes further out leave of its dimension, so that no
   remainder is needed. */
static bool is_outermost(const struct layout_map *map, int mode) {
  for (int i = 0; i < mode; i++)
    if (map->modes[i].dimension == map->modes[mode].dimension && map->modes[i].extent > 1)
      return false;
  return true;
}

static bool is_divided(const struct layout_map *map) {
  for (int i = 0; i < map->count; i++)
    if (map->modes[i].divisor > 1 && map->modes[i].extent > 1) return true;
  return false;
}

/* Adds one mode's part of an index, before its stride: "i", "i / 8", "j / 4 % 8". */
static void add_index(const struct layout_map *map, int i, struct text *out) {
  const struct layout_mode *mode = &map->modes[i];
  text_add(out, letters[mode->dimension]);
  if (mode->divisor > 1) text_addf(out, " / %" PRId64, mode->divisor);
  if (!is_outermost(map, i)) text_addf(out, " %% %" PRId64, mode->extent);
}

static void add_mode(const struct layout_map *map, int i, const char *contiguous,
                     struct text *out) {
  const struct layout_mode *mode = &map->modes[i];
  const bool product = mode->stride > 1;
  if (mode->extent <= 1) return;
  if (out->length) text_add(out, " + ");
  if (product) text_addf(out, "%" PRId64 " * ", mode->stride);
  const bool grouped = product && (mode->divisor > 1 || !is_outermost(map, i));
  if (grouped) text_add_char(out, '(');
  if (contiguous && !product)
    text_add(out, contiguous);
  else
    add_index(map, i, out);
  if (grouped) text_add_char(out, ')');
}

/* Returns the mode whose index alone decides how the contiguous index is exchanged, and shifts it
   to the deciding bits; -1 if there is none. That is the mode next to lines of 2^k elements, if the
   exchanged bits lie in a line and the deciding bits in that mode. The exchange is then seen to
   stay in the line by the compiler, which cannot tell it from the bits of a sum. */
static int deciding_mode(const struct layout_map *map, int *shift) {
  const int last = map->count - 1;
  if (last < 1 || map->modes[last].divisor != 1 || !is_outermost(map, last)) return -1;
  const int64_t line = map->modes[last].extent, next = map->modes[last - 1].stride;
  int log = 0;
  while ((int64_t)1 << log < line) log++;
  if ((int64_t)1 << log != line || next != line || map->base + map->bits > log) return -1;
  *shift = map->shift + map->base - log;
  if (*shift < 0) return -1;
  const int64_t deciding = (int64_t)1 << (*shift + map->bits);
  const bool alone = last == 1 || map->modes[last - 1].extent % deciding == 0;
  return alone ? last - 1 : -1;
}

/* Adds the contiguous index with its exchanged bits: "(j ^ (i & 31))". */
static void add_exchange(const struct layout_map *map, int deciding, int shift, int64_t mask,
                         struct text *out) {
  text_addf(out, "(%s ^ (", letters[map->modes[map->count - 1].dimension]);
  add_index(map, deciding, out);
  if (shift > map->base) text_addf(out, " >> %d", shift - map->base);
  if (shift < map->base) text_addf(out, " << %d", map->base - shift);
  text_addf(out, " & %" PRId64 "))", mask);
}

/* Adds the body of offset(): the sum over all modes, and what exchanges its bits. */
static void add_offset(const struct layout_array *array, struct text *out) {
  const struct layout_map *map = &array->map;
  struct text sum = {0}, exchanged = {0}, stage = {0};
  const int64_t mask = (((int64_t)1 << map->bits) - 1) << map->base;
  int shift = 0;
  const int deciding = map->bits ? deciding_mode(map, &shift) : -1;
  if (array->staged) text_addf(&stage, "%" PRId64 " * stage + ", array->stage_stride);
  if (deciding >= 0) add_exchange(map, deciding, shift, mask, &exchanged);
  for (int i = 0; i < map->count; i++)
    add_mode(map, i, exchanged.length ? text_get(&exchanged) : NULL, &sum);
  if (!sum.length) text_add_char(&sum, '0');
  if (map->bits && deciding < 0)
    text_addf(out, "const int o = %s; return %s(o ^ (o >> %d & %" PRId64 "));", text_get(&sum),
              text_get(&stage), map->shift, mask);
  else
    text_addf(out, "return %s%s;", text_get(&stage), text_get(&sum));
  out->failed |= sum.failed | exchanged.failed | stage.failed;
  text_free(&sum);
  text_free(&exchanged);
  text_free(&stage);
}

/* ---- What lies together --------------------------------------------------------------------- */

/* Returns how many neighbours along the contiguous index lie side by side from a multiple of that
   number on, in bytes: at most 16, which one access takes. */
static int64_t bytes_together(const struct layout_array *array) {
  const struct layout_map *map = &array->map;
  const int last = map->count - 1;
  int64_t elements = 1;
  while (2 * elements * array->dtype->bytes <= 16) {
    const int64_t more = 2 * elements;
    bool together = !map->bits || more <= (int64_t)1 << map->base;
    for (int i = 0; i < last; i++)
      if (map->modes[i].extent > 1 && map->modes[i].stride % more) together = false;
    if (!is_outermost(map, last) && map->modes[last].extent % more) together = false;
    if (array->stages > 1 && array->stage_stride % more) together = false;
    if (!together) break;
    elements = more;
  }
  return elements * array->dtype->bytes;
}

/* ---- The declaration ------------------------------------------------------------------------ */

static void add_parameters(const struct layout_array *array, bool types, struct text *out) {
  const char *type = types ? (is_divided(&array->map) ? "unsigned " : "int ") : "";
  if (array->staged) text_addf(out, "%sstage, ", type);
  for (int i = 0; i < array->rank; i++) text_addf(out, "%s%s%s", i ? ", " : "", type, letters[i]);
}

static void add_accessors(const struct layout_array *array, struct text *out) {
  struct text declared = {0}, passed = {0}, word = {0};
  const char *type = array->dtype->cuda_name;
  const int64_t together = bytes_together(array);
  add_parameters(array, true, &declared);
  add_parameters(array, false, &passed);
  layout_print(&array->layout, &word);
  const char *with = text_get(&declared), *as = text_get(&passed);
  text_addf(out, "  __device__ %s &operator()(%s) { return data[offset(%s)]; }\n", type, with, as);
  text_addf(out, "  __device__ %s *at(%s) { return data + offset(%s); }\n", type, with, as);
  text_addf(out,
            "  template <class T> __device__ T &as(%s) {\n"
            "    static_assert(sizeof(T) <= %" PRId64 ", \"%s: %s keeps %" PRId64
            " bytes together\");\n"
            "    return *reinterpret_cast<T *>(at(%s));\n  }\n",
            with, together, array->name, text_get(&word), together, as);
  out->failed |= declared.failed | passed.failed | word.failed;
  text_free(&declared);
  text_free(&passed);
  text_free(&word);
}

static void add_type(const struct layout_array *array, struct text *out) {
  struct text declared = {0}, word = {0}, offset = {0};
  add_parameters(array, true, &declared);
  layout_print(&array->layout, &word);
  add_offset(array, &offset);
  text_addf(out, "struct alignas(%" PRId64 ") %s_array { // %s\n", array->align, array->name,
            text_get(&word));
  text_addf(out, "  %s data[%" PRId64 "];\n", array->dtype->cuda_name,
            array->stages * array->stage_stride);
  text_addf(out, "  static __device__ int offset(%s) { %s }\n", text_get(&declared),
            text_get(&offset));
  add_accessors(array, out);
  text_add(out, "};\n");
  out->failed |= declared.failed | word.failed | offset.failed;
  text_free(&declared);
  text_free(&word);
  text_free(&offset);
}

void shared_array_define(const struct layout_array *array, enum shared_memory memory,
                         struct text *out) {
  add_type(array, out);
  if (memory == SHARED_STATIC)
    text_addf(out, "__shared__ %s_array %s;\n", array->name, array->name);
  if (memory == SHARED_DYNAMIC_FIRST)
    text_add(out, "extern __shared__ __align__(1024) unsigned char shared_memory[];\n");
  if (memory != SHARED_STATIC)
    text_addf(out, "#define %s (*(%s_array *)(shared_memory + %" PRId64 "))\n", array->name,
              array->name, array->offset);
}
