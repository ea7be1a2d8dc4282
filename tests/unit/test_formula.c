/* Formulas: their syntax and refusals in a config, and the C++ text that templates get. */
#include "base/system.h"
#include "gen/config/evaluate.h"
#include "gen/config/formula_print.h"
#include "gen/template/expand.h"
#include "tests/testing.h"

/* ---- Helpers -------------------------------------------------------------------------------- */

/* A config with arguments of each kind; the formula is on line 7. */
static char *config_with(const char *formula) {
  struct text text = {0};
  text_addf(
      &text,
      "kernel \"k\" {\n"
      "problem \"N\" (64), problem \"op\" { \"sum\", \"least\", \"other\" }, problem \"flag\" { "
      "true, false },\n"
      "tunable \"tile\" { 8, 16 }, derive \"middle\" \"N // 2\",\n"
      "input \"bias\" { dtype = \"f16\", shape = { \"N\" } },\n"
      "input \"D\" { dtype = \"f32\", shape = { \"N\", \"N\" } }, output \"C\" { dtype = \"f32\", "
      "shape = { 8 } },\n"
      "scalar \"alpha\" { dtype = \"f32\", value = 0.5 }, scalar \"N\" {}, reference \"none\",\n"
      "%s,\n"
      "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } } }\n",
      formula);
  char *result = text_take(&text);
  assert_non_null(result);
  return result;
}

static int parse(const char *formula, struct config **out, cugen_error *err) {
  char *text = config_with(formula);
  int status = config_parse("c.lua", text, strlen(text), out, err);
  free(text);
  return status;
}

static void expect_error(const char *formula, const char *want) {
  struct config *config;
  cugen_error err;
  if (parse(formula, &config, &err) == CUGEN_OK) fail_msg("no error: %s", formula);
  assert_int_equal(err.status, CUGEN_ERROR_CONFIG);
  if (strncmp(err.message, want, strlen(want)) != 0)
    fail_msg("%.200s\n got: %s\nwant: %s", formula, err.message, want);
}

/* Returns the text between "return" and ";" of a call with as many of the arguments "x", "y",
   "i", "j" as the formula has. N, op and flag have the given values; N is known only at launch
   if it is 0. */
static char *print(const char *formula, int64_t n, const char *op, bool flag, bool whole) {
  struct config *config;
  struct text text = {0};
  static const char *const arguments[] = {"x", "y", "i", "j"};
  WORKS(parse(formula, &config, &err));
  size_t count = config_slot_count(config, NULL), first = (size_t)config->first_problem;
  struct value *slots = calloc(count, sizeof *slots);
  bool *known = calloc(count, sizeof *known);
  assert_true(slots && known);
  slots[first] = value_int(n);
  slots[first + 1] = value_string(op);
  slots[first + 2] = value_bool(flag);
  slots[first + 3] = value_int(16);
  for (size_t i = 0; i < count; i++) known[i] = i != first || n;
  WORKS(formula_print(config, &config->formulas[0], slots, known, count, arguments, &text, &err));
  config_close(config);
  free(slots);
  free(known);
  char *all = text_take(&text), *from = strstr(all, "return "), *to = strstr(all, "; }((x)");
  assert_true(from && to);
  if (whole) return all;
  *to = '\0';
  memmove(all, from + 7, strlen(from + 7) + 1);
  return all;
}

static void expect_body(const char *body, int64_t n, const char *op, const char *want) {
  char *got = print(formed("formula \"f(a, b)\" \"%s\"", body), n, op, true, false);
  if (strcmp(got, want) != 0) fail_msg("%s\n got: %s\nwant: %s", body, got, want);
  free(got);
}

/* ---- What comes out ------------------------------------------------------------------------- */

#define GELU(of_float)                                                                             \
  "([](auto __x) { if constexpr (sizeof(__x) == 4) { " of_float                                    \
  " } else { return [](auto __v) __attribute__((noinline)) { return __v / (1 + exp(__v * "         \
  "(-1.5957691216057308 - "                                                                        \
  "0.07135481627260025 * __v * __v))); }(__x); } }(__v_a))"
#define LEAST(a, b)                                                                                \
  "([](auto __x, auto __y) { return __x < __y || __x != __x ? __x : __y; }(" a ", " b "))"

