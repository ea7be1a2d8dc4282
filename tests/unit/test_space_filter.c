/* What leaves a part of a space out although no restriction of the config does: limits of a
   launch, filters, heuristics. */
#include "spaces.h"
#include "tests/testing.h"

static const struct device_facts facts = {.is_gpu = 1,
                                          .compute_capability = 90,
                                          .warp_size = 32,
                                          .max_threads_per_block = 512,
                                          .shared_per_block_optin = 50000,
                                          .pitch_alignment = 512};

/* implementations: begin on line 3. Returns the status of opening. */
static int open_space(struct spaced *s, const char *implementations, const cugen_filter *filter) {
  FREED(text) text = {0};
  text_addf(
      &text,
      "kernel \"k\" { problem \"n\" (1000), output \"out\" { dtype = \"f32\", shape = { 8 } },\n"
      "reference \"none\",\n%s}\n",
      implementations);
  return spaced_open(s, text_get(&text), &facts, filter);
}

/* What the rules removed adds up to what is not valid, and each rule is as expected. */
static void expect_rules(const struct spaced *f, const char *want) {
  FREED(text) got = {0};
  size_t count;
  const struct space_implementation *all = space_implementations(f->space, &count);
  for (size_t i = 0; i < count; i++) {
    uint64_t sum = all[i].valid;
    for (size_t r = 0; r < all[i].rule_count; r++) {
      sum += all[i].rules[r].removed;
      if (!all[i].rules[r].removed) continue;
      space_rule_print(&all[i].rules[r], &got);
      text_addf(&got, " %d\n", (int)all[i].rules[r].removed);
    }
    assert_int_equal(sum, all[i].cartesian);
  }
  assert_string_equal(text_get(&got), want);
}

static void check_limits(const char *launch, uint64_t valid, const char *rules) {
  FREED(spaced) f;
  if (open_space(&f,
                 formed("implementation \"i\" { template \"t.cu\", tunable \"a\" { 1, 2, 3, 4 }, "
                        "tunable \"b\" "
                        "{ 1, 64 },\n%s }",
                        launch),
                 NULL))
    fail_msg("%s", f.err.message);
  expect_rules(&f, rules);
  assert_int_equal(space_valid(f.space), valid);
}

