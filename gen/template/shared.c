/* Writes shared arrays into the source; see names.h. A layout divides the index of each dimension
   into one or more modes, each with a stride (base/layout.h). For example, `shared "part" { dtype =
   "f32", shape = { 32, 32 }, layout = "row^5,0,5" }` becomes

     struct alignas(16) part_array { // row^5,0,5
       float data[32][32];
       __device__ float *at(int i, int j) { return &data[i][j ^ (i & 31)]; }
       ...
     };
     __shared__ part_array part; */
#include "names.h"

#include <inttypes.h>
#include <string.h>

/* The names of the parameters of at() and operator(): one for each dimension of the array. */
static const char *const letters[KERNEL_MAX_RANK] = {"i", "j", "k", "l"};

/* ---- The offset of an element --------------------------------------------------------------- */

/* Returns whether no mode further out with an extent above 1 belongs to this mode's dimension, so
   that the mode's part of the index needs no remainder. */
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

/* A swizzle XORs higher bits of the offset into the contiguous index. Returns the mode whose index
   alone has the higher bits, and sets *shift to the position of the lowest bit in that index; -1:
   no mode has all of these bits. Only the mode next to the contiguous mode can have the bits, if a
   contiguous line has 2^k elements and the changed bits lie within the line. An XOR with the mode's
   index shows the compiler that the result stays in the line. */
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

/* ---- The array as an array of arrays -------------------------------------------------------- */

/* A dimension of the C array `data`, numbered from the innermost to the outermost. A dimension
   stands for one mode of the layout, or for several if the stride of a mode is no multiple of the
   stride of the next, as with a pad. */
struct dimension {
  int64_t unit; /* elements from one index of the dimension to the next */
  int64_t size;
  struct text index;
};

struct dimensions {
  struct dimension list[LAYOUT_MODES + 1];
  int count;
};

/* Appends "33 * i", "8 * (j % 16)", "j". */
static void add_product(int64_t factor, const char *index, struct text *out) {
  const bool sum = strchr(index, ' ');
  if (factor == 1)
    text_add(out, index);
  else
    text_addf(out, sum ? "%" PRId64 " * (%s)" : "%" PRId64 " * %s", factor, index);
}

/* Adds a mode outside of all modes added before. The stride of the new mode gives the size of the
   dimension inside of it. */
static void add_dimension(struct dimensions *d, int64_t stride, const char *index) {
  while (d->count > 1 && stride % d->list[d->count - 1].unit) {
    /* Merges the outermost dimension into the next. */
    struct dimension *last = &d->list[--d->count], *into = &d->list[d->count - 1];
    text_add(&into->index, " + ");
    add_product(last->unit / into->unit, text_get(&last->index), &into->index);
    into->index.failed |= last->index.failed;
    text_free(&last->index);
  }
  if (d->count) d->list[d->count - 1].size = stride / d->list[d->count - 1].unit;
  d->list[d->count] = (struct dimension){.unit = stride};
  text_add(&d->list[d->count++].index, index);
}

/* Lists the dimensions of `data`. exchanged: the swizzled contiguous index, such as "j ^ (i & 31)";
   "": the contiguous index is not swizzled. */
