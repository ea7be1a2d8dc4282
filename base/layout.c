/* Layouts as words and as maps from indices to offsets; see layout.h. */
#include "layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- Words ---------------------------------------------------------------------------------- */

struct reader {
  const char *word, *at;
  const int64_t *numbers; /* the values of the ${...} in the word, in order; NULL: the word has
                             none */
  int rank;
  cugen_error *err;
};

static int refuse(const struct reader *r, const char *expected) {
  return error_set(r->err, CUGEN_ERROR_CONFIG, "layout '%s': %s was expected at '%s'", r->word,
                   expected, r->at);
}

static bool take(struct reader *r, const char *text) {
  const size_t length = strlen(text);
  const bool there = strncmp(r->at, text, length) == 0;
  if (there) r->at += length;
  return there;
}

static int read_number(struct reader *r, int64_t least, int64_t most, const char *what,
                       int64_t *out) {
  const bool spelled = r->numbers && strncmp(r->at, "${", 2) == 0;
  char *end = spelled ? strchr(r->at, '}') + 1 : NULL;
  if (!spelled && !isdigit((unsigned char)*r->at)) return refuse(r, what);
  const long long number = spelled ? *r->numbers++ : strtoll(r->at, &end, 10);
  if (number < least || number > most) return refuse(r, what);
  *out = number;
  r->at = end;
  return CUGEN_OK;
}

/* Reads the order of a level: row, col, or the digit of each dimension once. */
static int read_order(struct reader *r, int *order) {
  const bool row = take(r, "row"), col = !row && take(r, "col");
  unsigned seen = 0;
  for (int i = 0; i < r->rank; i++) {
    if (row || col) {
      order[i] = row ? i : r->rank - 1 - i;
      continue;
    }
    const int digit = *r->at - '0';
    if (digit < 0 || digit >= r->rank || seen >> digit & 1)
      return refuse(r, "row, col, or the number of each dimension once");
    order[i] = digit;
    seen |= 1u << digit;
    r->at++;
  }
  return CUGEN_OK;
}

static int read_tile(struct reader *r, struct layout *out) {
  int status = CUGEN_OK;
  if (out->tiles == LAYOUT_TILES) return refuse(r, "no further tile");
  int64_t *tile = out->tile[out->tiles++];
  for (int i = 0; i < r->rank && !status; i++) {
    if (i && !take(r, "x")) return refuse(r, "an extent for each dimension, as in 4x8,");
    status = read_number(r, 1, INT32_MAX, "an extent of 1 or more", &tile[i]);
  }
  for (int i = 0; i < r->rank && out->tiles > 1 && !status; i++)
    if (out->tile[out->tiles - 2][i] % tile[i] != 0)
      return refuse(r, "a tile whose extents divide those of the tile around it");
  if (!status && take(r, ":")) return read_order(r, out->order[out->tiles]);
  for (int i = 0; i < r->rank; i++) out->order[out->tiles][i] = i;
  return status;
}

/* Reads a swizzle: B,M,S, or the bytes of a tensor map's swizzle. */
static int read_swizzle(struct reader *r, struct layout *out) {
  int64_t bits = 0, base = 0, shift = 0;
  int status = read_number(r, 0, 128, "the number of bits of a swizzle", &bits);
  if (!status && *r->at != ',' && (bits == 32 || bits == 64 || bits == 128))
    return out->bytes = (int)bits, CUGEN_OK;
  if (!status && (bits > 30 || !take(r, ",")))
    status = refuse(r, "a swizzle's B,M,S, or 32, 64 or 128 for that of a tensor map,");
  if (!status) status = read_number(r, 0, 30, "the lowest bit of a swizzle", &base);
  if (!status && !take(r, ",")) status = refuse(r, "a swizzle's B,M,S");
  if (!status) status = read_number(r, bits, 30, "a shift of no fewer bits than B", &shift);
  out->bits = (int)bits, out->base = (int)base, out->shift = (int)shift;
  return status;
}

int layout_read(const char *word, int rank, struct layout *out, cugen_error *err) {
  return layout_read_spelled(word, rank, NULL, out, err);
}

int layout_read_spelled(const char *word, int rank, const int64_t *numbers, struct layout *out,
                        cugen_error *err) {
  struct reader r = {.word = word, .at = word, .numbers = numbers, .rank = rank, .err = err};
  *out = (struct layout){.rank = rank};
  int status = read_order(&r, out->order[0]);
  while (!status && take(&r, "/")) status = read_tile(&r, out);
  if (!status && take(&r, "+"))
    status = read_number(&r, 0, INT32_MAX, "a number of elements to leave free", &out->pad);
  if (!status && take(&r, "^")) status = read_swizzle(&r, out);
  if (!status && *r.at) status = refuse(&r, "/ROWSxCOLS, +ELEMENTS, ^B,M,S or the end");
  return status;
}

/* Prints the order of a level behind the text `before`. "row" is printed for the first level only,
   whose `before` is "". */