TEST(test_limits) {
  check_limits("grid { 1 }, block { 'a * 256' }", 4,
               "k.lua:4: block: at most 512 threads (device.max_threads_per_block) 4\n");
  check_limits("grid { 1 }, block { 'a', 'b', 'b' }", 4,
               "k.lua:4: block: at most 512 threads (device.max_threads_per_block) 4\n");
  check_limits("grid { 1 }, block { 1, 1, 'b + 1' }", 4, "k.lua:4: block z: 1 to 64 4\n");
  check_limits("grid { 'a - 2', 'b * 1024' }, block { 32 }", 2,
               "k.lua:4: grid x: 1 to 2147483647 4\nk.lua:4: grid y: 1 to 65535 2\n");
  /* A launch that a variant does not make has no limits. */
  check_limits("launch { grid { 1 }, block { 32 } },\n"
               "launch { steps 'a - 1', grid { 1 }, block { 'a == 1 and 4096 or a * 256' } }",
               4, "k.lua:5: block: at most 512 threads (device.max_threads_per_block) 4\n");
  check_limits("steps 'b * 16384 + 1', grid { 1 }, block { 32 }", 4,
               "k.lua:4: steps: 0 to 1048576 4\n");
  check_limits("grid { 1, 1, 66000 }, block { 32 }", 0, "k.lua:4: grid z: 1 to 65535 8\n");
  check_limits("grid { 1 }, block { 32 }, shared 'b * 1000'", 4,
               "k.lua:4: shared: at most 50000 bytes (device.shared_per_block_optin) 4\n");
  check_limits("grid { 1 }, block { 32 }, shared 'a - 2'", 6,
               "k.lua:4: shared: at most 50000 bytes (device.shared_per_block_optin) 2\n");
  check_limits(
      "launch { grid { 1 }, block { 'a * 64' } },\nlaunch { grid { 1 }, block { 'a * 256' } }", 4,
      "k.lua:5: block: at most 512 threads (device.max_threads_per_block) 4\n");
  /* Each step has its limits; all steps together are at most as many as a plan takes. */
  check_limits("steps 'a', grid { 1, '65534 + step' }, block { 32 }", 4,
               "k.lua:4: grid y in step 2: 1 to 65535 4\n");
  check_limits("steps '3', grid { 1, 'b == 64 and step == 1 and 70000 or 1', '65533 + step * a' }, "
               "block { 32 }",
               1,
               "k.lua:4: grid y in step 1: 1 to 65535 1\nk.lua:4: grid z in step 1: 1 to 65535 4\n"
               "k.lua:4: grid z in step 2: 1 to 65535 2\n");
  check_limits("steps '2', grid { 'step == 1 and 2147483648 or a' }, block { 'a * pow(20, step)' }",
               0, "k.lua:4: grid x in step 1: 1 to 2147483647 8\n");
  check_limits("steps 'b', grid { 1 }, block { 1, 1, 'step + a' }", 5,
               "k.lua:4: block z in step 61: 1 to 64 1\nk.lua:4: block z in step 62: 1 to 64 1\n"
               "k.lua:4: block z in step 63: 1 to 64 1\n");
  check_limits(
      "steps 'a', grid { 1 }, block { '256 * (step + 1)' }, shared '20000 * (steps - step)'", 4,
      "k.lua:4: shared in step 0: at most 50000 bytes (device.shared_per_block_optin) 4\n");
  check_limits("steps 'a', grid { 1 }, block { 32 }, shared '20000 * steps'", 4,
               "k.lua:4: shared: at most 50000 bytes (device.shared_per_block_optin) 4\n");
  check_limits("launch { steps 'a - 1', grid { 1 }, block { 32 } },\nlaunch { steps 'b - 1', grid "
               "{ 1 }, block { 32 } }",
               7, "k.lua:4: launches: 1 to 1048576 in all 1\n");
  check_limits("launch { grid { 1 }, block { 32 } },\nlaunch { steps 'b * 16384', grid { 1 }, "
               "block { 32 } }",
               4, "k.lua:4: launches: 1 to 1048576 in all 4\n");
  /* A limit that the config states itself is reported as the config's. */
  check_limits("where 'a < 3', grid { 1 }, block { 'a * 256' }", 4, "k.lua:4: where \"a < 3\" 4\n");
  /* A combination that cannot be evaluated is not removed; its expansion reports why. */
  check_limits("grid { 'n / (3 * a)' }, block { 32 }", 8, "");
  check_limits("grid { 1 }, block { 'a * 4000000000', '4000000000', 64 }", 0,
               "k.lua:4: block y: 1 to 1024 8\n");
}

TEST(test_limits_of_the_unknown) {
  FREED(spaced) f;
  struct device_facts none = {0};
  assert_int_equal(
      open_space(
          &f,
          "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32, 4 }, shared '60000' }",
          NULL),
      CUGEN_OK);
  assert_int_equal(space_valid(f.space), 0);
  space_close(f.space);
  assert_int_equal(space_open(f.config, &f.problem, &none, &f.space, &f.err), CUGEN_OK);
  assert_int_equal(space_valid(f.space), 1);
}

TEST(test_refused_by_a_limit) {
  FREED(spaced) f;
  uint64_t index;
  open_space(&f,
             "implementation \"i\" { template \"t.cu\", tunable \"a\" { 1, 2, 3, 4 }, grid { 1 }, "
             "block { 'a * 256' } }",
             NULL);
  assert_int_equal(space_find(f.space, "i a=3", &index, &f.err), CUGEN_ERROR_USAGE);
  assert_string_equal(f.err.message,
                      "\"i a=3\" is ruled out by k.lua:3: block: at most 512 threads "
                      "(device.max_threads_per_block), here 768");
}

/* Billions of combinations, of which a limit leaves a few: the limit is tried as soon as its
   names have values. */
TEST(test_limits_are_early) {
  FREED(spaced) f;
  FREED(text) text = {0};
  text_add(&text, "implementation \"i\" { template \"t.cu\", tunable \"across\" { 512, 1024, 2048, "
                  "4096 }, tunable \"down\" "
                  "{ 1, 2, 4, 8 },");
  for (int i = 0; i < 6; i++) text_addf(&text, "tunable \"t%d\" { 1, 2, 3, 4, 5, 6, 7, 8 },", i);
  text_add(&text,
           "where 't0 + t1 + t2 + t3 + t4 + t5 == 6', grid { 1 }, block { 'across', 'down' } }");
  assert_int_equal(open_space(&f, text_get(&text), NULL), CUGEN_OK);
  assert_int_equal(space_valid(f.space), 1);
  assert_int_equal(space_cartesian(f.space), 16 * 262144);
  size_t count;
  const struct space_implementation *one = space_implementations(f.space, &count);
  assert_int_equal(one->rules[1].removed, 7 * 262144);
}

