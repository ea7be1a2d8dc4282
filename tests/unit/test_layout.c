/* Layouts as words and as maps: the words in the examples of docs/layouts.md, refusals, and
   random layouts, in which no two elements may share an offset. */
#include "base/access.h"
#include "tests/testing.h"

static struct layout_map map_of(const char *word, int rank, const int64_t *shape) {
  struct layout layout;
  struct layout_map map = {0};
  cugen_error err;
  if (layout_read(word, rank, &layout, &err) || layout_of_shape(&layout, shape, 4, &map, &err))
    fail_msg("%s", err.message);
  return map;
}

/* The expected offsets are written by hand, as in docs/layouts.md. */
TEST(words_mean_what_is_documented) {
  enum { R = 12, C = 20 };
  static const char *const words[] = {
      "row",      "col", "row+8", "row^2,2,3", "row/4x8", "row/4x8:col", "row/4x10/2x5:col",
      "row/4x8+3"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const struct layout_map map = map_of(words[i], 2, (const int64_t[]){R, C});
    for (int64_t r = 0; r < R; r++)
      for (int64_t c = 0; c < C; c++) {
        const int64_t o = r * C + c, wide = (r / 4 * ((C + 7) / 8) + c / 8) * 32,
                      in = r % 4 / 2 * 2 + c % 10 / 5;
        const int64_t expected[] = {o,
                                    c * R + r,
                                    r * (C + 8) + c,
                                    o ^ (o >> 3 & 3 << 2),
                                    wide + r % 4 * 8 + c % 8,
                                    wide + c % 8 * 4 + r % 4,
                                    (r / 4 * 2 + c / 10) * 40 + in * 10 + c % 5 * 2 + r % 2,
                                    wide / 32 * 35 + r % 4 * 8 + c % 8};
        assert_int_equal(layout_offset(&map, (const int64_t[]){r, c}), expected[i]);
      }
  }
}

TEST(dimensions_have_an_order) {
  const int64_t shape[] = {2, 20, 3, 5}; /* N, C, H, W */
  const struct layout_map nhwc = map_of("0231", 4, shape),
                          nchw16c = map_of("row/1x16x1x1:0231", 4, shape);
  const int64_t at[] = {1, 18, 2, 4};
  assert_int_equal(layout_offset(&nhwc, at), ((1 * 3 + 2) * 5 + 4) * 20 + 18);
  assert_int_equal(layout_offset(&nchw16c, at), (((1 * 2 + 1) * 3 + 2) * 5 + 4) * 16 + 2);
  assert_int_equal(nchw16c.size, 2 * 32 * 3 * 5);
}

/* Part p of 16 bytes of row r lies at p ^ (r % 8) in lines of 128 bytes, at p ^ (r / 2 % 4) in
   lines of 64, at p ^ (r / 4 % 2) in lines of 32 (PTX ISA, "Tensor swizzling modes"). */
TEST(tensor_maps_swizzle_by_bytes) {
  for (int bytes = 32; bytes <= 128; bytes *= 2)
    for (int element = 1; element <= 16; element *= 2) {
      char word[32];
      struct layout layout;
      struct layout_map map;
      const int64_t parts = bytes / 16, in_part = 16 / element;
      snprintf(word, sizeof word, "row^%d", bytes);
      assert_int_equal(layout_read(word, 2, &layout, NULL), CUGEN_OK);
      assert_int_equal(
          layout_of_shape(&layout, (const int64_t[]){16, bytes / element}, element, &map, NULL),
          CUGEN_OK);
      for (int64_t r = 0; r < 16; r++)
        for (int64_t c = 0; c < bytes / element; c++)
          assert_int_equal(layout_offset(&map, (const int64_t[]){r, c}),
                           (r * parts + (c / in_part ^ r * bytes / 128 % parts)) * in_part +
                               c % in_part);
    }
}

static void is_refused(const char *word, const char *expected) {
  struct layout layout;
  cugen_error err;
  assert_int_equal(layout_read(word, 2, &layout, &err), CUGEN_ERROR_CONFIG);
  if (!strstr(err.message, expected)) fail_msg("%s: %s", word, err.message);
}

TEST(other_words_are_refused) {
  is_refused("", "row, col, or the number of each dimension");
  is_refused("rows", "the end was expected at 's'");
  is_refused("00", "once was expected at '0'");
  is_refused("row/4", "an extent for each dimension");
  is_refused("row/4x0", "an extent of 1 or more was expected at '0'");
  is_refused("row/8x8/4x3", "divide those of the tile around it");
  is_refused("row/8x8/4x4/2x2/1x1", "no further tile");
  is_refused("row/4x8:cal", "expected at 'cal'");
  is_refused("row+", "to leave free");
  is_refused("row+99999999999999999999", "to leave free");
  is_refused("row^3,3", "a swizzle's B,M,S");
  is_refused("row^16", "32, 64 or 128");
  is_refused("row^3,3,2", "a shift of no fewer bits");
  is_refused("row^3,3,3+1", "the end was expected at '+1'");
}

TEST(huge_arrays_are_refused) {
  struct layout layout;
  struct layout_map map;
  WORKS(layout_read("row+8", 2, &layout, &err));
  FAILS(layout_of_shape(&layout, (const int64_t[]){INT64_MAX / 4, INT64_MAX / 4}, 4, &map, &err),
        CUGEN_ERROR_CONFIG);
}

