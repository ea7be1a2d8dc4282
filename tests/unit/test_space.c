/* Spaces: the walk compared with brute force, published spaces, what each rule removed, finding
   variants. */
#include "base/hash.h"
#include "base/system.h"
#include "gen/config/evaluate.h"
#include "gen/space/walk.h"
#include "spaces.h"
#include "tests/testing.h"

/* ---- Configs -------------------------------------------------------------------------------- */

enum { MOST = 12 };

static const struct device_facts facts = {.max_threads_per_block = 1024};

/* The whole config; `body`, the implementations, begins on line 3. range(first, count) has the
   values first, first + 1, ..., and tunables(2, first, count) are the tunables a and b with such
   values. known NULL: the space stays closed. */
static int open_body(struct spaced *s, const char *body, const struct device_facts *known) {
  const char *text =
      formed("local function range(first, count) local v = {} for i = 1, count do "
             "v[i] = first + i - 1 end return v end "
             "local letters = { 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k' } "
             "local function tunables(n, first, count) local all = {} for i = 1, n do "
             "all[i] = tunable(letters[i])(range(first, count)) end return table.unpack(all) end\n"
             "kernel 'k' { problem 'rows' (96), problem 'cols' (10), reference 'none', "
             "output 'out' { dtype = 'f32', shape = { 8 } },\n%s }",
             body);
  return spaced_open(s, text, known, NULL);
}

static struct spaced opened(const char *body) {
  struct spaced s;
  if (open_body(&s, body, &facts)) fail_msg("%s", s.err.message);
  return s;
}

static void expect_open_error(const char *body, const char *want) {
  FREED(spaced) s;
  assert_int_equal(open_body(&s, body, &facts), CUGEN_ERROR_CONFIG);
  assert_null(s.space);
  assert_string_equal(s.err.message, want);
}

/* An implementation of one line, with what it needs beside `parts`. */
#define ONE(name, parts)                                                                           \
  "implementation '" name "' { template 't.cu', grid { 1 }, block { 32 }, " parts " },\n"

/* The usual case; `more` begins on line 8. */
#define TILED(more)                                                                                \
  ONE("tiled", "\n"                                                                                \
               "tunable 'tile' { 8, 16, 64 }, tunable 'vec' { 1, 2, 4 }, tunable 'swizzle' { "     \
               "'none', 'pad', 'xor' },\n"                                                         \
               "where 'tile * tile <= device.max_threads_per_block',\n"                            \
               "where 'cols % vec == 0',\n"                                                        \
               "where \"swizzle ~= 'xor' or vec == 1\",\n" more)

