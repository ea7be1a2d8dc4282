/* Spaces: the walk compared with brute force, published spaces, what each rule removed, finding
   variants. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/system.h"
#include "gen/space/walk.h"
#include "tests/testing.h"

/* ---- Configs made by hand: the space needs little of them ----------------------------------- */

enum { MOST = 12, MOST_VALUES = 200 };

struct implementation {
  struct config_tunable tunables[MOST];
  struct value values[MOST][MOST_VALUES];
  struct config_restriction restrictions[MOST];
  struct config_requirement requirements[MOST];
};

struct made {
  struct config config;
  struct config_problem problems[2];
  struct value defaults[2];
  struct problem problem;
  struct device_facts facts;
  struct config_implementation implementations[2];
  struct implementation parts[2];
  int line;
  cugen_error err;
};

static struct expr_symbol find(void *context, const char *name) {
  struct made *made = context;
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    if (strcmp(device_fact_names[i], name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = i};
  for (size_t i = 0; i < made->config.problem_count; i++)
    if (strcmp(made->problems[i].name, name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = made->config.first_problem + (int)i};
  const struct config_implementation *last =
      &made->implementations[made->config.implementation_count - 1];
  for (size_t i = 0; i < last->tunable_count; i++)
    if (strcmp(last->tunables[i].name, name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = made->config.first_tunable + (int)i};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

/* Makes a space with the sizes rows = 96 and cols = 10, for a device of 1024 threads a block;
   each declaration is a line of t.lua. */
static struct made *make(void) {
  struct made *made = calloc(1, sizeof *made);
  assert_non_null(made);
  static const char *const names[] = {"rows", "cols"};
  made->defaults[0] = value_int(96);
  made->defaults[1] = value_int(10);
  for (int i = 0; i < 2; i++)
    made->problems[i] =
        (struct config_problem){.name = names[i], .values = &made->defaults[i], .value_count = 1};
  made->problem = (struct problem){.values = made->defaults, .count = 2};
  made->facts.max_threads_per_block = 1024;
  made->config =
      (struct config){.name = "t", .path = "t.lua", .problems = made->problems, .problem_count = 2};
  made->config.first_problem = DEVICE_FACT_COUNT;
  made->config.first_tunable = DEVICE_FACT_COUNT + 2;
  made->config.implementations = made->implementations;
  return made;
}

static struct config_implementation *last_of(struct made *made) {
  return &made->implementations[made->config.implementation_count - 1];
}

static void add_implementation(struct made *made, const char *name) {
  struct implementation *part = &made->parts[made->config.implementation_count];
  made->implementations[made->config.implementation_count++] = (struct config_implementation){
      .name = name,
      .line = {"t.lua", ++made->line},
      .tunables = part->tunables,
      .restrictions = part->restrictions,
      .requirements = part->requirements,
  };
}

static void add_values(struct made *made, const char *name, const struct value *values,
                       size_t count) {
  struct config_implementation *last = last_of(made);
  struct implementation *part = &made->parts[made->config.implementation_count - 1];
  assert_true(last->tunable_count < MOST && count <= MOST_VALUES);
  memcpy(part->values[last->tunable_count], values, count * sizeof *values);
  part->tunables[last->tunable_count] =
      (struct config_tunable){.name = name,
                              .line = {"t.lua", ++made->line},
                              .values = part->values[last->tunable_count],
                              .value_count = count};
  last->tunable_count++;
}

/* Adds a tunable with the values first, first + 1, ... */
static void add_range(struct made *made, const char *name, int64_t first, size_t count) {
  struct value values[MOST_VALUES];
  for (size_t i = 0; i < count; i++) values[i] = value_int(first + (int64_t)i);
  add_values(made, name, values, count);
}

static const struct expr *parse(struct made *made, const char *source) {
  struct expr_scope scope = {find, NULL, made};
  struct expr *expr;
  cugen_error err;
  if (expr_parse(source, &scope, &expr, &err)) fail_msg("%s", err.message);
  return expr;
}

static void add_rule(struct made *made, const char *source) {
  struct implementation *part = &made->parts[made->config.implementation_count - 1];
  size_t index = last_of(made)->restriction_count++;
  assert_true(index < MOST);
  part->restrictions[index] =
      (struct config_restriction){{"t.lua", ++made->line}, parse(made, source)};
}

static void add_requirement(struct made *made, const char *source) {
  struct implementation *part = &made->parts[made->config.implementation_count - 1];
  size_t index = last_of(made)->requirement_count++;
  assert_true(index < MOST);
  part->requirements[index] =
      (struct config_requirement){{"t.lua", ++made->line}, parse(made, source), source};
}

static void made_free(struct made *made) {
  for (size_t i = 0; i < made->config.implementation_count; i++) {
    const struct config_implementation *one = &made->implementations[i];
    for (size_t r = 0; r < one->restriction_count; r++)
      expr_free((struct expr *)one->restrictions[r].expr);
    for (size_t r = 0; r < one->requirement_count; r++)
      expr_free((struct expr *)one->requirements[r].expr);
  }
  free(made);
}
CLOSABLE(made, made_free);

static struct space *open_made(struct made *made) {
  struct space *space;
  if (space_open(&made->config, &made->problem, &made->facts, &space, &made->err))
    fail_msg("%s", made->err.message);
  return space;
}

static void expect_open_error(struct made *made, const char *want) {
  struct space *space = (struct space *)made;
  assert_int_equal(space_open(&made->config, &made->problem, &made->facts, &space, &made->err),
                   CUGEN_ERROR_CONFIG);
  assert_null(space);
  assert_string_equal(made->err.message, want);
  made_free(made);
}

static void expect_variant(const struct space *space, uint64_t index, const char *want) {
  struct value values[MOST];
  struct variant variant;
  FREED(text) text = {0};
  assert_true(space_max_tunables(space) <= MOST);
  space_variant(space, index, &variant, values);
  variant_print(&variant, &text);
  assert_string_equal(text_get(&text), want);
}

static uint64_t removed_by(const struct space *space, size_t implementation, size_t restriction) {
  size_t count;
  return space_implementations(space, &count)[implementation].rules[restriction].removed;
}

/* The usual case: tile 8 16 32 64, vec 1 2 4, and pad. */
static struct made *make_tiled(void) {
  struct made *made = make();
  add_implementation(made, "tiled");
  add_values(made, "tile", (struct value[]){value_int(8), value_int(16), value_int(64)}, 3);
  add_values(made, "vec", (struct value[]){value_int(1), value_int(2), value_int(4)}, 3);
  add_values(made, "swizzle",
             (struct value[]){value_string("none"), value_string("pad"), value_string("xor")}, 3);
  add_rule(made, "tile * tile <= device.max_threads_per_block"); /* on line 5 */
  add_rule(made, "cols % vec == 0");
  add_rule(made, "swizzle ~= 'xor' or vec == 1");
  return made;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

TEST(test_rows_and_counts) {
  struct made *made = make_tiled();
  struct space *space = open_made(made);
  size_t count;
  const struct space_implementation *one = space_implementations(space, &count);
  assert_int_equal(count, 1);
  assert_int_equal(space_cartesian(space), 27);
  assert_int_equal(space_valid(space), 10);
  assert_int_equal(one->cartesian, 27);
  assert_int_equal(one->valid, 10);
  assert_null(one->unmet);
  assert_int_equal(removed_by(space, 0, 0), 9); /* tile = 64 */
  assert_int_equal(removed_by(space, 0, 1), 6); /* vec = 4 with the remaining tiles */
  assert_int_equal(removed_by(space, 0, 2), 2); /* xor with vec = 2 among the rest */
  expect_variant(space, 0, "tiled tile=8 vec=1 swizzle=none");
  expect_variant(space, 1, "tiled tile=8 vec=1 swizzle=pad");
  expect_variant(space, 2, "tiled tile=8 vec=1 swizzle=xor");
  expect_variant(space, 3, "tiled tile=8 vec=2 swizzle=none");
  expect_variant(space, 9, "tiled tile=16 vec=2 swizzle=pad");
  space_close(space);
  made_free(made);
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
  struct made *made = make_tiled();
  struct space *space = open_made(made);
  assert_int_equal(space_max_neighbours(space), 6);
  /* The variant tile=8 vec=1 none: tile=64 and vec=4 are not valid. */
  expect_neighbours(space, 0, (const uint64_t[]){5, 3, 1, 2}, 4);
  /* the variant tile=16 vec=2 pad: xor is not valid either */
  expect_neighbours(space, 9, (const uint64_t[]){4, 6, 8}, 3);
  space_close(space);
  made_free(made);
  made = make();
  add_implementation(made, "one");
  add_implementation(made, "two");
  add_range(made, "a", 1, 3);
  space = open_made(made);
  expect_neighbours(space, 0, NULL, 0);
  expect_neighbours(space, 2, (const uint64_t[]){1, 3}, 2);
  space_close(space);
  made_free(made);
}

TEST(test_several_implementations) {
  CLOSED(made) *made = make_tiled();
  add_implementation(made, "naive");
  add_values(made, "db", (struct value[]){value_bool(true), value_bool(false)}, 2);
  add_values(made, "rate", (struct value[]){value_float(0.5), value_int(1)}, 2);
  add_rule(made, "db or rate == 1");
  CLOSED(space) *space = open_made(made);
  size_t count;
  const struct space_implementation *all = space_implementations(space, &count);
  assert_int_equal(count, 2);
  assert_int_equal(space_cartesian(space), 31);
  assert_int_equal(space_valid(space), 13);
  assert_int_equal(all[1].first, 10);
  assert_int_equal(all[1].valid, 3);
  assert_int_equal(space_max_tunables(space), 3);
  expect_variant(space, 10, "naive db=true rate=0.5");
  expect_variant(space, 12, "naive db=false rate=1");
  uint64_t index = 99;
  assert_int_equal(space_find(space, "naive db=false", &index, NULL), CUGEN_OK);
  assert_int_equal(index, 12);
  assert_true(space_look_up(space, "naive rate=1", &index));
  assert_int_equal(index, 11);
  assert_false(space_look_up(space, "naive rate=7", &index));
}

/* The tries of the last implementation come first; a try that is not valid is passed over. */
TEST(test_tries) {
  CLOSED(made) *made = make();
  static const char *const slow[] = {"slow a=2"}, *const fast[] = {"fast b=1", "fast b=3"};
  uint64_t indices[3];
  size_t try = 9;
  add_implementation(made, "slow");
  add_range(made, "a", 0, 3);
  last_of(made)->tries = slow, last_of(made)->try_count = 1;
  add_implementation(made, "fast");
  add_range(made, "b", 0, 4);
  add_rule(made, "b ~= 1");
  last_of(made)->tries = fast, last_of(made)->try_count = 2;
  struct space *space = open_made(made);
  assert_int_equal(config_tries(&made->config), 3);
  assert_int_equal(space_tries(space, indices), 2);
  expect_variant(space, indices[0], "fast b=3");
  expect_variant(space, indices[1], "slow a=2");
  expect_variant(space, space_default(space, &try), "fast b=3");
  assert_int_equal(try, 1);
  space_close(space);
  made->implementations[0].try_count = made->implementations[1].try_count = 0;
  space = open_made(made);
  assert_int_equal(space_default(space, &try), 0);
  assert_int_equal(try, 0);
  space_close(space);
}

TEST(test_no_tunables) {
  CLOSED(made) *made = make();
  add_implementation(made, "fixed");
  add_implementation(made, "never");
  add_rule(made, "rows == 96");
  add_rule(made, "rows < cols"); /* on line 4 */
  CLOSED(space) *space = open_made(made);
  assert_int_equal(space_cartesian(space), 2);
  assert_int_equal(space_valid(space), 1);
  assert_int_equal(removed_by(space, 1, 1), 1);
  expect_variant(space, 0, "fixed");
  uint64_t index = 99;
  assert_int_equal(space_find(space, "fixed", &index, NULL), CUGEN_OK);
  assert_int_equal(index, 0);
  assert_int_equal(space_find(space, "never", &index, &made->err), CUGEN_ERROR_USAGE);
  assert_string_equal(made->err.message,
                      "\"never\" is ruled out by t.lua:4: where \"rows < cols\"");
  assert_false(space_look_up(space, "never", &index));
}

/* A rule about the problem alone removes everything before any tunable is considered. */
TEST(test_root_rules) {
  CLOSED(made) *made = make();
  add_implementation(made, "tiled");
  add_range(made, "a", 0, 5);
  add_rule(made, "1 // a > 0"); /* would fail for a = 0 */
  add_rule(made, "rows % cols == 0");
  CLOSED(space) *space = open_made(made);
  assert_int_equal(space_valid(space), 0);
  assert_int_equal(removed_by(space, 0, 0), 0);
  assert_int_equal(removed_by(space, 0, 1), 5);
}

TEST(test_requirements) {
  CLOSED(made) *made = make_tiled();
  add_requirement(made, "device.max_threads_per_block >= 512");
  add_requirement(made, "device.compute_capability >= 90"); /* on line 9 */
  add_requirement(made, "device.is_gpu == 1");
  CLOSED(space) *space = open_made(made);
  size_t count;
  const struct space_implementation *one = space_implementations(space, &count);
  assert_ptr_equal(one->unmet, &made->implementations[0].requirements[1]);
  assert_int_equal(one->valid, 0);
  assert_int_equal(one->cartesian, 27);
  assert_int_equal(removed_by(space, 0, 0), 0);
  uint64_t index;
  assert_int_equal(space_find(space, "tiled tile=8", &index, &made->err), CUGEN_ERROR_USAGE);
  assert_string_equal(made->err.message,
                      "\"tiled tile=8\": t.lua:9: requires "
                      "\"device.compute_capability >= 90\", which this device or problem does not "
                      "meet");
  assert_int_equal(space_explain_empty(space, &made->err), CUGEN_ERROR_EMPTY);
  assert_string_equal(made->err.message,
                      "t.lua: no variant is left for this problem on this device\n"
                      "  tiled: t.lua:9: requires \"device.compute_capability >= 90\", which this "
                      "device or problem does not meet");
}

TEST(test_requirement_errors) {
  struct made *made = make_tiled();
  add_requirement(made, "tile > 4");
  expect_open_error(
      made,
      "t.lua:8: requires \"tile > 4\" mentions a tunable: what one variant needs is written with "
      "where");
  made = make_tiled();
  add_requirement(made, "rows // (cols - 10) > 4");
  expect_open_error(
      made,
      "t.lua:8: requires: in \"rows // (cols - 10) > 4\": rows // (cols - 10) is 96 // 0, which "
      "divides by zero");
}

TEST(test_explain_empty) {
  CLOSED(made) *made = make_tiled();
  add_rule(made, "tile > vec * 16");
  CLOSED(space) *space = open_made(made);
  assert_int_equal(space_explain_empty(space, &made->err), CUGEN_ERROR_EMPTY);
  assert_string_equal(made->err.message,
                      "t.lua: no variant is left for this problem on this device\n"
                      "  tiled: of 27 combinations\n"
                      "    t.lua:5: where \"tile * tile <= device.max_threads_per_block\" rules "
                      "out 9\n"
                      "    t.lua:6: where \"cols % vec == 0\" rules out 6\n"
                      "    t.lua:8: where \"tile > vec * 16\" rules out 12");
}

TEST(test_errors_in_rules) {
  struct made *made = make();
  add_implementation(made, "tiled");
  add_range(made, "a", 8, 1);
  add_range(made, "b", 0, 4);
  add_range(made, "c", 7, 2);
  add_rule(made, "b ~= 0");
  add_rule(made, "a / b > 1"); /* on line 6 */
  expect_open_error(
      made,
      "t.lua:6: where: in \"a / b > 1\": a / b is 8 / 3, which is no whole number; // rounds down, "
      "ceil_div() up, 1.0 * a / b gives a fraction (tiled a=8 b=3)");
  made = make();
  add_implementation(made, "tiled");
  add_range(made, "a", 8, 1);
  add_rule(made, "a + rows");
  expect_open_error(
      made, "t.lua:3: where: \"a + rows\" gives 104, but true or false is needed: compare it with "
            "something (tiled a=8)");
  made = make();
  add_implementation(made, "tiled");
  add_rule(made, "rows // (cols - 10) == 0");
  expect_open_error(
      made,
      "t.lua:2: where: in \"rows // (cols - 10) == 0\": rows // (cols - 10) is 96 // 0, which "
      "divides by zero (tiled)");
}

/* A rule is tried only on what the rules before it left, also if it is computed ahead for other
   combinations. */
TEST(test_rules_guard_later_ones) {
  for (int64_t first = 0; first >= -1; first--) {
    struct made *made = make();
    add_implementation(made, "x");
    add_range(made, "a", first, 2);
    add_range(made, "c", 0, 3);
    add_rule(made, "c > a");      /* leaves c = 0 only for a = -1 */
    add_rule(made, "8 // c > 4"); /* needs only c; on line 5 */
    if (first == -1) {
      expect_open_error(
          made,
          "t.lua:5: where: in \"8 // c > 4\": 8 // c is 8 // 0, which divides by zero (x c=0)");
      break;
    }
    struct space *space = open_made(made);
    assert_int_equal(space_valid(space), 1); /* the variant a=0 c=1 */
    assert_int_equal(removed_by(space, 0, 0), 3);
    assert_int_equal(removed_by(space, 0, 1), 2);
    space_close(space);
    made_free(made);
  }
}

TEST(test_cartesian_overflow) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
  struct made *made = make();
  add_implementation(made, "huge");
  add_rule(made, "rows == 0"); /* without this rule the space would be walked */
  for (size_t i = 0; i < 10; i++) add_range(made, names[i], 0, 64);
  struct space *space = open_made(made);
  assert_true(space_cartesian(space) == UINT64_C(1) << 60);
  assert_true(removed_by(space, 0, 0) == UINT64_C(1) << 60);
  space_close(space);
  add_range(made, names[10], 0, 64);
  expect_open_error(
      made,
      "t.lua:1: implementation \"huge\" has 2^64 combinations or more: give its tunables fewer "
      "values");
}

TEST(test_sum_overflow) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  struct made *made = make();
  for (int one = 0; one < 2; one++) { /* 2^63 combinations each */
    add_implementation(made, one ? "second" : "first");
    add_rule(made, "rows == 0");
    for (size_t i = 0; i < 9; i++) add_range(made, names[i], 0, 128);
  }
  expect_open_error(made, "t.lua: the space has 2^64 combinations or more");
}

TEST(test_row_limit) {
  CLOSED(made) *made = make();
  add_implementation(made, "many");
  add_range(made, "a", 0, 100);
  struct value slots[DEVICE_FACT_COUNT + 2];
  config_slots(&made->config, &made->problem, &made->facts, slots);
  struct domain domain;
  struct rows rows = {.limit = 99};
  uint64_t removed[1] = {0};
  assert_int_equal(
      domain_open(&made->config, &made->implementations[0], slots, NULL, &domain, NULL), CUGEN_OK);
  struct effort effort = effort_begin((struct space_stop){0});
  assert_int_equal(domain_walk(&domain, NULL, &rows, removed, &effort, &made->err),
                   CUGEN_ERROR_CONFIG);
  assert_string_equal(made->err.message,
                      "t.lua: the space has more than 50000000 valid variants: add restrictions "
                      "(where) or give tunables fewer values");
  rows.limit = 100;
  rows.count = 0;
  assert_int_equal(domain_walk(&domain, NULL, &rows, removed, &effort, NULL), CUGEN_OK);
  assert_int_equal(rows.count, 100);
  free(rows.ranks);
  domain_close(&domain);
}

/* ---- What a walk may cost ------------------------------------------------------------------- */

/* Makes six tunables with the values 0 to `count` - 1. */
static struct made *make_wide(size_t count) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  struct made *made = make();
  add_implementation(made, "wide");
  for (int i = 0; i < 6; i++) add_range(made, names[i], 0, count);
  return made;
}

static const char too_large[] = "t.lua:1: the space of \"wide\" is too large to walk: that takes "
                                "more than 4000000000 steps. Give tunables fewer "
                                "values, or declare first the tunables that restrictions mention, "
                                "and add restrictions of few tunables";

/* 10^12 combinations, each of which would have to be tried: an estimate refuses the space after
   a fraction of the steps. */
TEST(test_walk_hopeless) {
  struct made *made = make_wide(100);
  add_rule(made, "a + b + c + d + e + f == 5000");
  expect_open_error(made, too_large);
}

/* If only few values of the first tunable lead deep, the estimate cannot tell, and the limit
   itself ends the walk. A smaller space is walked: 64 million combinations with a rule of the
   first and the last tunable. */
TEST(test_walk_limit) {
  struct made *made = make_wide(20);
  add_rule(made, "a + f == 5000");
  struct space *space;
  assert_int_equal(space_open(&made->config, &made->problem, &made->facts, &space, &made->err),
                   CUGEN_OK);
  assert_int_equal(space_valid(space), 0);
  assert_true(space->effort.steps < SPACE_MAX_STEPS / 100);
  space_close(space);
  made_free(made);

  made = make_wide(100);
  add_rule(made, "a == 0 or b == 5000");
  add_rule(made, "a + b + c + d + e + f == 5000");
  struct effort effort = effort_begin((struct space_stop){0});
  effort.most = 10 * SPACE_STOP_STEPS;
  struct value slots[DEVICE_FACT_COUNT + 8];
  struct domain domain;
  uint64_t removed[2] = {0};
  config_slots(&made->config, &made->problem, &made->facts, slots);
  assert_int_equal(
      domain_open(&made->config, &made->implementations[0], slots, NULL, &domain, NULL), CUGEN_OK);
  assert_int_equal(domain_walk(&domain, NULL, NULL, removed, &effort, &made->err),
                   CUGEN_ERROR_CONFIG);
  assert_non_null(
      strstr(made->err.message, "too large to walk: that takes more than 10000000 steps"));
  assert_in_range(effort.steps, effort.most, effort.most + SPACE_STOP_STEPS + 64 * 64);
  domain_close(&domain);
  made_free(made);
}

static bool stop_third(void *context) {
  return ++*(int *)context == 3;
}

TEST(test_walk_stops) {
  int asked = 0;
  CLOSED(made) *made = make_wide(100);
  add_rule(made, "a + b + c + d + e + f == 5000");
  struct space *space;
  assert_int_equal(space_open_within(&made->config, &made->problem, &made->facts, NULL,
                                     (struct space_stop){stop_third, &asked}, &space, &made->err),
                   CUGEN_ERROR_INTERRUPTED);
  assert_int_equal(asked, 3);
  assert_null(space);
  assert_string_equal(made->err.message, "interrupted while the space was walked");
}

/* ---- Finding -------------------------------------------------------------------------------- */

TEST(test_find) {
  CLOSED(made) *made = make_tiled();
  CLOSED(space) *space = open_made(made);
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
    if (space_find(space, cases[i].text, &index, &made->err)) fail_msg("%s", made->err.message);
    assert_int_equal(index, cases[i].index);
  }
}

TEST(test_find_errors) {
  CLOSED(made) *made = make_tiled();
  CLOSED(space) *space = open_made(made);
  static const char *const cases[][2] = {
      {"tield",
       "unknown implementation \"tield\" in \"tield\"; did you mean \"tiled\"?; there is: tiled"},
      {"", "unknown implementation \"\" in \"\"; there is: tiled"},
      {"tile=16", "unknown implementation \"tile=16\" in \"tile=16\"; there is: tiled; a variant "
                  "begins with its "
                  "implementation: \"tiled tile=16\""},
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
      {"tiled tile=64 vec=4", "\"tiled tile=64 vec=4\" is ruled out by t.lua:5: where \"tile * "
                              "tile <= device.max_threads_per_block\""},
      {"tiled vec=4 tile=8",
       "\"tiled vec=4 tile=8\" is ruled out by t.lua:6: where \"cols % vec == 0\""},
      {"tiled vec=2 tile=8 swizzle=xor", "\"tiled vec=2 tile=8 swizzle=xor\" is ruled out by "
                                         "t.lua:7: where \"swizzle ~= 'xor' or vec == 1\""},
      {"tiled vec=4",
       /* the rules that hold for only some tiles are not named */
       "\"tiled vec=4\" is ruled out by t.lua:6: where \"cols % vec == 0\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t index = 99;
    assert_int_equal(space_find(space, cases[i][0], &index, &made->err), CUGEN_ERROR_USAGE);
    assert_int_equal(index, 99);
    assert_int_equal(made->err.status, CUGEN_ERROR_USAGE);
    assert_string_equal(made->err.message, cases[i][1]);
    assert_int_equal(space_find(space, cases[i][0], &index, NULL), CUGEN_ERROR_USAGE);
  }
}

/* No single rule removes what is asked for, and the last rule cannot even be evaluated without
   those before it. */
TEST(test_find_joint) {
  CLOSED(made) *made = make();
  add_implementation(made, "pair");
  add_values(made, "a", (struct value[]){value_int(1), value_int(2), value_int(3)}, 3);
  add_values(made, "b", (struct value[]){value_int(1), value_int(2)}, 2);
  add_rule(made, "a ~= 1 or b == 1"); /* on line 4 */
  add_rule(made, "a ~= 2 or b == 1");
  add_rule(made, "b == 1 or 4 % (a - 1) == 1");
  CLOSED(space) *space = open_made(made);
  uint64_t index;
  assert_int_equal(space_find(space, "pair b=2", &index, &made->err), CUGEN_ERROR_USAGE);
  assert_string_equal(made->err.message, "\"pair b=2\" is ruled out by\n"
                                         "  t.lua:4: where \"a ~= 1 or b == 1\" (1 combinations)\n"
                                         "  t.lua:5: where \"a ~= 2 or b == 1\" (1 combinations)\n"
                                         "  t.lua:6: where \"b == 1 or 4 % (a - 1) == 1\" "
                                         "(1 combinations)");
}

/* A rule is evaluated for its own tunables alone, because all eight tunables have more
   combinations than can be walked. */
TEST(test_find_among_many) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  static const char *const rules[] = {"a == b", "b == c", "c == d", "d == e",
                                      "e == f", "f == g", "h > 20"};
  CLOSED(made) *made = make();
  struct value values[20];
  for (int i = 0; i < 20; i++) values[i] = value_int(i + 1);
  add_implementation(made, "many");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) add_values(made, names[i], values, 20);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) add_rule(made, rules[i]);
  CLOSED(space) *space = open_made(made);
  uint64_t index;
  assert_int_equal(space_find(space, "many a=3", &index, &made->err), CUGEN_ERROR_USAGE);
  assert_string_equal(made->err.message, "\"many a=3\" is ruled out by t.lua:16: where \"h > 20\"");
}