TEST(test_bodies) {
  expect_body("a + b", 64, "sum", "__v_a + __v_b");
  /* Literals have the type of the first argument; a division may be exact or not. */
  expect_body("a * 0.5 + 2", 64, "sum", "(__v_a * __t(0.5)) + __t(2LL)");
  expect_body("a * (1 / 3)", 64, "sum", "__v_a * (__t(1LL) / __t(3LL))");
  expect_body("a / b - -1", 64, "sum", "(__v_a / __v_b) - __t(-1LL)");
  expect_body("exp(1) + tanh(a) + erf(b) + log(a)", 64, "sum",
              "((__t(2.718281828459045) + (tanh(__v_a))) + (erf(__v_b))) + (log(__v_a))");
  expect_body("min(a, b)", 64, "sum", LEAST("__v_a", "__v_b"));
  expect_body("gelu(a)", 64, "sum",
              GELU("const auto __y = __x * (-1.5957691f - 0.07135482f * __x * __x); return "
                   "decltype(__x)(__fdividef(__x, 1 + __expf(__y)));"));
  expect_body(
      "fast_gelu(a)", 64, "sum",
      GELU("const auto __y = __x * (0.7978846f + 0.03567741f * __x * __x), __h = __x / 2; return "
           "decltype(__x)(__h * __tanhf(__y) + __h);"));
  expect_body("a > b and a or b", 64, "sum", "(__v_a > __v_b) ? __v_a : __v_b");
  expect_body("not (a > b) and a <= 3 and a or b", 64, "sum",
              "((!(__v_a > __v_b)) && (__v_a <= __t(3LL))) ? __v_a : __v_b");
  /* Known sizes are inserted as numbers, others as parameters of the kernel. */
  expect_body("select(a > b, a, b)", 64, "sum", "(__v_a > __v_b) ? __v_a : __v_b");
  expect_body("select(op == 'sum', a + b, op == 'least', min(a, b), a)", 64, "sum",
              "__v_a + __v_b");
  expect_body("select(op == 'sum', a + b, op == 'least', min(a, b), a)", 64, "other", "__v_a");
  expect_body("a / N", 64, "sum", "__v_a / __t(64LL)");
  expect_body("a / N", 0, "sum", "__v_a / __t(N)");
  expect_body("a * alpha * middle * tile", 64, "sum",
              "((__v_a * __t(alpha)) * __t(32LL)) * __t(16LL)");
  expect_body("flag and a or b", 64, "sum", "__v_a");
}

/* There is one body for each value of a problem. */
TEST(test_choice) {
  static const char body[] = "op == 'sum' and a + b or op == 'least' and min(a, b) or a";
  expect_body(body, 64, "sum", "__v_a + __v_b");
  expect_body(body, 64, "least", LEAST("__v_a", "__v_b"));
  expect_body(body, 64, "other", "__v_a");
}