static uint64_t removed_by(const struct space *space, size_t implementation, size_t restriction) {
  size_t count;
  return space_implementations(space, &count)[implementation].rules[restriction].removed;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

TEST(test_rows_and_counts) {
  FREED(spaced) s = opened(TILED(""));
  size_t count;
  const struct space_implementation *one = space_implementations(s.space, &count);
  assert_int_equal(count, 1);
  assert_int_equal(space_cartesian(s.space), 27);
  assert_int_equal(space_valid(s.space), 10);
  assert_int_equal(one->cartesian, 27);
  assert_int_equal(one->valid, 10);
  assert_null(one->unmet);
  assert_int_equal(removed_by(s.space, 0, 0), 9); /* tile = 64 */
  assert_int_equal(removed_by(s.space, 0, 1), 6); /* vec = 4 with the remaining tiles */
  assert_int_equal(removed_by(s.space, 0, 2), 2); /* xor with vec = 2 among the rest */
  expect_variant(s.space, 0, "tiled tile=8 vec=1 swizzle=none");
  expect_variant(s.space, 1, "tiled tile=8 vec=1 swizzle=pad");
  expect_variant(s.space, 2, "tiled tile=8 vec=1 swizzle=xor");
  expect_variant(s.space, 3, "tiled tile=8 vec=2 swizzle=none");
  expect_variant(s.space, 9, "tiled tile=16 vec=2 swizzle=pad");
  space_close(NULL);
}

static void expect_neighbours(const struct space *space, uint64_t index, const uint64_t *want,
                              size_t count) {
  uint64_t found[16];
  assert_true(space_max_neighbours(space) <= 16);
  assert_int_equal(space_neighbours(space, index, found), count);
  for (size_t i = 0; i < count; i++) assert_int_equal(found[i], want[i]);
}

TEST(test_neighbours) {
  FREED(spaced) tiled = opened(TILED("")),
                two = opened(ONE("one", "") ONE("two", "tunable 'a' { 1, 2, 3 }"));
  assert_int_equal(space_max_neighbours(tiled.space), 6);
  /* The variant tile=8 vec=1 none: tile=64 and vec=4 are not valid. */
  expect_neighbours(tiled.space, 0, (const uint64_t[]){5, 3, 1, 2}, 4);
  /* the variant tile=16 vec=2 pad: xor is not valid either */
  expect_neighbours(tiled.space, 9, (const uint64_t[]){4, 6, 8}, 3);
  expect_neighbours(two.space, 0, NULL, 0);
  expect_neighbours(two.space, 2, (const uint64_t[]){1, 3}, 2);
}

TEST(test_several_implementations) {
  FREED(spaced) s = opened(TILED("") ONE("naive", "tunable 'db' { true, false }, tunable 'rate' "
                                                  "{ 2, 1 }, where 'db or rate == 1'"));
  size_t count;
  const struct space_implementation *all = space_implementations(s.space, &count);
  assert_int_equal(count, 2);
  assert_int_equal(space_cartesian(s.space), 31);
  assert_int_equal(space_valid(s.space), 13);
  assert_int_equal(all[1].first, 10);
  assert_int_equal(all[1].valid, 3);
  assert_int_equal(space_max_tunables(s.space), 3);
  expect_variant(s.space, 10, "naive db=true rate=2");
  expect_variant(s.space, 12, "naive db=false rate=1");
  uint64_t index = 99;
  WORKS(space_find(s.space, "naive db=false", &index, &err));
  assert_int_equal(index, 12);
  assert_true(space_look_up(s.space, "naive rate=1", &index));
  assert_int_equal(index, 11);
  assert_false(space_look_up(s.space, "naive rate=7", &index));
}

/* The tries of the last implementation come first; a try that is not valid is passed over. */
TEST(test_tries) {
  FREED(spaced) s = opened(ONE("slow", "tunable 'a' { 0, 1, 2 }, try { a = 2 }")
                               ONE("fast", "tunable 'b' { 0, 1, 2, 3 }, where 'b ~= 1', "
                                           "try { b = 1 }, try { b = 3 }")),
                none = opened(ONE("slow", "tunable 'a' { 0, 1, 2 }"));
  uint64_t indices[3];
  assert_int_equal(config_tries(s.config), 3);
  assert_int_equal(space_tries(s.space, indices), 2);
  expect_variant(s.space, indices[0], "fast b=3");
  expect_variant(s.space, indices[1], "slow a=2");
  assert_false(space_try(s.space, 0, indices));
  assert_true(space_try(s.space, 1, indices));
  expect_variant(s.space, indices[0], "fast b=3");
  assert_int_equal(config_tries(none.config), 0);
}

TEST(test_no_tunables) {
  FREED(spaced) s =
      opened(ONE("fixed", "") ONE("never", "where 'rows == 96',\nwhere 'rows < cols'"));
  assert_int_equal(space_cartesian(s.space), 2);
  assert_int_equal(space_valid(s.space), 1);
  assert_int_equal(removed_by(s.space, 1, 1), 1);
  expect_variant(s.space, 0, "fixed");
  uint64_t index = 99;
  WORKS(space_find(s.space, "fixed", &index, &err));
  assert_int_equal(index, 0);
  FAILS_WITH(space_find(s.space, "never", &index, &err), CUGEN_ERROR_USAGE,
             "\"never\" is ruled out by k.lua:5: where \"rows < cols\"");
  assert_false(space_look_up(s.space, "never", &index));
}

/* A rule about the problem alone removes everything before any tunable is considered: the other
   would fail for a = 0. */
TEST(test_root_rules) {
  FREED(spaced) s = opened(
      ONE("tiled", "tunable 'a' (range(0, 5)), where '1 // a > 0', where 'rows % cols == 0'"));
  assert_int_equal(space_valid(s.space), 0);
  assert_int_equal(removed_by(s.space, 0, 0), 0);
  assert_int_equal(removed_by(s.space, 0, 1), 5);
}

TEST(test_requirements) {
  FREED(spaced) s = opened(TILED("requires 'device.max_threads_per_block >= 512',\n"
                                 "requires 'device.compute_capability >= 90',\n"
                                 "requires 'device.is_gpu == 1'"));
  size_t count;
  uint64_t index;
  const struct space_implementation *one = space_implementations(s.space, &count);
  assert_ptr_equal(one->unmet, &s.config->implementations[0].requirements[1]);
  assert_int_equal(one->valid, 0);
  assert_int_equal(one->cartesian, 27);
  assert_int_equal(removed_by(s.space, 0, 0), 0);
  FAILS_WITH(space_find(s.space, "tiled tile=8", &index, &err), CUGEN_ERROR_USAGE,
             "\"tiled tile=8\": k.lua:9: requires \"device.compute_capability >= 90\", which this "
             "device or problem does not meet");
  FAILS_WITH(space_explain_empty(s.space, &err), CUGEN_ERROR_EMPTY,
             "k.lua: no variant is left for this problem on this device\n"
             "  tiled: k.lua:9: requires \"device.compute_capability >= 90\", which this "
             "device or problem does not meet");
}

TEST(test_requirement_error) {
  expect_open_error(TILED("requires 'rows // (cols - 10) > 4'"),
                    "k.lua:8: requires: in \"rows // (cols - 10) > 4\": rows // (cols - 10) is "
                    "96 // 0, which divides by zero");
}

TEST(test_explain_empty) {
  FREED(spaced) s = opened(TILED("where 'tile > vec * 16'"));
  FAILS_WITH(space_explain_empty(s.space, &err), CUGEN_ERROR_EMPTY,
             "k.lua: no variant is left for this problem on this device\n"
             "  tiled: of 27 combinations\n"
             "    k.lua:5: where \"tile * tile <= device.max_threads_per_block\" rules out 9\n"
             "    k.lua:6: where \"cols % vec == 0\" rules out 6\n"
             "    k.lua:8: where \"tile > vec * 16\" rules out 12");
}

TEST(test_errors_in_rules) {
  expect_open_error(
      ONE("tiled", "tunable 'a' { 8 }, tunable 'b' (range(0, 4)), tunable 'c' { 7, 8 },\n"
                   "where 'b ~= 0',\nwhere 'a / b > 1'"),
      "k.lua:5: where: in \"a / b > 1\": a / b is 8 / 3, which is no whole number; // rounds down, "
      "ceil_div() up, 1.0 * a / b gives a fraction (tiled a=8 b=3)");
  expect_open_error(ONE("tiled", "tunable 'a' { 8 }, where 'a + rows'"),
                    "k.lua:3: where: \"a + rows\" gives 104, but true or false is needed: compare "
                    "it with something (tiled a=8)");
  expect_open_error(ONE("tiled", "where 'rows // (cols - 10) == 0'"),
                    "k.lua:3: where: in \"rows // (cols - 10) == 0\": rows // (cols - 10) is "
                    "96 // 0, which divides by zero (tiled)");
}

/* A rule is tried only on what the rules before it left, also if it is computed ahead for other
   combinations: the second needs only c, and the first leaves c = 0 only for a = -1. */
TEST(test_rules_guard_later_ones) {
#define GUARDED(values)                                                                            \
  ONE("x", "tunable 'a' " values ", tunable 'c' { 0, 1, 2 },\nwhere 'c > a',\nwhere '8 // c > 4'")
  FREED(spaced) s = opened(GUARDED("{ 0, 1 }"));
  assert_int_equal(space_valid(s.space), 1); /* the variant a=0 c=1 */
  assert_int_equal(removed_by(s.space, 0, 0), 3);
  assert_int_equal(removed_by(s.space, 0, 1), 2);
  expect_open_error(
      GUARDED("{ -1, 0 }"),
      "k.lua:5: where: in \"8 // c > 4\": 8 // c is 8 // 0, which divides by zero (x c=0)");
}

/* Without the rule these spaces would be walked. */
TEST(test_overflow) {
  FREED(spaced) s = opened(ONE("huge", "where 'rows == 0', tunables(10, 0, 64)"));
  assert_true(space_cartesian(s.space) == UINT64_C(1) << 60);
  assert_true(removed_by(s.space, 0, 0) == UINT64_C(1) << 60);
  expect_open_error(ONE("huge", "where 'rows == 0', tunables(11, 0, 64)"),
                    "k.lua:3: implementation \"huge\" has 2^64 combinations or more: give its "
                    "tunables fewer values");
  /* 2^63 combinations each */
  expect_open_error(ONE("first", "where 'rows == 0', tunables(9, 0, 128)")
                        ONE("second", "where 'rows == 0', tunables(9, 0, 128)"),
                    "k.lua: the space has 2^64 combinations or more");
}

/* ---- What a walk may cost ------------------------------------------------------------------- */

/* Walks the first implementation by itself. */
static int walk(const struct spaced *s, struct rows *rows, struct effort *effort,
                cugen_error *err) {
  struct value slots[DEVICE_FACT_COUNT + 8];
  struct domain domain;
  uint64_t removed[3] = {0};
  config_slots(s->config, &s->problem, &facts, slots);
  int status = domain_open(s->config, &s->config->implementations[0], slots, NULL, &domain, err);
  if (status) return status;
  status = domain_walk(&domain, NULL, rows, removed, effort, err);
  domain_close(&domain);
  return status;
}

TEST(test_row_limit) {
  FREED(spaced) s = opened(ONE("many", "tunable 'a' (range(0, 100))"));
  struct rows rows = {.limit = 99};
  struct effort effort = effort_begin((struct space_stop){0});
  FAILS_WITH(walk(&s, &rows, &effort, &err), CUGEN_ERROR_CONFIG,
             "k.lua: the space has more than 50000000 valid variants: add restrictions "
             "(where) or give tunables fewer values");
  rows.limit = 100;
  rows.count = 0;
  WORKS(walk(&s, &rows, &effort, &err));
  assert_int_equal(rows.count, 100);
  free(rows.ranks);
}

#define WIDE(count, wheres) ONE("wide", wheres ", tunables(6, 0, " count ")")

/* 10^12 combinations, each of which would have to be tried: an estimate refuses the space after
   a fraction of the steps. It lets a long walk go on that ends within the limit. */
TEST(test_walk_hopeless) {
  FREED(spaced) wide, narrow;
  struct effort effort = effort_begin((struct space_stop){0});
  open_body(&wide, WIDE("100", "where 'a + b + c + d + e + f == 5000'"), NULL);
  FAILS(walk(&wide, NULL, &effort, &err), CUGEN_ERROR_CONFIG, "too large to walk");
  assert_in_range(effort.steps, SPACE_DOUBT_STEPS, 2 * SPACE_DOUBT_STEPS);
  effort = effort_begin((struct space_stop){0});
  open_body(&narrow, WIDE("16", "where 'a + e + f == 5000'"), NULL);
  WORKS(walk(&narrow, NULL, &effort, &err));
  assert_in_range(effort.steps, SPACE_DOUBT_STEPS + SPACE_STOP_STEPS, SPACE_MAX_STEPS);
  expect_open_error(WIDE("100", "where 'a + b + c + d + e + f == 5000'"),
                    "k.lua:3: the space of \"wide\" is too large to walk: that takes more than "
                    "4000000000 steps. Give tunables fewer values, or declare first the tunables "
                    "that restrictions mention, and add restrictions of few tunables");
}

/* If only few values of the first tunable lead deep, the estimate cannot tell, and the limit
   itself ends the walk. A smaller space is walked: 64 million combinations with a rule of the
   first and the last tunable. */
TEST(test_walk_limit) {
  FREED(spaced) small = opened(WIDE("20", "where 'a + f == 5000'")), large;
  assert_int_equal(space_valid(small.space), 0);
  assert_true(small.space->effort.steps < SPACE_MAX_STEPS / 100);
  struct effort effort = effort_begin((struct space_stop){0});
  effort.most = 10 * SPACE_STOP_STEPS;
  open_body(&large,
            WIDE("100", "where 'a == 0 or b == 5000', where 'a + b + c + d + e + f == 5000'"),
            NULL);
  FAILS(walk(&large, NULL, &effort, &err), CUGEN_ERROR_CONFIG,
        "too large to walk: that takes more than 10000000 steps");
  assert_in_range(effort.steps, effort.most, effort.most + SPACE_STOP_STEPS + 64 * 64);
}

static bool stop_third(void *context) {
  return ++*(int *)context == 3;
}

TEST(test_walk_stops) {
  int asked = 0;
  FREED(spaced) s;
  struct space *space;
  open_body(&s, WIDE("100", "where 'a + b + c + d + e + f == 5000'"), NULL);
  FAILS_WITH(space_open_within(s.config, &s.problem, &facts, NULL,
                               (struct space_stop){stop_third, &asked}, &space, &err),
             CUGEN_ERROR_INTERRUPTED, "interrupted while the space was walked");
  assert_int_equal(asked, 3);
  assert_null(space);
}

/* ---- Finding -------------------------------------------------------------------------------- */

TEST(test_find) {
  FREED(spaced) s = opened(TILED(""));
  static const struct {
    const char *text;
    uint64_t index;
  } cases[] = {
      {"tiled", 0},
      {"  tiled  ", 0},
      {"tiled tile=16", 5},
      {"tiled vec=2", 3},
      {"tiled swizzle=pad vec=2", 4},
      {"tiled swizzle=pad tile=16  vec=2", 9},
      {"tiled swizzle=xor tile=16", 7},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t index = 99;
    WORKS(space_find(s.space, cases[i].text, &index, &err));
    assert_int_equal(index, cases[i].index);
  }
}

TEST(test_find_errors) {
  FREED(spaced) s = opened(TILED(""));
  static const char *const cases[][2] = {
      {"tield",
       "unknown implementation \"tield\" in \"tield\"; did you mean \"tiled\"?; there is: tiled"},
      {"", "unknown implementation \"\" in \"\"; there is: tiled"},
      {"tile=16", "unknown implementation \"tile=16\" in \"tile=16\"; there is: tiled; a variant "
                  "begins with its implementation: \"tiled tile=16\""},
      {"tiledx",
       "unknown implementation \"tiledx\" in \"tiledx\"; did you mean \"tiled\"?; there is: tiled"},
      {"tiled tlie=8", "unknown tunable \"tlie\" in \"tiled tlie=8\"; did you mean \"tile\"?; "
                       "there are: tile vec swizzle"},
      {"tiled tile", "expected \"tile=VALUE\" in \"tiled tile\""},
      {"tiled tile 8", "expected \"tile=VALUE\" in \"tiled tile 8\""},
      {"tiled tile=", "tile has no value \"\" in \"tiled tile=\"; there are: 8 16 64"},
      {"tiled tile=15",
       "tile has no value \"15\" in \"tiled tile=15\"; did you mean \"16\"?; there are: 8 16 64"},
      {"tiled tile=8 tile=16", "\"tile\" is given twice in \"tiled tile=8 tile=16\""},
      {"tiled tile=64 vec=4", "\"tiled tile=64 vec=4\" is ruled out by k.lua:5: where \"tile * "
                              "tile <= device.max_threads_per_block\""},
      {"tiled vec=4 tile=8",
       "\"tiled vec=4 tile=8\" is ruled out by k.lua:6: where \"cols % vec == 0\""},
      {"tiled vec=2 tile=8 swizzle=xor", "\"tiled vec=2 tile=8 swizzle=xor\" is ruled out by "
                                         "k.lua:7: where \"swizzle ~= 'xor' or vec == 1\""},
      {"tiled vec=4",
       /* the rules that hold for only some tiles are not named */
       "\"tiled vec=4\" is ruled out by k.lua:6: where \"cols % vec == 0\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t index = 99;
    FAILS_WITH(space_find(s.space, cases[i][0], &index, &err), CUGEN_ERROR_USAGE, cases[i][1]);
    assert_int_equal(index, 99);
    assert_int_equal(space_find(s.space, cases[i][0], &index, NULL), CUGEN_ERROR_USAGE);
  }
}

/* No single rule removes what is asked for, and the last rule cannot even be evaluated without
   those before it. */
TEST(test_find_joint) {
  FREED(spaced) s =
      opened(ONE("pair", "tunable 'a' { 1, 2, 3 }, tunable 'b' { 1, 2 },\nwhere 'a ~= 1 or b == 1',"
                         "\nwhere 'a ~= 2 or b == 1',\nwhere 'b == 1 or 4 % (a - 1) == 1'"));
  uint64_t index;
  FAILS_WITH(space_find(s.space, "pair b=2", &index, &err), CUGEN_ERROR_USAGE,
             "\"pair b=2\" is ruled out by\n"
             "  k.lua:4: where \"a ~= 1 or b == 1\" (1 combinations)\n"
             "  k.lua:5: where \"a ~= 2 or b == 1\" (1 combinations)\n"
             "  k.lua:6: where \"b == 1 or 4 % (a - 1) == 1\" (1 combinations)");
}

/* A rule is evaluated for its own tunables alone, because all eight tunables have more
   combinations than can be walked. */
TEST(test_find_among_many) {
  FREED(spaced) s =
      opened(ONE("many", "where 'a == b', where 'b == c', where 'c == d', where 'd == e', where "
                         "'e == f', where 'f == g',\nwhere 'h > 20', tunables(8, 1, 20)"));
  uint64_t index;
  FAILS_WITH(space_find(s.space, "many a=3", &index, &err), CUGEN_ERROR_USAGE,
             "\"many a=3\" is ruled out by k.lua:4: where \"h > 20\"");
}

/* ---- Against brute force -------------------------------------------------------------------- */

/* Returns the depth at which a rule is tried: that of the deepest tunable that it mentions. */
static int depth_of(const struct config *config, size_t rule) {
  size_t count;
  const int *slots = expr_slots(config->implementations[0].restrictions[rule].expr, &count);
  int last = count ? slots[count - 1] - config->first_tunable : -1;
  return last < 0 ? -1 : last;
}

/* Returns the rule that removes the combination in slots; the number of rules if it is valid. */
static size_t first_violated(const struct config *config, const struct value *slots) {
  const struct config_implementation *one = &config->implementations[0];
  for (int depth = -1; depth < (int)one->tunable_count; depth++)
    for (size_t i = 0; i < one->restriction_count; i++) {
      bool holds = true;
      if (depth_of(config, i) == depth)
        WORKS(expr_eval_bool(one->restrictions[i].expr, slots, &holds, &err));
      if (!holds) return i;
    }
  return one->restriction_count;
}

static void check_found(const struct space *space, uint64_t row, const struct variant *variant) {
  FREED(text) text = {0};
  uint64_t index;
  variant_print(variant, &text);
  WORKS(space_find(space, text_get(&text), &index, &err));
  assert_int_equal(index, row);
}

static void compare_with_brute_force(const char *body) {
  FREED(spaced) s = opened(body);
  const struct config *config = s.config;
  const struct config_implementation *one = &config->implementations[0];
  uint64_t removed[MOST + 1] = {0}, row = 0;
  struct value slots[DEVICE_FACT_COUNT + 2 + MOST];
  config_slots(config, &s.problem, &facts, slots);
  for (uint64_t rank = 0; rank < space_cartesian(s.space); rank++) {
    uint64_t rest = rank;
    for (size_t i = one->tunable_count; i-- > 0; rest /= one->tunables[i].value_count)
      slots[config->first_tunable + (int)i] =
          one->tunables[i].values[rest % one->tunables[i].value_count];
    size_t violated = first_violated(config, slots);
    removed[violated]++;
    if (violated < one->restriction_count) continue;
    struct value values[MOST];
    struct variant variant;
    assert_true(row < space_valid(s.space));
    space_variant(s.space, row, &variant, values);
    for (size_t i = 0; i < one->tunable_count; i++)
      assert_true(value_equal(values[i], slots[config->first_tunable + (int)i]));
    if (row % 7 == 0) check_found(s.space, row, &variant);
    row++;
  }
  assert_int_equal(row, space_valid(s.space));
  for (size_t i = 0; i < one->restriction_count; i++)
    assert_int_equal(removed_by(s.space, 0, i), removed[i]);
}

/* X, Y and Z stand for tunables. */
static const char *const random_rules[] = {
    "X ~= Y",
    "X % 3 ~= 1",
    "X + Y <= rows // 8",
    "X * Y % 4 ~= 3",
    "X <= Y or Y % 2 == 0",
    "rows > X + Y",
    "X ~= 2",
    "X * Y + Z ~= 7",
    "X == 0 or Y % X ~= 2",
    "not (X > Y and Y > Z)",
    "cols % 2 == 0",
    "min(X, Y, Z) < 3",
    "is_pow2(X) or Z > 1",
    "0.5 * X <= Y + 2",
    "max(X, 3) * cols < 500",
};

static void add_random_rule(size_t tunables, uint64_t *seed, struct text *out) {
  const char *rule = random_rules[random_next(seed) % (sizeof random_rules / sizeof *random_rules)];
  char chosen[3];
  for (int i = 0; i < 3; i++) chosen[i] = "abcde"[random_next(seed) % tunables];
  text_add(out, ", where '");
  for (const char *p = rule; *p; p++)
    text_add_char(out, *p >= 'X' && *p <= 'Z' ? chosen[*p - 'X'] : *p);
  text_add(out, "'");
}

TEST(test_against_brute_force) {
  uint64_t seed = 1;
  for (int round = 0; round < 150; round++) {
    FREED(text) body = {0};
    size_t tunables = 1 + random_next(&seed) % 5, rules = random_next(&seed) % 7;
    text_add(&body, "implementation 'random' { template 't.cu', grid { 1 }, block { 32 }");
    for (size_t i = 0; i < tunables; i++) /* sometimes more values than a word has bits */
      text_addf(&body, ", tunable '%c' (range(0, %d))", "abcde"[i],
                tunables < 3 && random_next(&seed) % 3 == 0 ? 130
                                                            : 1 + (int)(random_next(&seed) % 6));
    for (size_t i = 0; i < rules; i++) add_random_rule(tunables, &seed, &body);
    text_add(&body, " }");
    compare_with_brute_force(text_get(&body));
  }
}

/* ---- The published spaces ------------------------------------------------------------------- */

/* size: the SIZE that the config has. */
static void check_published(const char *name, int size, uint64_t cartesian, uint64_t valid) {
  FREED(text) content = {0};
  FREED(spaced) s;
  WORKS(file_read(formed("tests/spaces/%s.lua", name), &content, &err));
  spaced_make(&s, formed("local SIZE = %d\n%s", size, text_get(&content)),
              &(struct device_facts){0});
  assert_int_equal(space_cartesian(s.space), cartesian);
  assert_int_equal(space_valid(s.space), valid);
  uint64_t sum = valid;
  size_t count;
  const struct space_implementation *one = space_implementations(s.space, &count);
  for (size_t i = 0; i < one->rule_count; i++) sum += one->rules[i].removed;
  assert_int_equal(sum, cartesian);
}

/* Numbers of variants from the Kernel Tuner benchmark hub and arXiv 2509.26253. */
TEST(test_published_spaces) {
  check_published("dedispersion", 0, 22272, 11130);
  check_published("expdist", 0, 9732096, 294000);
  check_published("hotspot", 0, 22200000, 349853);
  check_published("gemm", 0, 663552, 116928);
  check_published("microhh", 0, 1166400, 138600);
  check_published("atf_prl", 2, 36864, 1200);
  check_published("atf_prl", 4, 9437184, 10800);
  check_published("atf_prl", 8, 2415919104, 48720);
  check_published("matmul_h200", 0, 2304, 688);
  check_published("reduce_h200", 0, 720, 690);
}