/* ---- By chance ------------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *random, uint64_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (*random >> 33) % below;
}

static void draw_order(uint64_t *random, int rank, int *order) {
  for (int i = 0; i < rank; i++) {
    const int other = (int)next_random(random, (uint64_t)i + 1);
    order[i] = order[other], order[other] = i;
  }
}

static struct layout draw(uint64_t *random, int rank) {
  struct layout layout = {.rank = rank, .tiles = (int)next_random(random, LAYOUT_TILES + 1)};
  for (int level = 0; level <= layout.tiles; level++) draw_order(random, rank, layout.order[level]);
  for (int i = 0; i < rank; i++) {
    int64_t extent = 1;
    for (int level = layout.tiles - 1; level >= 0; level--)
      layout.tile[level][i] = extent *= 1 + (int64_t)next_random(random, 3);
  }
  if (next_random(random, 2)) layout.pad = 1 + (int64_t)next_random(random, 5);
  if (next_random(random, 2)) {
    layout.bits = 1 + (int)next_random(random, 3);
    layout.base = (int)next_random(random, 4);
    layout.shift = layout.bits + (int)next_random(random, 3);
  }
  return layout;
}

/* Each element has an offset of its own below the size. */
static void expect_apart(const struct layout_map *map, int rank, const int64_t *shape) {
  bool *taken = calloc((size_t)map->size, sizeof *taken);
  int64_t at[KERNEL_MAX_RANK] = {0}, elements = 1;
  assert_non_null(taken);
  for (int i = 0; i < rank; i++) elements *= shape[i];
  for (int64_t n = 0; n < elements; n++) {
    int64_t rest = n;
    for (int i = 0; i < rank; i++) at[i] = rest % shape[i], rest /= shape[i];
    const int64_t offset = layout_offset(map, at);
    assert_in_range(offset, 0, map->size - 1);
    assert_false(taken[offset]);
    taken[offset] = true;
  }
  free(taken);
}

TEST(elements_lie_apart) {
  uint64_t random = 1;
  for (int i = 0; i < 2000; i++) {
    const int rank = 1 + i % KERNEL_MAX_RANK;
    int64_t shape[KERNEL_MAX_RANK];
    for (int d = 0; d < rank; d++) shape[d] = 1 + (int64_t)next_random(&random, 9);
    const struct layout drawn = draw(&random, rank);
    FREED(text) word = {0}, again = {0};
    struct layout read;
    layout_print(&drawn, &word);
    WORKS(layout_read(text_get(&word), rank, &read, &err));
    layout_print(&read, &again);
    assert_string_equal(text_get(&word), text_get(&again));
    const struct layout_map map = map_of(text_get(&word), rank, shape);
    expect_apart(&map, rank, shape);
  }
}

/* Each row: an access of an array of 32 x 64 elements, what it needs and the least; the least
   padding of rows and what it needs then. */
TEST(accesses_are_counted) {
  static const struct {
    const char *word, *access;
    int element, bytes;
    bool shared;
    int apart, needed, least, pad, padded;
  } rows[] = {
      {"row", "row", 4, 0, true, -1, 1, 1, 0, 1},
      {"row", "col", 4, 0, true, -1, 32, 1, 1, 1},
      {"row+1", "col", 4, 0, true, -1, 1, 1, 1, 1},
      {"row^5,0,6", "col", 4, 0, true, -1, 1, 1, 1, 1},
      {"row", "col", 2, 0, true, -1, 32, 1, 2, 1},
      {"row", "col", 1, 0, true, -1, 16, 1, 2, 1},
      {"row", "col", 8, 0, true, -1, 32, 2, 1, 2},
      {"row", "col", 2, 16, true, -1, 32, 4, 8, 4},
      {"row+2", "row", 2, 16, true, 8, 0, 0, 0, 4},
      {"row", "ldmatrix", 2, 0, true, -1, 32, 4, 8, 4},
      {"row^128", "ldmatrix", 2, 0, true, -1, 4, 4, 8, 4},
      {"row", "0, lane * 2", 4, 0, true, -1, 2, 1, 0, 2},
      {"row", "0, lane * 4", 4, 0, true, -1, 2, 1, 0, 2},
      {"row", "row", 4, 0, false, -1, 4, 4, 0, 0},
      {"row", "col", 4, 0, false, -1, 32, 4, 0, 0},
      {"row", "lane - 16, 0", 4, 0, false, -1, 16, 2, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct access_array array = {
        .shared = rows[i].shared, .rank = 2, .element_bytes = rows[i].element, .shape = {32, 64}};
    struct layout layout;
    struct layout_map map;
    struct access access;
    struct access_count count, padded;
    int64_t pad;
    array.map = &map;
    assert_false(layout_read(rows[i].word, 2, &layout, NULL));
    assert_false(layout_of_shape(&layout, array.shape, rows[i].element, &map, NULL));
    assert_false(access_read(rows[i].access, "a", 2, &access, NULL));
    assert_false(access_count(&access, &array, rows[i].bytes, &count, NULL));
    assert_int_equal(count.apart, rows[i].apart);
    assert_int_equal(count.needed, rows[i].needed);
    assert_int_equal(count.least, rows[i].least);
    if (!rows[i].shared) continue;
    assert_false(access_least_pad(&access, &array, &layout, rows[i].bytes, &pad, &padded, NULL));
    assert_int_equal(pad, rows[i].pad);
    assert_int_equal(padded.needed, rows[i].padded);
  }
}