/* ---- Filters -------------------------------------------------------------------------------- */

static const char two[] =
    "implementation \"plain\" { template \"t.cu\", tunable \"tile\" { 8, 16 }, grid { 1 }, block { "
    "32 } },\n"
    "implementation \"tiled\" { template \"t.cu\", tunable \"tile\" { 8, 16, 32 }, tunable \"vec\" "
    "{ 1, 2 },\n"
    "  tunable \"order\" { 'row', 'col' }, derive \"area\" \"tile * vec\", where \"area < 64\",\n"
    "  grid { 1 }, block { 32 } }";

static void check_filter(cugen_filter filter, const char *where, uint64_t valid,
                         const char *rules) {
  FREED(spaced) f;
  filter.where = &where;
  filter.where_count = where != NULL;
  if (open_space(&f, two, &filter)) fail_msg("%s", f.err.message);
  assert_int_equal(space_valid(f.space), valid);
  assert_int_equal(space_cartesian(f.space), 14);
  expect_rules(&f, rules);
}

#define AREA "k.lua:5: where \"area < 64\" 2\n"

TEST(test_filters) {
  check_filter((cugen_filter){0}, NULL, 12, AREA);
  check_filter((cugen_filter){0}, "tile >= 16 and n == 1000", 7,
               "--where \"tile >= 16 and n == 1000\" 1\n" AREA
               "--where \"tile >= 16 and n == 1000\" 4\n");
  /* An implementation without such a name has no such variant; a derived name counts as a name. */
  check_filter((cugen_filter){0}, "area == 32", 4,
               "--where \"area == 32\" 2\n" AREA "--where \"area == 32\" 6\n");
  check_filter((cugen_filter){.implementation = "tiled"}, NULL, 10,
               "--implementation \"tiled\" 2\n" AREA);
  check_filter((cugen_filter){.implementation = "tiled,plain"}, NULL, 12, AREA);
  check_filter((cugen_filter){.implementation = "*l*n"}, NULL, 2, "--implementation \"*l*n\" 12\n");
  check_filter((cugen_filter){.variant = "tile=8"}, NULL, 5,
               "--variant \"tile=8\" 1\n--variant \"tile=8\" 8\n");
  check_filter((cugen_filter){.variant = " t*  vec=* tile=*6 "}, NULL, 4,
               "--variant \" t*  vec=* tile=*6 \" 2\n--variant \" t*  vec=* "
               "tile=*6 \" 8\n");
  check_filter((cugen_filter){.variant = "order=col vec=2"}, NULL, 2,
               "--variant \"order=col vec=2\" 2\n" AREA "--variant \"order=col vec=2\" 2\n"
               "--variant \"order=col vec=2\" 6\n");
}

static void check_refused(cugen_filter filter, const char *where, const char *message) {
  FREED(spaced) f;
  filter.where = &where;
  filter.where_count = where != NULL;
  assert_int_equal(open_space(&f, two, &filter), CUGEN_ERROR_USAGE);
  assert_int_equal(f.err.status, CUGEN_ERROR_USAGE);
  assert_null(f.space);
  assert_string_equal(f.err.message, message);
}

/* One filter applies to all implementations, so a value that another implementation's tunable of
   this name has is no mistake. */
TEST(test_words_of_others) {
  static const char modes[] = "implementation \"a\" { template \"t\", tunable \"mode\" { \"fast\", "
                              "\"slow\" }, grid { 1 }, block { 1 } },\n"
                              "implementation \"b\" { template \"t\", tunable \"mode\" { \"odd\", "
                              "\"slow\" }, grid { 1 }, block { 1 } },\n";
  const char *wheres[] = {"mode == 'odd'", "mode == 'oddd'", "n == 'odd'"};
  struct spaced f;
  for (int i = 0; i < 3; i++) {
    const int status =
        open_space(&f, modes, &(cugen_filter){.where = &wheres[i], .where_count = 1});
    assert_int_equal(status, i ? CUGEN_ERROR_USAGE : CUGEN_OK);
    if (i == 1)
      assert_non_null(
          strstr(f.err.message, "mode is never \"oddd\", but \"fast\", \"slow\", \"odd\""));
    if (i == 2) assert_non_null(strstr(f.err.message, "n is a number, the right side is a word"));
    spaced_free(&f);
  }
}

