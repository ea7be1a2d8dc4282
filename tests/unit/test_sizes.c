/* Sizes around those of a base problem and around a variant's tiles: gen/space/sizes.h. */
#include "base/text.h"
#include "configs.h"
#include "gen/space/sizes.h"
#include "tests/testing.h"

struct made {
  struct config *config;
  struct problem problem, own;
  struct device_facts facts;
  struct space *space;
  struct sizes sizes;
  struct value values[8];
  struct variant variant;
};

static void make(const char *text, const bool *fixed, struct made *m) {
  *m = (struct made){.config = parse(text)};
  WORKS(problem_set(m->config, NULL, 0, true, &m->problem, &err));
  WORKS(problem_set(m->config, NULL, 0, false, &m->own, &err));
  WORKS(space_open(m->config, &m->problem, &m->facts, &m->space, &err));
  WORKS(
      sizes_open(m->config, &m->facts, &m->problem, NULL, m->space, NULL, fixed, &m->sizes, &err));
  space_variant(m->space, 0, &m->variant, m->values);
}

static void drop(struct made *m) {
  sizes_close(&m->sizes);
  space_close(m->space);
  problem_free(&m->problem);
  problem_free(&m->own);
  config_close(m->config);
}

/* expected: the sizes in the order of the config, such as "192,96 13,7 ". */
static void expect(const struct made *m, struct size_list *list, const char *expected) {
  struct text text = {0};
  for (size_t j = 0; j < list->count; j++)
    for (size_t i = 0; i < m->problem.count; i++) {
      value_print(list->values[j * m->problem.count + i], &text);
      text_add(&text, i + 1 < m->problem.count ? "," : " ");
    }
  assert_string_equal(text_get(&text), expected);
  text_free(&text);
  free(list->values);
}

static void expect_around(const char *text, const bool *fixed, const char *expected) {
  struct made m;
  struct size_list list;
  make(text, fixed, &m);
  assert_int_equal(sizes_around(&m.sizes, &m.variant, &list, NULL), CUGEN_OK);
  expect(&m, &list, expected);
  drop(&m);
}

/* Like expect, for the values of the config's own problem. */
static void expect_own(const char *text, const char *expected) {
  struct made m;
  struct size_list list;
  make(text, NULL, &m);
  m.sizes.own = &m.own;
  assert_int_equal(sizes_around(&m.sizes, &m.variant, &list, NULL), CUGEN_OK);
  expect(&m, &list, expected);
  drop(&m);
}

#define CONFIG(sizes, launch)                                                                      \
  "kernel 'k' { " sizes " tunable 'tile' { 48 }, input 'x' { dtype = 'f32', shape = { 'm' } }, "   \
  "output 'y' { dtype = 'f32', shape = { 'm' } }, reference 'r.cu', implementation 'i' { "         \
  "template 'k.cu', " launch " } }"
#define ONE "problem 'm' (4096), check { m = 100 },"

TEST(plain_sizes_are_whole_tiles_small_and_large) {
  struct made m;
  struct size_list list;
  make(CONFIG(ONE, "grid { 1 }, block { 32 }"), NULL, &m);
  assert_int_equal(sizes_plain(&m.sizes, &list, NULL), CUGEN_OK);
  expect(&m, &list, "192 13 203 ");
  drop(&m);
}

TEST(a_tile_is_where_the_grid_grows) {
  expect_around(CONFIG(ONE, "grid { 'ceil_div(m, tile * 2)' }, block { 32 }"), NULL,
                "96 95 97 193 1 ");
  expect_around(CONFIG(ONE, "grid { '(m + 2 * tile - 1) // (2 * tile)' }, block { 32 }"), NULL,
                "96 95 97 193 1 ");
  expect_around(CONFIG(ONE, "grid { 'min(ceil_div(m, tile), 2)' }, block { 32 }"), NULL,
                "48 47 49 97 1 ");
}

/* A grid that is `m / tile` has no extent for sizes that are not multiples of the tile. */
TEST(a_grid_of_whole_tiles_has_whole_tiles_alone) {
  expect_around(
      CONFIG("problem 'm' (4096), check { m = 96 },", "grid { 'm / tile' }, block { 32 }"), NULL,
      "48 ");
}

/* Without tunables in the grid, tunables and the block's sizes count as tiles, each with its
   edges. */
TEST(without_a_grid_tunables_and_block_are_tiles) {
  expect_around(CONFIG(ONE, "grid { 7 }, block { 32 }"), NULL, "48 32 47 33 97 1 ");
}

static const char two[] =
    CONFIG("problem 'm' (4096), problem 'n' (4096), check { m = 100, n = 50 },",
           "grid { 'ceil_div(m, 96)', 'ceil_div(n, 8)' }, block { 32 }");

TEST(every_size_has_every_edge) {
  expect_around(two, NULL, "96,8 96,7 95,9 97,17 193,1 1,8 ");
}

TEST(what_is_fixed_stays) {
  static const bool fixed[] = {true, false};
  expect_around(two, fixed, "100,8 100,7 100,9 100,17 100,1 ");
}

/* A million bytes and threads take no time. More is made only if the larger sizes of the base
   problem are as large. */
TEST(nothing_large_is_made) {
  static const char text[] =
      "kernel 'k' { problem 'm' (64), check { m = %s },"
      "output 'y' { dtype = 'f32', shape = { 'm', 'm' } }, reference 'r.cu',"
      "implementation 'i' { template 'k.cu', grid { 'ceil_div(m, 500)' }, block { 32 } } }";
  char config[512];
  snprintf(config, sizeof config, text, "40");
  expect_around(config, NULL, "500 499 501 1 ");
  snprintf(config, sizeof config, text, "600");
  expect_around(config, NULL, "500 499 501 1001 1 ");
}

/* Each parameter in turn has its value of the config's own problem, with whole tiles for the
   other sizes. */
TEST(each_parameter_has_its_own_value_once) {
  expect_own(CONFIG("problem 'm' (4000), problem 'n' (300), check { m = 100, n = 50 },",
                    "grid { 'ceil_div(m, 96)', 'ceil_div(n, 8)' }, block { 32 }"),
             "96,8 96,7 95,9 97,17 193,1 1,8 4000,8 96,300 ");
  expect_own(CONFIG("problem 'm' (100), problem 'log2n' (10), problem 'rounds' (9),"
                    "check { log2n = 9, rounds = 3 },",
                    "grid { 'pow(2, log2n)' }, block { 32 }"),
             "100,10,3 100,9,9 ");
}

/* Other sizes may go below a tile if that makes the work bearable; otherwise there is no such
   problem. */
TEST(own_values_are_bounded_by_their_work) {
  expect_own(
      CONFIG(
          "problem 'm' (4000), problem 'n' (1000000), flops 'm * n', check { m = 100, n = 100 },",
          "grid { 'ceil_div(m, 1000)', 'ceil_div(n, 20)' }, block { 32 }"),
      "1000,20 1000,19 999,21 1001,41 2001,1 1,20 4000,20 13,1000000 ");
  expect_own(CONFIG("problem 'rounds' (1000000), problem 'm' (100), check { rounds = 3 },",
                    "grid { 'ceil_div(m, 96)' }, block { 32 }"),
             "");
}
