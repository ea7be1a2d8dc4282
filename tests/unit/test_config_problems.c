/* Problems: settings, the check problem, and which tuned problem serves another one. */
#include "base/text.h"
#include "configs.h"
#include "tests/testing.h"

static void expect_policy(const char *policy, const char *want) {
  FREED(text) printed = {0};
  CLOSED(config) *c = parse_body(
      formed("problem \"M\" (64), problem \"N\" { 8, 16, 32 }, problem \"dtype\" { \"f32\" }, %s",
             policy));
  policy_print(c, &printed);
  assert_string_equal(text_get(&printed), want);
}

TEST(policies) {
  expect_policy("", "exact");
  expect_policy("policy \"exact\"", "exact");
  expect_policy("policy \"nearest\" { distance = 1 }", "nearest { distance = 1 }");
  expect_policy("policy \"nearest\" { distance = 0.25 }", "nearest { distance = 0.25 }");
  expect_policy("policy \"portfolio\"", "portfolio");
  expect_policy("policy \"portfolio\" { distance = 2 }", "portfolio { distance = 2 }");
  expect_policy("policy \"buckets\" { N = { 8, 32 }, M = { 1 } }",
                "buckets { M = { 1 }, N = { 8, 32 } }");
}

static void expect_bucket(const struct config *c, const char *size, const char *want) {
  const char *settings[] = {size, "dtype=f64"};
  struct problem problem, bucket;
  FREED(text) printed = {0};
  assert_int_equal(problem_set(c, settings, 2, false, &problem, NULL), CUGEN_OK);
  assert_int_equal(problem_bucket(c, &problem, &bucket, NULL), CUGEN_OK);
  problem_free(&problem);
  problem_print(c, &bucket, &printed);
  assert_string_equal(text_get(&printed), want);
  problem_free(&bucket);
}

TEST(sizes_round_up_to_their_bucket) {
  CLOSED(config) *c =
      parse_body("problem \"M\" (64), problem \"K\" (7), problem \"dtype\" { \"f32\", \"f64\" },\n"
                 "policy \"buckets\" { M = { 64, 256, 1024 } },");
  assert_int_equal(c->policy.kind, POLICY_BUCKETS);
  expect_bucket(c, "M=1", "M=64 K=7 dtype=f64");
  expect_bucket(c, "M=64", "M=64 K=7 dtype=f64");
  expect_bucket(c, "M=65", "M=256 K=7 dtype=f64");
  expect_bucket(c, "M=1024", "M=1024 K=7 dtype=f64");
  expect_bucket(c, "M=9223372036854775807", "M=1024 K=7 dtype=f64");
  expect_bucket(c, "M=0", "M=0 K=7 dtype=f64");
  expect_bucket(c, "K=100", "M=64 K=100 dtype=f64");
}

TEST(sets_of_problems) {
  struct config *c = parse_body(
      "problem \"M\" (64), problem \"dtype\" { \"f32\", \"f64\" }, problem \"x\" (0.5),\n"
      "problems { dtype = { \"f64\", \"f32\" }, M = 8 }, problems { x = { 0.25, 1.5 } },");
  assert_int_equal(c->problem_set_count, 2);
  assert_string_equal(c->problem_sets[0], "M=8 dtype=f64,f32");
  assert_string_equal(c->problem_sets[1], "x=0.25,1.5");
  config_close(c);
  expect_body_error("problem \"M\" (64),\nproblems { M = { 8, true } },",
                    "c.lua:3: problems gives problem \"M\" the value true, which is of another "
                    "type than its default");
  expect_body_error(
      "problem \"M\" { 8, 16 },\nproblems { M = 9 },",
      "c.lua:3: problems gives problem \"M\" the value 9, which is not in its list at line 2");
  expect_body_error("problem \"M\" (64),\nproblems { M = {} },",
                    "c.lua:3: problems has an empty list of values");
  expect_body_error("problem \"M\" (64),\nproblems {},",
                    "c.lua:3: problems names no problem: problems { M =");
  expect_body_error("problem \"M\" (64),\nproblems \"M\",",
                    "c.lua:3: problems needs its values in braces");
  expect_body_error("problem \"M\" (64),\nproblems { N = 9 },", "c.lua:3: problems names 'N'");
}