TEST(test_wrong_filters) {
  check_refused((cugen_filter){0}, "tiel > 8",
                "--where: unknown name \"tiel\"; did you mean \"tile\"?, at column 1 of "
                "\"tiel > 8\"");
  check_refused((cugen_filter){0}, "tile >",
                "--where: expected a value, found the end, at column 7 of \"tile >\"");
  check_refused((cugen_filter){0}, "tile",
                "--where: \"tile\" gives 8, but true or false is needed: compare it with "
                "something (plain tile=8)");
  check_refused((cugen_filter){0}, "n % (tile - 8) == 0",
                "--where: in \"n % (tile - 8) == 0\": n % (tile - 8) is 1000 % 0, which "
                "divides by zero "
                "(plain tile=8)");
  check_refused(
      (cugen_filter){.implementation = "tield"}, NULL,
      "no implementation is called 'tield'; did you mean \"tiled\"?; there are: plain tiled");
  check_refused((cugen_filter){.implementation = "tiled,"}, NULL,
                "no implementation is called ''; there are: plain tiled");
  check_refused((cugen_filter){.variant = "plain vec=1"}, NULL,
                "--variant \"plain vec=1\": unknown tunable \"vec\"; there is: tile");
  check_refused((cugen_filter){.variant = "plain tile=32"}, NULL,
                "--variant \"plain tile=32\": tile has no value \"32\"; there are: 8 16");
}

TEST(test_emptied) {
  FREED(spaced) f;
  const char *where = "tile > 16 and vec == 2";
  const cugen_filter filter = {.where = &where, .where_count = 1};
  assert_int_equal(open_space(&f, two, &filter), CUGEN_OK);
  assert_int_equal(space_valid(f.space), 0);
  space_explain_empty(f.space, &f.err);
  assert_string_equal(f.err.message,
                      "k.lua: no variant is left for this problem on this device within "
                      "--where \"tile > 16 and vec == 2\"\n"
                      "  plain: none of 2 combinations is within that\n"
                      "  tiled: of 12 combinations\n"
                      "    k.lua:5: where \"area < 64\" rules out 2\n"
                      "    --where \"tile > 16 and vec == 2\" rules out 10");
}

/* ---- Heuristics ----------------------------------------------------------------------------- */

static const char measured[] =
    "implementation \"plain\" { template \"t.cu\", tunable \"tile\" { 8, 16 }, grid { 1 }, block { "
    "32 } },\n"
    "implementation \"tiled\" { template \"t.cu\", tunable \"tile\" { 8, 16, 32 }, tunable \"vec\" "
    "{ 1, 2, 4 },\n"
    "where \"tile * vec <= 64\",\n"
    "heuristic \"sm_90\" \"tile >= low\",\n"
    "heuristic \"sm_80\" \"vec == 1\", derive \"low\" \"16\",\n"
    "heuristic \"sm_90a\" \"vec <= 2\", try { tile = 8 }, grid { 1 }, block { 32 } }";

static uint64_t valid_on(int64_t is_gpu, int64_t capability) {
  FREED(spaced) f;
  struct device_facts other = facts;
  open_space(&f, measured, NULL);
  space_close(f.space);
  other.is_gpu = is_gpu;
  other.compute_capability = capability;
  assert_int_equal(space_open(f.config, &f.problem, &other, &f.space, &f.err), CUGEN_OK);
  uint64_t valid = space_valid(f.space);
  return valid;
}

/* All heuristics hold on the architectures on which they were measured, and on the cpu device;
   they do not hold on other GPUs, nor with `all`. */