/* ---- Against brute force -------------------------------------------------------------------- */

/* Returns the depth at which a rule is tried: that of the deepest tunable that it mentions. */
static int depth_of(const struct made *made, size_t rule) {
  size_t count;
  const int *slots = expr_slots(made->implementations[0].restrictions[rule].expr, &count);
  int last = count ? slots[count - 1] - made->config.first_tunable : -1;
  return last < 0 ? -1 : last;
}

/* Returns the rule that removes the combination in slots; the number of rules if it is valid. */
static size_t first_violated(const struct made *made, const struct value *slots) {
  const struct config_implementation *one = &made->implementations[0];
  for (int depth = -1; depth < (int)one->tunable_count; depth++)
    for (size_t i = 0; i < one->restriction_count; i++) {
      bool holds = true;
      if (depth_of(made, i) == depth)
        assert_int_equal(expr_eval_bool(one->restrictions[i].expr, slots, &holds, NULL), CUGEN_OK);
      if (!holds) return i;
    }
  return one->restriction_count;
}

static void check_found(const struct space *space, uint64_t row, const struct variant *variant) {
  FREED(text) text = {0};
  uint64_t index;
  variant_print(variant, &text);
  assert_int_equal(space_find(space, text_get(&text), &index, NULL), CUGEN_OK);
  assert_int_equal(index, row);
}