TEST(test_calls) {
  static const struct {
    const char *formula, *want;
  } cases[] = {
      {"formula \"f(a, b)\" \"a - b\"", "([&](auto __v_a, decltype(__v_a) __v_b) -> "
                                        "decltype(__v_a) { return __v_a - __v_b; }((x), (y)))"},
      {"formula \" f ( acc , n ) \" \"relu(alpha * acc + bias[n])\"",
       "([&](auto __v_acc, auto __v_n) -> decltype(__v_acc) { using __t = decltype(__v_acc); "
       "return ([](auto __x) { "
       "return "
       "__x < 0 ? decltype(__x)(0) : __x; }((__t(alpha) * __v_acc) + __t(bias[__v_n]))); }((x), "
       "(y)))"},
      /* a text in brackets of a body that is never written is not an index */
      {"formula \"f(acc, n)\" \"op ~= 'sum' and acc + bias[n] or acc\"",
       "([&](auto __v_acc, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((x), "
       "(y)))"},
      {"formula \"f(acc, s, m, n)\" \"acc + D[m, n] * n + s\"",
       "([&](auto __v_acc, decltype(__v_acc) __v_s, auto __v_m, auto __v_n) -> decltype(__v_acc) { "
       "using __t = "
       "decltype(__v_acc); return (__v_acc + (__t(D[__v_m * D_stride0 + __v_n * D_stride1]) * "
       "__t(__v_n))) + __v_s; "
       "}((x), "
       "(y), (i), (j)))"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *got = print(cases[i].formula, 64, "sum", true, true);
    assert_string_equal(got, cases[i].want);
    free(got);
  }
}

/* ---- What is refused ------------------------------------------------------------------------ */

TEST(test_heads) {
  static const struct {
    const char *formula, *want;
  } cases[] = {
      {"formula \"f\" \"1\"",
       "c.lua:7: formula \"f\" has no parameters: formula \"combine(a, b)\" \"a + b\""},
      {"formula \"f()\" \"1\"", "c.lua:7: ')' is no formula's name and parameters: "},
      {"formula \"\" \"1\"", "c.lua:7: '' is no formula's name and parameters: "},
      {"formula \"f(a\" \"a\"", "c.lua:7: the parameters of formula \"f\" end with a \")\": "},
      {"formula \"f(a) b\" \"a\"", "c.lua:7: the parameters of formula \"f\" end with a \")\": "},
      {"formula \"f(a,)\" \"a\"", "c.lua:7: ')' is no formula's name and parameters: "},
      {"formula \"f(a, a)\" \"a\"", "c.lua:7: formula \"f\" has the parameter 'a' twice"},
      {"formula \"f(N)\" \"N\"",
       "c.lua:7: parameter 'N' of formula \"f\": the name is taken at line 2"},
      {"formula \"alpha(a)\" \"a\"",
       "c.lua:7: the name 'alpha' is taken by the argument at line 6"},
      {"formula \"f(a)\" \"a\", formula \"f(b)\" \"b\"",
       "c.lua:7: the name 'f' is taken by the formula at line 7"},
      {"formula \"min(a)\" \"a\"", "c.lua:7: 'min' cannot be a name: "},
      {"formula \"f(a,b,c,d,e,g,h,i,j,k,l,m,n,o,p,q,r)\" \"a\"",
       "c.lua:7: formula \"f\" has more than 16 parameters"},
      {"formula \"f(a)\" (3)", "c.lua:7: formula \"f\" must be a string in quotes, not number"},
      {"formula \"f(a)\"", "c.lua:7: formula has a name but no value: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_error(cases[i].formula, cases[i].want);
}

static void expect_body_error(const char *body, const char *want) {
  const char *formula = formed("formula \"f(a, n)\" \"%s\"", body);
  expect_error(formula, formed("c.lua:7: formula \"f\": %s", want));
}

TEST(test_bad_bodies) {
  expect_body_error("a + bb", "unknown name \"bb\"");
  expect_body_error("a * alhpa", "unknown name \"alhpa\"; did you mean \"alpha\"?, at column 5 of");
  expect_body_error("rulu(a)", "unknown function \"rulu\"; did you mean \"relu\"?, at column 1 of");
  expect_body_error("exp(a, n)", "exp needs 1 argument, at column 1 of");
  expect_body_error("min(a)", "min needs at least 2 arguments, at column 1 of");
  expect_body_error("a + bias", "a buffer stands with its indices: name[i], at column 5 of");
  expect_body_error("a + bias[n, n]", "\"bias\" has 1 dimension, not 2, at column 5 of");
  expect_body_error("a + D[n]", "\"D\" has 2 dimensions, not 1, at column 5 of");
  expect_body_error(
      "a + bais[n]",
      "\"bais\" is no input or constant buffer; did you mean \"bias\"?, at column 5 of");
  expect_body_error("a + C[n]", "\"C\" is no input or constant buffer");
  expect_body_error("a + bias[N]",
                    "\"N\" is no parameter of the formula, and only these can be indices");
  expect_body_error(
      "a + bias[a]",
      "\"a\", the first parameter, gives the formula its type and cannot be an index");
  expect_body_error("a + bias[n + 1]", "expected \",\" or \"]\", found \"+\", at column 12 of");
  expect_body_error("a + bias[]", "expected the name of a parameter, found \"]\", at column 10 of");
  expect_body_error("a + bias[n", "expected \",\" or \"]\", found the end");
  expect_body_error("a > n", "\"a > n\" cannot be written as C: it is a condition, not a number");
  expect_body_error("a and n + 'x'",
                    "\"a and n + 'x'\" cannot be written as C: strings have no place in it");
  expect_body_error(
      "a // 2",
      "\"a // 2\" cannot be written as C: this operation works on whole numbers known before");
  expect_body_error("a +", "expected a value, found the end");
  expect_body_error("nil", "\"nil\" cannot be written as C: nil has no place in it");
  /* wrong for one value of a problem only */
  expect_error("formula \"f(a)\" \"op == 'least' and a % 2 or a\"",
               "c.lua:7: formula \"f\": \"op == 'least' and a % 2 or a\" cannot be written as C: "
               "this operation works on "
               "whole numbers known before (with op=least)");
}

/* Hostile formulas: deep, long, wide. */
TEST(test_hostile) {
  FREED(text) body = {0};
  for (int i = 0; i < 3000; i++) text_add(&body, "(");
  expect_body_error(text_get(&body), "the expression is nested too deeply");
  text_clear(&body);
  /* Each operand appears once: the text grows with the number of levels, not exponentially. */
  for (int i = 0; i < 60; i++) text_add(&body, "min(b, ");
  text_add(&body, "a");
  for (int i = 0; i < 60; i++) text_add(&body, ")");
  char *text = print(formed("formula \"f(a, b)\" \"%s\"", text_get(&body)), 64, "sum", true, false);
  assert_in_range(strlen(text), 60, 60 * 100);
  free(text);
}

TEST(test_large) {
  FREED(text) body = {0};
  for (int i = 0; i < 8200; i++) text_add(&body, "a");
  FREED(text) formula = {0};
  text_addf(&formula, "formula \"f(a, n)\" \"%s\"", text_get(&body));
  expect_error(text_get(&formula), "c.lua:7: formula \"f\" is longer than 8192 characters");
  text_clear(&formula);
  text_clear(&body);
  for (int i = 0; i < 17; i++) text_addf(&body, "%sbias[n]", i ? " + " : "a + ");
  text_addf(&formula, "formula \"f(a, n)\" \"%s\"", text_get(&body));
  expect_error(text_get(&formula), "c.lua:7: formula \"f\": a formula reads at most 16 elements");
}

/* ---- In a template -------------------------------------------------------------------------- */

static int expand(const char *content, const char *op, struct text *source, cugen_error *err) {
  static const char config_text[] =
      "kernel \"k\" { problem \"op\" { \"sum\", \"least\" }, output \"C\" { dtype = \"f32\", shape "
      "= { 8 } },\n"
      "formula \"f(a, b)\" \"op == 'sum' and a + b or min(a, b)\", reference \"none\",\n"
      "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } } }\n";
  const struct device_facts facts = {.warp_size = 32, .max_threads_per_block = 1024};
  FREED(text) folder = {0};
  struct sources sources = {0};
  struct config *config;
  struct problem problem;
  struct space *space;
  struct expander *expander;
  struct value values[1];
  struct variant variant;
  struct kernel_spec spec;
  assert_int_equal(folder_temporary(&folder, err), CUGEN_OK);
  sources.template_dir = text_get(&folder);
  assert_int_equal(file_write(formed("%s/t.cu", text_get(&folder)), content, strlen(content), err),
                   CUGEN_OK);
  assert_int_equal(config_parse("c.lua", config_text, strlen(config_text), &config, err), CUGEN_OK);
  assert_int_equal(problem_set(config, &op, 1, false, &problem, err), CUGEN_OK);
  assert_int_equal(space_open(config, &problem, &facts, &space, err), CUGEN_OK);
  assert_int_equal(expander_open(&sources, &expander, err), CUGEN_OK);
  space_variant(space, 0, &variant, values);
  int status = expand_variant(expander, config, &problem, &facts, &variant, &spec, err);
  if (!status) {
    size_t count;
    const bool *reads = expander_reads(expander, &count);
    assert_true(reads[config->first_problem]); /* another operator is another kernel */
    text_add(source, spec.source);
    kernel_spec_free(&spec);
  }
  expander_close(expander);
  space_close(space);
  problem_free(&problem);
  config_close(config);
  folder_remove(text_get(&folder));
  return status;
}

#define KERNEL(line) "__global__ void k(${params}) {\n" line "\n}\n"

TEST(test_template) {
  FREED(text) sum = {0}, least = {0};
  WORKS(expand(KERNEL("C[0] = ${f(\"C[1]\", 2)};"), "op=sum", &sum, &err));
  assert_non_null(strstr(text_get(&sum), "{ return __v_a + __v_b; }((C[1]), (2)))"));
  WORKS(expand(KERNEL("C[0] = ${f(\"C[1]\", 2)};"), "op=least", &least, &err));
  assert_null(strstr(text_get(&least), "__v_a + __v_b"));
}

TEST(test_template_errors) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {KERNEL("C[0] = ${f(\"C[1]\")};"), "t.cu:2: formula f takes 2 arguments (a, b), not 1"},
      {KERNEL("C[0] = ${f(\"C[1]\", {})};"), "t.cu:2: "},
      {KERNEL("C[0] = ${ff(1, 2)};"), "ff: unknown, nearest 'f'"},
      {"//@ f = 3\n" KERNEL(""), "f comes from the config and cannot be changed"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) source = {0};
    cugen_error err;
    assert_int_equal(expand(cases[i].text, "op=sum", &source, &err), CUGEN_ERROR_TEMPLATE);
    if (!strstr(err.message, cases[i].want))
      fail_msg("got %s, want %s", err.message, cases[i].want);
  }
}

/* Outside of formulas there are neither elements nor the functions of formulas. */
TEST(test_elsewhere) {
  expect_error("derive \"d\" \"relu(N)\"", "c.lua:7: derive \"d\": unknown function \"relu\"");
  expect_error("derive \"d\" \"bias[N]\"",
               "c.lua:7: derive \"d\": elements of buffers are for formulas");
}