TEST(test_heuristics) {
  const cugen_filter all = {.all = true};
  struct spaced f;
  assert_int_equal(open_space(&f, measured, NULL), CUGEN_OK);
  expect_rules(&f, "k.lua:5: where \"tile * vec <= 64\" 1\n"
                   "k.lua:6: heuristic \"tile >= low\" 3\n"
                   "k.lua:8: heuristic \"vec <= 2\" 1\n");
  assert_int_equal(space_valid(f.space), 2 + 4);
  spaced_free(&f);
  assert_int_equal(open_space(&f, measured, &all), CUGEN_OK);
  expect_rules(&f, "k.lua:5: where \"tile * vec <= 64\" 1\n");
  assert_int_equal(space_valid(f.space), 2 + 8);
  spaced_free(&f);
  assert_int_equal(valid_on(1, 90), 2 + 4);
  assert_int_equal(valid_on(1, 80), 2 + 3);
  assert_int_equal(valid_on(1, 89), 2 + 8);
  assert_int_equal(valid_on(0, 80), 2 + 2);
}

static void expect_found(const struct spaced *f, const char *text, const char *variant,
                         bool searched) {
  struct value values[2];
  struct variant found;
  FREED(text) name = {0};
  uint64_t index, other;
  WORKS(space_find(f->space, text, &index, &err));
  assert_int_equal(index < space_valid(f->space), searched);
  assert_int_equal(space_look_up(f->space, text, &other), searched);
  space_variant(f->space, index, &found, values);
  variant_print(&found, &name);
  assert_string_equal(text_get(&name), variant);
}

/* A heuristic forbids nothing: a variant that is named is found, behind all variants that are
   searched. */
TEST(test_heuristics_are_no_bans) {
  FREED(spaced) f;
  uint64_t index;
  open_space(&f, measured, NULL);
  expect_found(&f, "tiled vec=2", "tiled tile=16 vec=2", true);
  expect_found(&f, "tiled tile=8", "tiled tile=8 vec=1", false);
  expect_found(&f, "tiled tile=8 vec=4", "tiled tile=8 vec=4", false);
  expect_found(&f, "tiled vec=4", "tiled tile=8 vec=4", false);
  assert_int_equal(space_find(f.space, "tiled tile=32 vec=4", &index, &f.err), CUGEN_ERROR_USAGE);
  assert_string_equal(
      f.err.message, "\"tiled tile=32 vec=4\" is ruled out by k.lua:5: where \"tile * vec <= 64\"");
  assert_false(space_try(f.space, 0, &index));
}

TEST(test_heuristics_that_leave_nothing) {
  const cugen_filter filter = {.variant = "tiled tile=8"};
  FREED(spaced) f;
  assert_int_equal(open_space(&f, measured, &filter), CUGEN_OK);
  assert_int_equal(space_explain_empty(f.space, &f.err), CUGEN_ERROR_EMPTY);
  assert_non_null(strstr(f.err.message, "\n    k.lua:6: heuristic \"tile >= low\" rules out 3"));
  assert_non_null(strstr(f.err.message, "\n--all takes what heuristics leave out"));
}

/* If nobody asked for a part of the space and heuristics would leave nothing, the whole space is
   searched. */
TEST(test_heuristics_never_leave_nothing) {
  static const char body[] = "implementation \"tiled\" { template \"t.cu\", tunable \"tile\" { 8, "
                             "16, 32 }, where \"tile > 8\",\n"
                             "heuristic \"sm_90\" \"tile > 99\", grid { 1 }, block { 32 } }";
  FREED(spaced) f;
  assert_int_equal(open_space(&f, body, NULL), CUGEN_OK);
  assert_int_equal(space_valid(f.space), 2);
}

static void check_no_architecture(const char *name) {
  struct config *config;
  FREED(text) text = {0};
  cugen_error err;
  text_addf(
      &text,
      "kernel \"k\" { output \"out\" { dtype = \"f32\", shape = { 8 } }, reference \"none\",\n"
      "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 1 },\nheuristic \"%s\" \"1 == "
      "1\" } }",
      name);
  assert_int_equal(config_parse("k.lua", text_get(&text), text.length, &config, &err),
                   CUGEN_ERROR_CONFIG);
  text_restart(&text);
  text_addf(&text,
            "k.lua:3: heuristic: '%s' is no architecture; it is written: heuristic \"sm_90\" "
            "\"tile >= 32\"",
            name);
  assert_string_equal(err.message, text_get(&text));
}

TEST(test_heuristics_name_an_architecture) {
  check_no_architecture("H200");
  check_no_architecture("sm_");
  check_no_architecture("sm_9");
  check_no_architecture("sm_9x");
  check_no_architecture("sm_90ab");
  check_no_architecture("");
}