static void expect_policy_error(const char *policy, const char *want) {
  const char *body =
      formed("problem \"M\" (64), problem \"N\" { 8, 16 }, problem \"x\" (0.5),\n%s", policy);
  expect_body_error(body, want);
}

TEST(wrong_policies) {
  expect_policy_error(
      "policy \"nearst\" {}",
      "c.lua:3: policy 'nearst' is none of exact, nearest, buckets, portfolio (nearest 'nearest')");
  expect_policy_error("policy \"exact\" {}",
                      "c.lua:3: policy \"exact\" takes nothing more: policy \"exact\"");
  expect_policy_error("policy \"exact\", policy \"exact\"", "c.lua:3: policy stands here twice");
  expect_policy_error("policy \"nearest\"", "c.lua:3: policy \"nearest\" needs its values in "
                                            "braces: policy \"nearest\" { distance = 1 }");
  expect_policy_error("policy \"portfolio\" { distance = 0 }",
                      "c.lua:3: distance of policy \"portfolio\" is a number above 0");
  expect_policy_error("policy \"portfolio\" { M = 1 }",
                      "c.lua:3: unknown field 'M' of policy \"portfolio\"");
  expect_policy_error("policy \"nearest\" {}",
                      "c.lua:3: policy \"nearest\" has no distance: policy \"nearest\"");
  expect_policy_error(
      "policy \"nearest\" { distanse = 1 }",
      "c.lua:3: unknown field 'distanse' of policy \"nearest\" (nearest 'distance')");
  expect_policy_error(
      "policy \"nearest\" { distance = 0 }",
      "c.lua:3: distance of policy \"nearest\" is a number above 0, the largest |log2| of a ratio");
  expect_policy_error(
      "policy \"nearest\" { distance = 1 / 0 }",
      "c.lua:3: distance of policy \"nearest\" has a value that is no finite number");
  expect_policy_error("policy \"buckets\"",
                      "c.lua:3: policy \"buckets\" needs its values in braces: policy");
  expect_policy_error("policy \"buckets\" {}",
                      "c.lua:3: policy \"buckets\" names no problem: policy \"buckets\" {");
  expect_policy_error(
      "policy \"buckets\" { MM = { 1 } }",
      "c.lua:3: policy names 'MM', which is no problem of this kernel (nearest 'M')");
  expect_policy_error(
      "policy \"buckets\" { x = { 1 } }",
      "c.lua:3: policy names problem \"x\", which is no whole number: only sizes have buckets");
  expect_policy_error(
      "policy \"buckets\" { M = 64 }",
      "c.lua:3: policy's list for problem \"M\" needs its values in braces: { 16, 32 }");
  expect_policy_error("policy \"buckets\" { M = { 4, 8, 7 } }",
                      "c.lua:3: policy gives problem \"M\" the bound 7 after 8: bounds rise");
  expect_policy_error(
      "policy \"buckets\" { M = { 0, 8 } }",
      "c.lua:3: policy gives problem \"M\" the bound 0: bounds are whole numbers from 1 up");
  expect_policy_error(
      "policy \"buckets\" { M = { 1.5 } }",
      "c.lua:3: policy gives problem \"M\" the bound 1.5: bounds are whole numbers from 1 up");
  expect_policy_error(
      "policy \"buckets\" { N = { 8, 12 } }",
      "c.lua:3: policy gives problem \"N\" the bound 12, which is not in its list at line 2");
}

/* ---- Settings ------------------------------------------------------------------------------- */

static struct config *sizes(void) {
  return parse_body("problem \"M\" (64), problem \"alpha\" (0.5), problem \"fast\" (true), problem "
                    "\"mode\" (\"plain\"),\n"
                    "problem \"dtype\" { \"f32\", \"f64\" }, problem \"width\" { 1, 2 },\n"
                    "check { M = 3, dtype = \"f64\" },");
}

static void expect_problem(const struct config *config, const char *const *settings, size_t count,
                           bool check, const char *want) {
  FREED(problem) problem;
  FREED(text) text = {0};
  WORKS(problem_set(config, settings, count, check, &problem, &err));
  problem_print(config, &problem, &text);
  assert_string_equal(text_get(&text), want);
}