static void find_dimensions(const struct layout_array *array, const char *exchanged,
                            struct dimensions *out) {
  const struct layout_map *map = &array->map;
  *out = (struct dimensions){.count = 0};
  for (int i = map->count - 1; i >= 0; i--) {
    struct text index = {0};
    const bool innermost = i == map->count - 1, none = map->modes[i].extent <= 1;
    if (none && !innermost) continue;
    if (none)
      text_add(&index, "0");
    else if (innermost && *exchanged)
      text_add(&index, exchanged);
    else
      add_index(map, i, &index);
    add_dimension(out, map->modes[i].stride, text_get(&index));
    out->list[out->count - 1].index.failed |= index.failed;
    text_free(&index);
  }
  const int64_t all = array->staged ? array->stage_stride : map->size;
  if (array->staged) add_dimension(out, all, "stage");
  struct dimension *last = &out->list[out->count - 1];
  const int64_t whole = array->staged ? array->stages * all : all;
  /* strides are 1 or more: NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
  last->size = (whole + last->unit - 1) / last->unit;
}

static void add_dimensions(struct dimensions *d, bool sizes, struct text *out) {
  for (int i = d->count - 1; i >= 0; i--) {
    if (sizes)
      text_addf(out, "[%" PRId64 "]", d->list[i].size);
    else
      text_addf(out, "[%s]", text_get(&d->list[i].index));
    out->failed |= d->list[i].index.failed;
  }
}

/* Adds the offset of an element as a sum over the indices of `data`: "64 * i + j". staged: `data`
   has a dimension for the stage, which the sum leaves out. */
static void add_offset(const struct dimensions *d, bool staged, struct text *out) {
  for (int i = d->count - 1 - staged; i >= 0; i--) {
    const char *index = text_get(&d->list[i].index);
    if (strchr(index, '^'))
      text_addf(out, "(%s)", index);
    else
      add_product(d->list[i].unit, index, out);
    if (i) text_add(out, " + ");
    out->failed |= d->list[i].index.failed;
  }
}

/* Adds the sizes of `data`, the statement that must stand before the element ("" for most), and the
   element. If no single index has the swizzle's bits, `data` has one dimension. */
static void add_element(const struct layout_array *array, struct text *sizes, struct text *before,
                        struct text *element) {
  const struct layout_map *map = &array->map;
  const int64_t mask = (((int64_t)1 << map->bits) - 1) << map->base;
  struct text exchanged = {0};
  struct dimensions dimensions;
  int shift = 0;
  const int deciding = map->bits ? deciding_mode(map, &shift) : -1;
  if (deciding >= 0) {
    /* The swizzle's bits are XORed into the contiguous index: "j ^ (i & 31)". */
    text_addf(&exchanged, "%s ^ (", letters[map->modes[map->count - 1].dimension]);
    add_index(map, deciding, &exchanged);
    if (shift > map->base) text_addf(&exchanged, " >> %d", shift - map->base);
    if (shift < map->base) text_addf(&exchanged, " << %d", map->base - shift);
    text_addf(&exchanged, " & %" PRId64 ")", mask);
  }
  find_dimensions(array, text_get(&exchanged), &dimensions);
  text_add(element, "data");
  if (map->bits && deciding < 0) {
    text_addf(sizes, "[%" PRId64 "]", array->stages * array->stage_stride);
    text_add(before, "const int o = ");
    add_offset(&dimensions, array->staged, before);
    text_add(before, "; ");
    text_add(element, "[");
    if (array->staged) text_addf(element, "%" PRId64 " * stage + ", array->stage_stride);
    text_addf(element, "(o ^ (o >> %d & %" PRId64 "))]", map->shift, mask);
  } else {
    add_dimensions(&dimensions, true, sizes);
    add_dimensions(&dimensions, false, element);
  }
  for (int i = 0; i < dimensions.count; i++) text_free(&dimensions.list[i].index);
  text_free(&exchanged);
}

/* ---- What lies together --------------------------------------------------------------------- */

/* Returns the size in bytes of the largest group of neighbours along the last index that are
   contiguous and aligned to the group's size; at most 16, the width of the widest access. */
static int64_t bytes_together(const struct layout_array *array) {
  const struct layout_map *map = &array->map;
  const int last = map->count - 1;
  const bool along = map->modes[last].dimension == array->rank - 1;
  int64_t elements = 1;
  while (along && 2 * elements * array->dtype->bytes <= 16) {
    const int64_t more = 2 * elements;
    bool together = (!map->bits || more <= (int64_t)1 << map->base) &&
                    more * array->dtype->bytes <= array->align;
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

/* Adds descriptor(), which returns wgmma's matrix descriptor of the tile that begins at an element,
   if a tensor map can write the array, whose lines are then as wide as the swizzle. The hardware
   swizzles the address, so the offset is that of an array without swizzle. Groups of 8 lines follow
   one another; a tile with the next elements of a line follows the innermost tile. PTX ISA,
   "Asynchronous warpgroup level matrix: matrix descriptor". */
static void add_descriptor(const struct layout_array *array, const char *with, struct text *out) {
  const struct layout *layout = &array->layout;
  const int bytes = array->dtype->bytes;
  const int64_t *tile = layout->tiles ? layout->tile[layout->tiles - 1] : NULL;
  const uint64_t next = tile ? (uint64_t)(tile[0] * tile[1] * bytes) >> 4 : 1;
  const uint64_t mode = layout->bytes == 128 ? 1 : layout->bytes == 64 ? 2 : 3;
  struct dimensions dimensions;
  const int64_t line = (tile ? tile : array->shape)[array->rank - 1];
  if (array->rank != 2 || layout->pad || line * bytes != layout->bytes ||
      layout->order[layout->tiles][1] != 1)
    return;
  find_dimensions(array, "", &dimensions);
  text_addf(out,
            "  __device__ unsigned long long descriptor(%s) {\n"
            "    const unsigned at = (unsigned)__cvta_generic_to_shared(data) + %d * (",
            with, bytes);
  if (array->staged) text_addf(out, "%" PRId64 " * stage + ", array->stage_stride);
  add_offset(&dimensions, array->staged, out);
  text_addf(out, ");\n    return 0x%" PRIx64 " | (at >> 4 & 0x3fff);\n  }\n",
            mode << 62 | (uint64_t)(8 * layout->bytes) >> 4 << 32 | (next & 0x3fff) << 16);
  for (int i = 0; i < dimensions.count; i++) text_free(&dimensions.list[i].index);
}

static void add_type(const struct layout_array *array, struct text *out) {
  struct text declared = {0}, passed = {0}, word = {0}, sizes = {0}, before = {0}, element = {0};
  const char *type = array->dtype->cuda_name;
  const int64_t together = bytes_together(array);
  add_parameters(array, true, &declared);
  add_parameters(array, false, &passed);
  layout_print(&array->layout, &word);
  add_element(array, &sizes, &before, &element);
  text_addf(out, "struct alignas(%" PRId64 ") %s_array { // %s\n  %s data%s;\n", array->align,
            array->name, text_get(&word), type, text_get(&sizes));
  const char *with = text_get(&declared), *as = text_get(&passed);
  const char *first = text_get(&before), *one = text_get(&element);
  text_addf(out, "  __device__ %s *at(%s) { %sreturn &%s; }\n", type, with, first, one);
  text_addf(out, "  __device__ %s &operator()(%s) { %sreturn %s; }\n", type, with, first, one);
  text_addf(out,
            "  template <class T> __device__ T &as(%s) {\n"
            "    static_assert(sizeof(T) <= %" PRId64 ", \"the layout %s of %s keeps %" PRId64
            " bytes together along the last index, and this type has more\");\n"
            "    return *reinterpret_cast<T *>(at(%s));\n  }\n",
            with, together, text_get(&word), array->name, together, as);
  add_descriptor(array, with, out);
  text_add(out, "};\n");
  out->failed |=
      declared.failed | passed.failed | word.failed | sizes.failed | before.failed | element.failed;
  text_free(&declared);
  text_free(&passed);
  text_free(&word);
  text_free(&sizes);
  text_free(&before);
  text_free(&element);
}

void shared_array_define(const struct layout_array *array, int64_t block_align, struct text *out) {
  add_type(array, out);
  if (block_align)
    text_addf(out, "extern __shared__ __align__(%" PRId64 ") unsigned char shared_memory[];\n",
              block_align);
  if (array->dynamic)
    text_addf(out, "#define %s (*(%s_array *)(shared_memory + %" PRId64 "))\n", array->name,
              array->name, array->offset);
  else
    text_addf(out, "__shared__ %s_array %s;\n", array->name, array->name);
}