static void print_order(const int *order, int rank, const char *before, struct text *out) {
  bool row = true, col = true;
  for (int i = 0; i < rank; i++) row &= order[i] == i, col &= order[i] == rank - 1 - i;
  text_add(out, row && *before ? "" : before);
  if (row)
    text_add(out, *before ? "" : "row");
  else if (col)
    text_add(out, "col");
  else
    for (int i = 0; i < rank; i++) text_addf(out, "%d", order[i]);
}

void layout_print(const struct layout *layout, struct text *out) {
  print_order(layout->order[0], layout->rank, "", out);
  for (int level = 0; level < layout->tiles; level++) {
    for (int i = 0; i < layout->rank; i++)
      text_addf(out, "%s%lld", i ? "x" : "/", (long long)layout->tile[level][i]);
    print_order(layout->order[level + 1], layout->rank, ":", out);
  }
  if (layout->pad) text_addf(out, "+%lld", (long long)layout->pad);
  if (layout->bytes) text_addf(out, "^%d", layout->bytes);
  if (layout->bits) text_addf(out, "^%d,%d,%d", layout->bits, layout->base, layout->shift);
}

/* ---- Maps ----------------------------------------------------------------------------------- */

/* Makes the modes, the outermost first, without their strides: of each dimension one for each level
   of tiles, and one more. */
static void divide(const struct layout *layout, const int64_t *shape, struct layout_map *out) {
  for (int level = 0; level <= layout->tiles; level++)
    for (int i = 0; i < layout->rank; i++) {
      const int d = layout->order[level][i];
      const int64_t whole = level ? layout->tile[level - 1][d] : shape[d],
                    part = level < layout->tiles ? layout->tile[level][d] : 1;
      out->modes[out->count++] = (struct layout_mode){
          .dimension = d, .divisor = part, .extent = (whole + part - 1) / part};
    }
}

/* The swizzle of a tensor map changes the number of a 16-byte part in its line of 32, 64 or 128
   bytes by XOR with the lowest bits of the number of its 128-byte block (PTX ISA, "Tensor swizzling
   modes"): Swizzle<1..3, 4, 3> of bytes. */
static int set_swizzle(const struct layout *layout, int element_bytes, struct layout_map *out,
                       cugen_error *err) {
  out->bits = layout->bits, out->base = layout->base, out->shift = layout->shift;
  if (!layout->bytes) return CUGEN_OK;
  int log = 0;
  while (1 << log < element_bytes) log++;
  if (1 << log != element_bytes || log > 4)
    return error_set(err, CUGEN_ERROR_CONFIG,
                     "the swizzle of a tensor map needs elements of 1, 2, 4, 8 or 16 bytes: these "
                     "have %d",
                     element_bytes);
  out->bits = layout->bytes == 128 ? 3 : layout->bytes / 32;
  out->base = 4 - log;
  out->shift = 3;
  return CUGEN_OK;
}

int layout_of_shape(const struct layout *layout, const int64_t *shape, int element_bytes,
                    struct layout_map *out, cugen_error *err) {
  int64_t size = 1;
  *out = (struct layout_map){0};
  int status = set_swizzle(layout, element_bytes, out, err);
  if (status) return status;
  divide(layout, shape, out);
  for (int i = out->count - 1; i >= 0; i--) {
    /* The pad lies behind the piece that this mode completes: a line, or an innermost tile. */
    const bool piece = i == (layout->tiles ? out->count - layout->rank : out->count - 1);
    out->modes[i].stride = size;
    if (__builtin_mul_overflow(size, out->modes[i].extent, &size) ||
        (piece && __builtin_add_overflow(size, layout->pad, &size)) || size > INT64_MAX / 2)
      return error_set(err, CUGEN_ERROR_CONFIG, "an array of more than 2^62 elements");
  }
  /* A swizzle exchanges elements within blocks of this length. */
  const int64_t block = (int64_t)1 << (out->bits ? out->base + out->bits : 0);
  out->size = (size + block - 1) / block * block;
  return CUGEN_OK;
}

/* A swizzle is its own inverse, because it changes none of the bits that it reads. */
static int64_t swizzled(const struct layout_map *map, int64_t offset) {
  const int64_t mask = ((int64_t)1 << map->bits) - 1;
  return offset ^ (offset >> map->shift >> map->base & mask) << map->base;
}

int64_t layout_offset(const struct layout_map *map, const int64_t *indices) {
  int64_t offset = 0;
  for (int i = 0; i < map->count; i++) {
    const struct layout_mode *mode = &map->modes[i];
    offset += indices[mode->dimension] / mode->divisor % mode->extent * mode->stride;
  }
  return swizzled(map, offset);
}

bool layout_element(const struct layout_map *map, int rank, const int64_t *shape, int64_t offset,
                    int64_t *indices) {
  int64_t rest = swizzled(map, offset);
  bool there = true;
  for (int i = 0; i < rank; i++) indices[i] = 0;
  for (int i = 0; i < map->count; i++) {
    const struct layout_mode *mode = &map->modes[i];
    if (mode->extent == 1) continue;
    const int64_t at = rest / mode->stride;
    there &= at < mode->extent;
    indices[mode->dimension] += at * mode->divisor;
    rest -= at * mode->stride;
  }
  for (int i = 0; i < rank; i++) there &= indices[i] < shape[i];
  return there && rest == 0;
}