static void compare_with_brute_force(struct made *made) {
  CLOSED(space) *space = open_made(made);
  const struct config_implementation *one = &made->implementations[0];
  uint64_t removed[MOST + 1] = {0}, row = 0;
  struct value slots[DEVICE_FACT_COUNT + 2 + MOST];
  config_slots(&made->config, &made->problem, &made->facts, slots);
  for (uint64_t rank = 0; rank < space_cartesian(space); rank++) {
    uint64_t rest = rank;
    for (size_t i = one->tunable_count; i-- > 0; rest /= one->tunables[i].value_count)
      slots[made->config.first_tunable + (int)i] =
          one->tunables[i].values[rest % one->tunables[i].value_count];
    size_t violated = first_violated(made, slots);
    removed[violated]++;
    if (violated < one->restriction_count) continue;
    struct value values[MOST];
    struct variant variant;
    assert_true(row < space_valid(space));
    space_variant(space, row, &variant, values);
    for (size_t i = 0; i < one->tunable_count; i++)
      assert_true(value_equal(values[i], slots[made->config.first_tunable + (int)i]));
    if (row % 7 == 0) check_found(space, row, &variant);
    row++;
  }
  assert_int_equal(row, space_valid(space));
  for (size_t i = 0; i < one->restriction_count; i++)
    assert_int_equal(removed_by(space, 0, i), removed[i]);
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

static void add_random_rule(struct made *made, uint64_t *seed) {
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  const char *rule = random_rules[random_next(seed) % (sizeof random_rules / sizeof *random_rules)];
  const char *chosen[3];
  for (int i = 0; i < 3; i++) chosen[i] = names[random_next(seed) % last_of(made)->tunable_count];
  FREED(text) text = {0};
  for (const char *p = rule; *p; p++) {
    if (*p >= 'X' && *p <= 'Z')
      text_add(&text, chosen[*p - 'X']);
    else
      text_add_char(&text, *p);
  }
  add_rule(made, text_get(&text));
}

TEST(test_against_brute_force) {
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  uint64_t seed = 1;
  for (int round = 0; round < 150; round++) {
    CLOSED(made) *made = make();
    add_implementation(made, "random");
    size_t tunables = 1 + random_next(&seed) % 5, rules = random_next(&seed) % 7;
    for (size_t i = 0; i < tunables; i++) /* sometimes more values than a word has bits */
      add_range(made, names[i], 0,
                tunables < 3 && random_next(&seed) % 3 == 0 ? 130 : 1 + random_next(&seed) % 6);
    for (size_t i = 0; i < rules; i++) add_random_rule(made, &seed);
    compare_with_brute_force(made);
  }
}

/* ---- The published spaces ------------------------------------------------------------------- */

static void check_published(const char *name, uint64_t cartesian, uint64_t valid) {
  cugen_error err = {0};
  FREED(text) path = {0}, content = {0};
  CLOSED(config) *config = NULL;
  FREED(problem) problem = {0};
  CLOSED(space) *space = NULL;
  const struct device_facts facts = {0};
  text_addf(&path, "tests/spaces/%s.lua", name);
  int status = file_read(text_get(&path), &content, &err);
  if (!status)
    status = config_parse(text_get(&path), text_get(&content), content.length, &config, &err);
  if (!status) status = problem_set(config, NULL, 0, false, &problem, &err);
  if (!status) status = space_open(config, &problem, &facts, &space, &err);
  if (status) fail_msg("%s", err.message);
  assert_int_equal(space_cartesian(space), cartesian);
  assert_int_equal(space_valid(space), valid);
  uint64_t sum = valid;
  size_t count;
  const struct space_implementation *one = space_implementations(space, &count);
  for (size_t i = 0; i < one->rule_count; i++) sum += one->rules[i].removed;
  assert_int_equal(sum, cartesian);
}

/* Numbers of variants from the Kernel Tuner benchmark hub and arXiv 2509.26253. */
TEST(test_published_spaces) {
  check_published("dedispersion", 22272, 11130);
  check_published("expdist", 9732096, 294000);
  check_published("hotspot", 22200000, 349853);
  check_published("gemm", 663552, 116928);
  check_published("microhh", 1166400, 138600);
  check_published("atf_prl_2x2", 36864, 1200);
  check_published("atf_prl_4x4", 9437184, 10800);
  check_published("atf_prl_8x8", 2415919104, 48720);
  check_published("matmul_h200", 2304, 688);
  check_published("reduce_h200", 720, 690);
}