TEST(problems_are_set) {
  CLOSED(config) *c = sizes();
  expect_problem(c, NULL, 0, false, "M=64 alpha=0.5 fast=true mode=plain dtype=f32 width=1");
  expect_problem(c, NULL, 0, true, "M=3 alpha=0.5 fast=true mode=plain dtype=f64 width=1");
  static const char *const all[] = {"M=-0x10",    "alpha=1e-3", "fast=false",
                                    "mode=other", "dtype=f64",  "width=2"};
  expect_problem(c, all, 6, false, "M=-16 alpha=0.001 fast=false mode=other dtype=f64 width=2");
  static const char *const twice[] = {"M=1", "M=2", "alpha=3"};
  expect_problem(c, twice, 3, true, "M=2 alpha=3.0 fast=true mode=plain dtype=f64 width=1");
}

TEST(the_check_problem_keeps_what_it_does_not_name) {
  CLOSED(config) *c = sizes();
  struct problem base, check;
  static const char *const settings[] = {"M=100", "mode=other", "width=2"};
  FREED(text) text = {0};
  assert_int_equal(problem_set(c, settings, 3, false, &base, NULL), CUGEN_OK);
  assert_int_equal(problem_check(c, &base, &check, NULL), CUGEN_OK);
  problem_free(&base);
  problem_print(c, &check, &text);
  assert_string_equal(text_get(&text), "M=3 alpha=0.5 fast=true mode=other dtype=f64 width=2");
  problem_free(&check);
}

TEST(wrong_settings) {
  static const struct {
    const char *setting, *want;
  } cases[] = {
      {"M", "setting 'M' is not of the form name=value"},
      {"=3", "setting '=3' is not of the form name=value"},
      {"M=", "setting 'M=': a whole number was expected (c.lua:2)"},
      {"M=1e3", "setting 'M=1e3': a whole number was expected (c.lua:2)"},
      {"M=1.5", "setting 'M=1.5': a whole number was expected"},
      {"M= 5", "setting 'M= 5': a whole number was expected"},
      {"M=99999999999999999999",
       "setting 'M=99999999999999999999': this number does not fit into 64 bits"},
      {"alpha=x", "setting 'alpha=x': a number was expected"},
      {"alpha=M", "setting 'alpha=M': a number was expected"},
      {"fast=1", "setting 'fast=1': true or false was expected"},
      {"mode=a b", "setting 'mode=a b': a word was expected"},
      {"dtype=f23", "setting 'dtype=f23': dtype is one of f32, f64; nearest 'f32' (c.lua:3)"},
      {"width=3", "setting 'width=3': width is one of 1, 2 (c.lua:3)"},
      {"width=x", "setting 'width=x': width is one of 1, 2 (c.lua:3)"},
      {"dtipe=f32",
       "setting 'dtipe=f32': kernel \"k\" has no problem 'dtipe' (nearest 'dtype', c.lua:3)"},
      {"something=1", "setting 'something=1': kernel \"k\" has no problem 'something'; it has M, "
                      "alpha, fast, mode, dtype, "
                      "width"},
  };
  CLOSED(config) *c = sizes();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct problem problem;
    cugen_error err;
    assert_int_equal(problem_set(c, &cases[i].setting, 1, false, &problem, &err),
                     CUGEN_ERROR_USAGE);
    if (strncmp(err.message, cases[i].want, strlen(cases[i].want)) != 0)
      fail_msg("got: %s\nwant: %s", err.message, cases[i].want);
    assert_null(problem.values);
  }
}

TEST(wrong_settings_are_told_together) {
  const char *const settings[] = {"dtipe=f32", "M=8", "M=1.5"};
  CLOSED(config) *c = sizes();
  struct problem problem;
  FAILS(problem_set(c, settings, 3, false, &problem, &err), CUGEN_ERROR_USAGE,
        "has no problem 'dtipe'", "\nsetting 'M=1.5': a whole number was expected");
  assert_int_equal(problem_set(c, settings, 3, false, &problem, NULL), CUGEN_ERROR_USAGE);
}
