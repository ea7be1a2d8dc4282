/* Expressions: syntax, priorities, arithmetic, errors, binding, C. */
#include "base/expr.h"
#include "base/hash.h"
#include "tests/testing.h"

/* ---- A scope: four slots, a constant, derived names ----------------------------------------- */

enum { ROWS, TILE, VEC, DTYPE, RATE, BIG, SLOTS };
static const char *const slot_names[SLOTS] = {"rows", "tile", "vec", "dtype", "rate", "device.big"};

struct scope_data {
  struct expr *derived; /* "derived" */
};

static struct expr_symbol find(void *context, const char *name) {
  struct scope_data *data = context;
  for (int i = 0; i < SLOTS; i++)
    if (strcmp(slot_names[i], name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = i};
  if (strcmp(name, "answer") == 0)
    return (struct expr_symbol){.kind = SYMBOL_CONSTANT, .constant = value_int(42)};
  if (strcmp(name, "derived") == 0 && data && data->derived)
    return (struct expr_symbol){.kind = SYMBOL_EXPR, .expr = data->derived};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static const char *const *names(void *context, size_t *count) {
  *count = SLOTS;
  return slot_names;
}

static struct value slots[SLOTS];

static void set_slots(void) {
  slots[ROWS] = value_int(100);
  slots[TILE] = value_int(32);
  slots[VEC] = value_int(4);
  slots[DTYPE] = value_string("f16");
  slots[RATE] = value_float(0.5);
  slots[BIG] = value_int(INT64_MAX);
}

/* ---- The scope's functions: twice(a) of a whole number, refused by name, failing for a = 8 -- */

enum { CALLS_MOST = 64 };
static struct expr_call calls[CALLS_MOST];
static struct expr *call_arguments[CALLS_MOST];
static size_t call_count;

static int evaluate_twice(const void *context, const struct value *at, struct value *out,
                          cugen_error *err) {
  int64_t a = 0;
  int status = expr_eval_int(context, at, &a, err);
  if (!status && a == 8) status = error_set(err, CUGEN_ERROR_CONFIG, "k.lua:3: 8 is too much");
  *out = value_int(2 * a);
  return status;
}

static const struct expr_call *make_call(void *context, const char *name, const char *text,
                                         struct expr *const *arguments, size_t count,
                                         struct text *why) {
  assert_string_equal(name, "twice");
  assert_true(call_count < CALLS_MOST);
  struct expr_call *call = &calls[call_count];
  if (count != 1) {
    text_addf(why, "twice has one argument, not %zu", count);
    for (size_t i = 0; i < count; i++) expr_free(arguments[i]);
    return NULL;
  }
  call_arguments[call_count++] = arguments[0];
  *call = (struct expr_call){strdup(text), evaluate_twice, arguments[0], NULL, 0, 5};
  call->slots = expr_slots(arguments[0], &call->count);
  return call;
}

static void free_calls(void) {
  for (size_t i = 0; i < call_count; i++) {
    free((void *)(uintptr_t)calls[i].text);
    expr_free(call_arguments[i]);
  }
  call_count = 0;
}

static const char *const function_names[] = {"twice", NULL};
static const struct expr_functions functions = {function_names, make_call};
static const struct expr_extras extras = {.functions = &functions};

static struct expr *parse_in(const char *source, struct scope_data *data) {
  struct expr_scope scope = {find, names, data};
  cugen_error err = {0};
  struct expr *expr;
  if (expr_parse_with(source, &scope, &extras, &expr, &err))
    fail_msg("%s: %s", source, err.message);
  assert_string_equal(expr_text(expr), source);
  return expr;
}

static struct expr *parse(const char *source) {
  return parse_in(source, NULL);
}

/* Appends the printed value, or the error's message. */
static void result_of(const struct expr *expr, struct text *out) {
  struct value value;
  cugen_error err = {0};
  if (expr_eval(expr, slots, &value, &err)) {
    assert_int_equal(err.status, CUGEN_ERROR_CONFIG);
    text_add(out, err.message);
  } else {
    value_print(value, out);
  }
}

/* Evaluates the expression as parsed, and with every set of slots bound; the results must be
   equal. */
static void expect_result(const char *source, const char *want) {
  CLOSED(expr) *expr = parse(source);
  for (unsigned set = 0; set < 1u << SLOTS; set++) {
    bool known[SLOTS];
    FREED(text) got = {0};
    CLOSED(expr) *bound;
    for (int i = 0; i < SLOTS; i++) known[i] = (set >> i & 1) != 0;
    assert_int_equal(expr_bind(expr, slots, known, SLOTS, &bound, NULL), CUGEN_OK);
    result_of(bound, &got);
    if (set == 0)
      assert_string_equal(text_get(&got), want);
    else if (!strstr(want, "which")) /* a message says less if more is known */
      assert_string_equal(text_get(&got), want);
    else
      assert_non_null(strstr(text_get(&got), strstr(want, "which")));
  }
}

/* Like expect_result, for the message of a failure, which names the expression first. */
static void expect_failure(const char *source, const char *want) {
  expect_result(source, formed("in \"%s\": %s", source, want));
}

static void expect_parse_error(const char *source, const char *want) {
  struct expr_scope scope = {find, names, NULL};
  cugen_error err = {0};
  struct expr *expr = (struct expr *)&err;
  assert_int_equal(expr_parse_with(source, &scope, &extras, &expr, &err), CUGEN_ERROR_CONFIG);
  assert_null(expr);
  assert_string_equal(err.message, want);
}

/* Like expect_parse_error, for a message that ends with the place in the source. */
static void expect_mistake(const char *source, int column, const char *want) {
  expect_parse_error(source, formed("%s, at column %d of \"%s\"", want, column, source));
}

/* ---- Tests ---------------------------------------------------------------------------------- */

FIXTURE(setup) {
  set_slots();
  return 0;
}

TEST_WITH(test_literals, setup, NULL) {
  expect_result("0", "0");
  expect_result("9223372036854775807", "9223372036854775807");
  expect_result("0x7fFFffffFFFFffff", "9223372036854775807");
  expect_result("0xA", "10");
  expect_result("1.5", "1.5");
  expect_result(".5", "0.5");
  expect_result("3.", "3.0");
  expect_result("1e3 == 1000 and 1e3 / 3 > 333.3", "true");
  expect_result("1e-2", "0.01");
  expect_result("0x1p-1", "0.5");
  expect_result("'a\\'\\n\\\\'", "a'\n\\");
  expect_result("\"\"", "");
  expect_result("true", "true");
  expect_result("nil", "nil");
  expect_result("answer", "42");
  expect_result("device.big", "9223372036854775807");
}

/* f32 rounds; its value stays a float through a choice, but not through arithmetic. */
static void expect_literal(const char *source, const char *want) {
  CLOSED(expr) *expr = parse(source);
  FREED(text) got = {0};
  struct value value;
  assert_int_equal(expr_eval(expr, slots, &value, NULL), CUGEN_OK);
  value_print_literal(value, &got);
  assert_string_equal(text_get(&got), want);
  assert_true(!value.single || strtof(text_get(&got), NULL) == (float)value.real);
}

TEST_WITH(test_singles, setup, NULL) {
  expect_result("f32(0.1)", "0.10000000149011612");
  expect_result("f32(rate)", "0.5");
  expect_failure("f32(rate * 1e300)",
                 "f32(rate * 1e+300) is f32(5e+299), which does not fit into 64 bits");
  expect_literal("f32(0.001)", "0.001f");
  expect_literal("f32(1) / 3", "0.3333333333333333");
  expect_literal("f32(1.0 / 3)", "0.33333334f");
  expect_literal("tile > 16 and f32(16777216) or f32(0.5)", "16777216.0f");
  expect_literal("-f32(2)", "-2.0f");
  expect_literal("f32(-2)", "-2.0f");
  expect_literal("f32(1e-45)", "1e-45f");
  expect_literal("f32(1e30)", "1e+30f");
}

TEST_WITH(test_mathematics, setup, NULL) {
  expect_result("exp(0) + log(1) + tanh(0) + erf(0) + sin(0) + cos(0)", "2.0");
  expect_result("floor(rate * 7)", "3");
  expect_result("ceil(rate * 7)", "4");
  expect_result("floor(-rate)", "-1");
  expect_result("ceil(-rate)", "0");
  /* 2^10 is a whole number, so pow and // accept it */
  expect_result("pow(2, floor(sqrt(rows))) // 10", "102");
  expect_failure("floor(device.big) + ceil(device.big) - device.big",
                 "floor(device.big) + ceil(device.big) is 9223372036854775807 + "
                 "9223372036854775807, which does not fit into 64 bits");
  expect_failure("floor(1e19 * rate * 2)",
                 "floor((1e+19 * rate) * 2) is floor(1e+19), which does not fit into 64 bits");
  expect_failure("ceil(dtype)", "ceil(dtype) is ceil(\"f16\"), which needs numbers");
  expect_failure("log(rate - 0.5)", "log(rate - 0.5) is log(0.0), which needs a number above zero");
}

TEST_WITH(test_priorities, setup, NULL) {
  expect_result("1 + 2 * 3", "7");
  expect_result("(1 + 2) * 3", "9");
  expect_result("10 - 4 - 3", "3");
  expect_result("100 // 7 // 2", "7");
  expect_result("2 * 7 % 4", "2");
  expect_result("-2 * 3", "-6");
  expect_result("- -2", "2");
  expect_result("not true == false", "true"); /* (not true) == false */
  expect_result("not (tile == 32)", "false");
  expect_result("1 + 1 == 2 and 3 < 4", "true");
  expect_result("true or false and false", "true");
  expect_result("(true or false) and false", "false");
  expect_result("rows - tile * vec < 0", "true");
  expect_result("rows - (tile - vec)", "72");
  expect_result("rows % (tile + vec) + tile // vec * 2", "44");
}

TEST_WITH(test_logic_gives_operands, setup, NULL) {
  expect_result("nil or 3", "3");
  expect_result("false and 1 // 0", "false");
  expect_result("true or 1 // 0", "true");
  expect_result("vec == 4 and 'yes' or 'no'", "yes");
  expect_result("vec == 5 and 'yes' or 'no'", "no");
  expect_result("(vec == 5 or tile) + 1", "33");
  expect_result("1 + (vec == 4 and tile or rows)", "33");
  expect_result("1 + (vec == 5 and tile or rows) + vec", "105");
  expect_result("(nil or 3) + (true and vec)", "7");
  expect_result("(vec and 3) * (false or (tile and rows))", "300");
  expect_result("0 and 1", "1"); /* as in Lua, only nil and false are false */
  expect_result("(tile == 32 or rows // 0 == 1) and (vec ~= 4 or rate < 1)", "true");
  expect_result("vec < 0 and rows // 0 == 1", "false");
}

TEST_WITH(test_select, setup, NULL) {
  expect_result("select(vec == 4, 'yes', 'no')", "yes");
  expect_result("select(vec == 5, 'yes', 'no')", "no");
  expect_result("select(vec == 4, false, true)", "false"); /* `and` and `or` would give true */
  expect_result("select(vec == 4, nil, 1)", "nil");
  expect_result("select(vec == 3, 1, vec == 4, 2, 3)", "2");
  expect_result("select(vec == 3, 1, vec == 5, 2, 3)", "3");
  /* only the chosen value is evaluated */
  expect_result("select(vec == 4, 1, 1 // 0 == 1, 2, 3)", "1");
  expect_result("select(vec == 4, tile, rows // 0)", "32");
  expect_result("select(vec ~= 4, rows // 0, tile) * 2 + 1", "65");
  expect_result("1 + select(vec == 4, select(tile == 32, 10, 20), 30) + vec", "15");
  expect_result("select(vec == 4 and tile == 32, rows or 5, tile) - select(rows > 1, vec, 1)",
                "96");
  expect_result("select(select(vec == 4, tile == 32, false), 'a', 'b')", "a");
  expect_result("max(select(tile > rows, tile, rows), select(true, 1, 2), select(false, 1, 2))",
                "100");
  expect_result("vec == 5 or select(tile == 32, rows == 100, false)", "true");
  expect_result("select(true, tile, rows) // select(false, 0, vec)", "8");
  expect_failure("select(vec, 1, 2)",
                 "vec is 4, which is no condition: select needs true or false");
  expect_result("select(rows > 1, 1, nil)", "1");
  expect_parse_error(
      "select(1, 2, 3)",
      "in \"select(1, 2, 3)\": what is asked is a number, and \"select\" needs true or "
      "false; compare it with something");
  expect_failure("select(vec == 4, tile // (vec - 4), 1)",
                 "tile // (vec - 4) is 32 // 0, which divides by zero");
  expect_failure("1 // (select(vec == 4, tile, vec) - 32)",
                 "1 // (select(vec == 4, tile, vec) - 32) is 1 // 0, which divides by zero");
}

/* `not` and `and` need booleans; a number is not one, also not in select. */
TEST_WITH(test_conditions, setup, NULL) {
  expect_parse_error(
      "not vec == 4",
      "in \"not vec == 4\": (not vec) == 4 compares what is never equal: the left side "
      "is true or false, the right side is a number; \"not\" comes before a comparison: "
      "write not (a == b), or a ~= b");
  expect_failure("not vec",
                 "not vec is not 4, which needs true or false: compare it with something");
  expect_result("vec and true", "true"); /* as in Lua, numbers are true */
  expect_failure("dtype and true",
                 "dtype is \"f16\", which needs true or false: compare it with something");
  expect_result("not not (vec == 4)", "true");
}

/* ---- Types, told before anything is evaluated ----------------------------------------------- */

static const struct value sizes[] = {{VALUE_INT, false, {.integer = 64}},
                                     {VALUE_INT, false, {.integer = 96}}};
static const struct value modes[] = {{VALUE_STRING, false, {.string = "fast"}},
                                     {VALUE_STRING, false, {.string = "slow"}}};
static const struct value flags[] = {{VALUE_BOOL, false, {.boolean = false}},
                                     {VALUE_BOOL, false, {.boolean = true}}};
static const struct value unset[] = {{VALUE_NIL, false, {0}},
                                     {VALUE_BOOL, false, {.boolean = true}}};
static const struct value mixed[] = {{VALUE_INT, false, {.integer = 1}},
                                     {VALUE_STRING, false, {.string = "auto"}}};

static struct expr_symbol find_typed(void *context, const char *name) {
  static const struct {
    const char *name;
    const struct value *values;
    bool open;
  } rows[] = {{"only", modes, false}, {"BS", sizes, false},     {"mode", modes, false},
              {"FAST", flags, false}, {"unroll", mixed, false}, {"n", sizes, true},
              {"kind", modes, true},  {"unset", unset, false}};
  for (int i = 0; i < 8; i++)
    if (strcmp(rows[i].name, name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT,
                                  .slot = i,
                                  .values = rows[i].values,
                                  .value_count = i ? 2 : 1,
                                  .open = rows[i].open};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static void expect_typed(const char *source, const char *want) {
  struct expr_scope scope = {find_typed, NULL, NULL};
  cugen_error err = {0};
  CLOSED(expr) *expr;
  const int status = expr_parse(source, &scope, &expr, &err);
  FREED(text) message = {0};
  if (want) text_addf(&message, "in \"%s\": %s", source, want);
  assert_string_equal(status ? err.message : "", text_get(&message));
}

TEST_WITH(test_types, setup, NULL) {
  expect_typed("not BS == 64",
               "BS is a number (64, 96), and \"not\" needs true or false; \"not\" comes before a "
               "comparison: write not (a == b), or a ~= b");
  expect_typed(
      "not BS",
      "BS is a number (64, 96), and \"not\" needs true or false; compare it, as in BS ~= 0");
  expect_typed(
      "mode and BS == 64",
      "mode is a word (fast, slow), and \"and\" needs true or false; compare it with something");
  expect_typed("select(n, 1, 2)",
               "n is a number, and \"select\" needs true or false; compare it, as in n ~= 0");
  expect_typed(
      "BS == '64'",
      "BS == \"64\" compares what is never equal: BS is a number (64, 96), the right side is "
      "a word");
  expect_typed(
      "true ~= n",
      "true ~= n compares what is never equal: the left side is true or false, n is a number");
  expect_typed("FAST == 1 and BS == 64",
               "FAST == 1 compares what is never equal: FAST is true or false (false, "
               "true), the right side is a number");
  expect_typed("mode ~= 'fastt'",
               "mode ~= \"fastt\" compares what is never equal: mode is never \"fastt\", but "
               "\"fast\", \"slow\" (nearest \"fast\")");
  expect_typed("select(FAST, mode, 'none') == 'non'",
               "select(FAST, mode, \"none\") == \"non\" compares what is never equal: the other "
               "side is never "
               "\"non\", but \"fast\", \"slow\", \"none\" (nearest \"none\")");
}

TEST_WITH(test_types_that_may_be, setup, NULL) {
  static const char *const sources[] = {"not (BS == 64)",
                                        "not FAST",
                                        "FAST == true",
                                        "FAST == (BS == 64)",
                                        "mode == 'fast'",
                                        "kind == 'other'",
                                        "unroll == 'auto'",
                                        "unroll == 1",
                                        "BS == 48",
                                        "(FAST and 'a' or 'b') == 'b'",
                                        "(FAST and mode or 'none') == 'none'",
                                        "select(FAST, mode, 'none') ~= 'none'",
                                        "(BS == 64 and FAST) == true",
                                        "kind == mode",
                                        "mode < 'g'",
                                        "n == 1.5",
                                        "only == 'slow'",
                                        "select(only == 'slow', 1, 2) == 2",
                                        "select(FAST, true, BS == 64) and mode == 'slow'",
                                        "(unset and 5) == nil"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) expect_typed(sources[i], NULL);
}

/* A choice with a known condition disappears, together with what the other value reads. */
TEST_WITH(test_select_binds, setup, NULL) {
  static const struct {
    const char *source;
    int slot;
  } cases[] = {{"select(dtype == 'f16', tile, rows)", TILE},
               {"select(dtype == 'f32', tile, rows)", ROWS}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CLOSED(expr) *expr = parse(cases[i].source), *bound;
    bool known[SLOTS] = {[DTYPE] = true};
    size_t count;
    assert_int_equal(expr_bind(expr, slots, known, SLOTS, &bound, NULL), CUGEN_OK);
    assert_int_equal(*expr_slots(bound, &count), cases[i].slot);
    assert_int_equal(count, 1);
  }
}

TEST_WITH(test_select_mistakes, setup, NULL) {
  static const char needs[] =
      "select needs conditions, each with a value, and a last value for all other cases: "
      "select(c1, v1, c2, v2, otherwise), at column ";
  static const char *const sources[] = {"select()", "select(vec == 1)", "select(vec == 1, 2)",
                                        "select(vec == 1, 2, vec == 2, 3)"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    expect_parse_error(sources[i], formed("%s1 of \"%s\"", needs, sources[i]));
  }
  expect_mistake("select(vec == 1 2)", 17, "expected \",\" or \")\", found \"2\"");
  expect_mistake("select(true, 1, 2", 18, "expected \",\" or \")\", found the end");
  expect_mistake("1 + select", 5, "\"select\" is a function: expected \"(\" after it");
  expect_mistake("vec == 1 ? 2 : 3", 10, "a choice is written: select(condition, a, b)");
}

TEST_WITH(test_integers, setup, NULL) {
  expect_result("-7 // 2", "-4");
  expect_result("7 // -2", "-4");
  expect_result("-7 // -2", "3");
  expect_result("-7 % 3", "2");
  expect_result("7 % -3", "-2");
  expect_result("-6 % 3", "0");
  expect_result("(-device.big - 1) % -1", "0");
  expect_result("8589934592 // 3", "2863311530");
  expect_result("8589934592 % 5", "2");
  expect_result("rows / 4", "25");
  expect_result("-rows / 4", "-25");
  expect_result("4 == 4.0", "true");
  expect_result("tile == '32'", "false");
  expect_result("tile ~= 33", "true");
}

TEST_WITH(test_floats, setup, NULL) {
  expect_result("1.0 * 3 / 2", "1.5");
  expect_result("rate + 1", "1.5");
  expect_result("7.5 // 2", "3.0");
  expect_result("-7.5 % 2", "0.5");
  expect_result("5.5 % -2", "-0.5");
  expect_result("rate < 1", "true");
  expect_result("device.big < 9.3e18", "true");
  expect_result("device.big < 9223372036854775808.0", "true");
  expect_result("-device.big - 1 <= -9223372036854775808.0", "true");
  expect_result("sqrt(0) == 0", "true");
  /* in doubles both numbers are equal */
  expect_result("9007199254740993 > 9007199254740992.0", "true");
  expect_result("9007199254740993 == 9007199254740992.0", "false");
  expect_result("-3 > -3.5", "true");
  expect_result("3 >= 3.0 and 3 <= 3.0", "true");
  expect_result("'abc' < 'abd'", "true");
  expect_result("dtype >= 'f16' and dtype == 'f16'", "true");
}

TEST_WITH(test_functions, setup, NULL) {
  expect_result("ceil_div(rows, tile)", "4");
  expect_result("ceil_div(96, 32)", "3");
  expect_result("ceil_div(-7, 2)", "-3");
  expect_result("ceil_div(device.big, 2)", "4611686018427387904");
  expect_result("round_up(rows, tile)", "128");
  expect_result("min(rows, tile, vec)", "4");
  expect_result("max(rows, tile, 2 * rows)", "200");
  expect_result("max(1, 1.5)", "1.5");
  expect_result("min(vec, rate)", "0.5");
  expect_result("is_pow2(tile) and not is_pow2(rows) and not is_pow2(0)", "true");
  expect_result("pow(tile, 3)", "32768");
  expect_result("pow(-2, 63)", "-9223372036854775808");
  expect_result("pow(tile, 0)", "1");
  expect_result("ceil_log(1, 2)", "0");
  expect_result("ceil_log(rows, 10)", "2");
  expect_result("ceil_log(rows + 1, 10)", "3");
  expect_result("ceil_log(device.big, 2)", "63");
  expect_result("log2(tile)", "5");
  expect_result("abs(vec - tile)", "28");
  expect_result("abs(-0.5)", "0.5");
  expect_result("sizeof(dtype)", "2");
  expect_result("sizeof('f64') * 2", "16");
  expect_result("eps(dtype)", "0.0009765625");
  expect_result("eps('bf16') == 8 * eps(dtype)", "true");
  expect_result("eps('f32') == 1.0 / 8388608", "true");
  expect_result("eps('f64') == 2.220446049250313e-16", "true");
  expect_result("eps('i32')", "0.0");
  expect_result("sqrt(4 * rows) == 20", "true");
}

TEST_WITH(test_failures, setup, NULL) {
  expect_failure("tile // (vec - 4)", "tile // (vec - 4) is 32 // 0, which divides by zero");
  expect_failure("rows % (tile - 32) == 0", "rows % (tile - 32) is 100 % 0, which divides by zero");
  expect_failure("vec > 0 and tile + device.big > 0",
                 "tile + device.big is 32 + 9223372036854775807, which does not fit into 64 bits");
  expect_failure("device.big * tile",
                 "device.big * tile is 9223372036854775807 * 32, which does not fit into 64 bits");
  expect_failure("-2 - device.big",
                 "-2 - device.big is -2 - 9223372036854775807, which does not fit into 64 bits");
  expect_failure(
      "(-device.big - 1) // -1",
      "((-device.big) - 1) // -1 is -9223372036854775808 // -1, which does not fit into 64 bits");
  expect_failure("-(-device.big - 1)",
                 "-((-device.big) - 1) is --9223372036854775808, which does not fit into 64 bits");
  expect_failure("tile / 3", "tile / 3 is 32 / 3, which is no whole number; // rounds down, "
                             "ceil_div() up, 1.0 * a / b gives a fraction");
  expect_failure("1 // 0", "1 // 0, which divides by zero");
  expect_failure("rate / 0", "rate / 0 is 0.5 / 0, which divides by zero");
  expect_failure("1e308 * 10", "1e+308 * 10, which does not fit into 64 bits");
  expect_failure("dtype + 1", "dtype + 1 is \"f16\" + 1, which needs numbers");
  expect_failure("dtype < 1", "dtype < 1 is \"f16\" < 1, which compares what has no order");
  expect_failure("-dtype", "-dtype is -\"f16\", which needs numbers");
  expect_failure("ceil_div(rate, 2)",
                 "ceil_div(rate, 2) is ceil_div(0.5, 2), which needs whole numbers");
  expect_failure("ceil_div(rows, -2)",
                 "ceil_div(rows, -2) is ceil_div(100, -2), which needs a positive divisor");
  expect_failure("pow(2, 63)", "pow(2, 63), which does not fit into 64 bits");
  expect_failure("pow(2, -1)", "pow(2, -1), which needs a number that is not negative");
  expect_failure("ceil_log(rows, 1)",
                 "ceil_log(rows, 1) is ceil_log(100, 1), which needs a base of at least 2");
  expect_failure("log2(rows)", "log2(rows) is log2(100), which needs a power of two");
  expect_failure("is_pow2(rate)", "is_pow2(rate) is is_pow2(0.5), which needs whole numbers");
  expect_failure("sqrt(-rows)",
                 "sqrt(-rows) is sqrt(-100), which needs a number that is not negative");
  expect_failure("sizeof(tile)",
                 "sizeof(tile) is sizeof(32), which needs the name of a dtype, such as \"f32\"");
  expect_failure("abs(dtype) > 0", "abs(dtype) is abs(\"f16\"), which needs numbers");
}

TEST_WITH(test_typed_results, setup, NULL) {
  int64_t integer;
  double real;
  bool boolean;
  struct expr *expr = parse("rate * 2");
  FAILS_WITH(expr_eval_int(expr, slots, &integer, &err), CUGEN_ERROR_CONFIG,
             "\"rate * 2\" gives 1.0, but a whole number is needed");
  WORKS(expr_eval_float(expr, slots, &real, &err));
  assert_true(real == 1.0);
  FAILS_WITH(expr_eval_bool(expr, slots, &boolean, &err), CUGEN_ERROR_CONFIG,
             "\"rate * 2\" gives 1.0, but true or false is needed: compare it with something");
  expr_free(expr);
  expr = parse("tile");
  WORKS(expr_eval_int(expr, slots, &integer, &err));
  assert_int_equal(integer, 32);
  WORKS(expr_eval_float(expr, slots, &real, &err));
  assert_true(real == 32.0);
  expr_free(expr);
  expr = parse("tile > 1");
  WORKS(expr_eval_bool(expr, slots, &boolean, &err));
  assert_true(boolean);
  FAILS_WITH(expr_eval_float(expr, slots, &real, &err), CUGEN_ERROR_CONFIG,
             "\"tile > 1\" gives true, but a number is needed");
  assert_int_equal(expr_eval_float(expr, slots, &real, NULL), CUGEN_ERROR_CONFIG);
  expr_free(expr);
}

TEST_WITH(test_syntax_errors, setup, NULL) {
  expect_mistake("", 1, "expected a value, found the end");
  expect_mistake("tile +", 7, "expected a value, found the end");
  expect_mistake("tile + * 2", 8, "expected a value, found \"*\"");
  expect_mistake("(tile", 6, "expected an operator or \")\", found the end");
  expect_mistake("tile)", 5, "expected an operator or the end, found \")\"");
  expect_mistake("tile 2", 6, "expected an operator or the end, found \"2\"");
  expect_mistake("and 2", 1, "expected a value, found \"and\"");
  expect_mistake("tile != 2", 6, "\"not equal\" is written ~= as in Lua");
  expect_mistake("tile && vec", 6, "\"&&\" is written and");
  expect_mistake("tile = 2", 6, "\"equal\" is written == as in Lua");
  expect_mistake("tile ^ 2", 6, "there is no power operator: write x * x");
  expect_mistake("'a' .. 'b'", 5, "strings cannot be joined here");
  expect_mistake("1 < tile < 9", 10,
                 "comparisons cannot be chained (write a <= b and b <= c, or use parentheses)");
  expect_mistake("1 == tile + 1 ~= 9", 15,
                 "comparisons cannot be chained (write a <= b and b <= c, or use parentheses)");
  expect_mistake("12ab", 1, "this is not a number");
  expect_mistake("0x", 1, "this is not a number");
  expect_mistake("1.2.3", 1, "this is not a number");
  expect_mistake("1e999", 1, "this number is too large");
  expect_mistake("9223372036854775808", 1, "this number does not fit into 64 bits");
  expect_mistake("'abc", 1, "this string has no closing quote");
  expect_mistake("'a\\", 3, "only \\n \\t \\r \\\\ \\\" \\' may stand in a string");
  expect_parse_error("tile \x01",
                     "expected an expression, found \"\\x01\", at column 6 of \"tile \\x01\"");
  expect_mistake("tile[1]", 5, "elements of buffers are for formulas");
}

TEST_WITH(test_unknown_names, setup, NULL) {
  expect_mistake("1 + tlie", 5, "unknown name \"tlie\"; did you mean \"tile\"?");
  expect_mistake("device.bog > 1", 1, "unknown name \"device.bog\"; did you mean \"device.big\"?");
  expect_mistake("quite_another", 1, "unknown name \"quite_another\"");
  expect_mistake("dtype == f32", 10, "unknown name \"f32\"; a dtype is written in quotes: 'f32'");
  expect_mistake("min + 1", 1, "\"min\" is a function: expected \"(\" after it");
  expect_mistake("cel_div(1, 2)", 1, "unknown function \"cel_div\"; did you mean \"ceil_div\"?");
  expect_mistake("cdiv(rows, tile)", 1, "unknown function \"cdiv\"; did you mean \"ceil_div\"?");
  expect_mistake("tile in (1, 2)", 6,
                 "expected an operator or the end, found \"in\"; write a == 1 or a == 2");
  expect_mistake("tile not in (1, 2)", 6,
                 "expected an operator or the end, found \"not\"; write a ~= 1 and a ~= 2");
  expect_mistake("vec if tile else 2", 5,
                 "expected an operator or the end, found \"if\"; write select(condition, a, b)");
  expect_mistake("True", 1, "unknown name \"True\"; write true");
  expect_mistake("tile & 1", 6,
                 "there are no bit operations: is_pow2(a) tells a power of two, a % 8 == 0 a "
                 "multiple, and, or, not join conditions");
  expect_mistake("ceil_div(1)", 1, "ceil_div needs 2 arguments");
  expect_mistake("ceil_div(1, 2, 3)", 1, "ceil_div needs 2 arguments");
  expect_mistake("sizeof()", 1, "sizeof needs 1 argument");
  expect_mistake("sizeof('f32', 1)", 1, "sizeof needs 1 argument");
  expect_mistake("1 + min(2)", 5, "min needs at least 2 arguments");
  expect_mistake("min(1 2)", 7, "expected \",\" or \")\", found \"2\"");
  expect_mistake("min(1,)", 7, "expected a value, found \")\"");
}

TEST_WITH(test_derived_names, setup, NULL) {
  struct scope_data data = {parse("tile // vec or 0")};
  CLOSED(expr) *expr = parse_in("rows - derived * (derived - 1)", &data);
  expr_free(data.derived); /* inlined, so the derived name need not exist any longer */
  struct value value;
  assert_int_equal(expr_eval(expr, slots, &value, NULL), CUGEN_OK);
  assert_int_equal(value.integer, 100 - 8 * 7);
  size_t count;
  const int *mentioned = expr_slots(expr, &count);
  assert_int_equal(count, 3);
  assert_int_equal(mentioned[0], ROWS);
  assert_int_equal(mentioned[1], TILE);
  assert_int_equal(mentioned[2], VEC);
  slots[VEC] = value_int(0);
  FAILS_WITH(
      expr_eval(expr, slots, &value, &err), CUGEN_ERROR_CONFIG,
      "in \"rows - derived * (derived - 1)\": tile // vec is 32 // 0, which divides by zero");
}

/* Each derived name doubles the one before; a limit must end this, not time or memory. */
TEST_WITH(test_doubling_ends, setup, NULL) {
  struct scope_data data = {parse("rows + tile")};
  struct expr_scope scope = {find, names, &data};
  cugen_error err = {0};
  int rounds = 0, status;
  for (;; rounds++) {
    struct expr *next;
    status = expr_parse("derived * derived", &scope, &next, &err);
    if (status) break;
    expr_free(data.derived);
    data.derived = next;
  }
  expr_free(data.derived);
  assert_int_equal(status, CUGEN_ERROR_CONFIG);
  assert_in_range(rounds, 5, 12);
  assert_string_equal(
      err.message,
      "the expression is too large: with derived names put in, it has more than 4096 operations");
}

/* A chain of derived names is nested deeply although no single name is. */
TEST_WITH(test_chains_end, setup, NULL) {
  static const char *const links[] = {"rows == 1 and derived", "rows + (tile - (vec - derived))"};
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    struct scope_data data = {parse("vec")};
    struct expr_scope scope = {find, names, &data};
    cugen_error err = {0};
    struct expr *next;
    while (!expr_parse(links[i], &scope, &next, &err)) {
      expr_free(data.derived);
      data.derived = next;
    }
    struct text text = {0};
    expr_print_c(data.derived, NULL, NULL, &text, NULL);
    text_free(&text);
    expr_free(data.derived);
    assert_string_equal(
        err.message,
        "the expression is nested too deeply: with derived names put in, more than 128 levels");
  }
}

static void repeat(struct text *text, const char *what, int times) {
  for (int i = 0; i < times; i++) text_add(text, what);
}

TEST_WITH(test_nesting_ends, setup, NULL) {
  static const char *const deep[] = {"(",
                                     "-",
                                     "not ",
                                     "abs(",
                                     "1 + (",
                                     "min(1, ",
                                     "true and (",
                                     "select(true, ",
                                     "select(true, 1, ",
                                     "select("};
  for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
    FREED(text) source = {0};
    struct expr *expr;
    cugen_error err = {0};
    repeat(&source, deep[i], 100000);
    assert_int_equal(expr_parse(text_get(&source), NULL, &expr, &err), CUGEN_ERROR_CONFIG);
    /* the two minus signs are separated */
    if (i != 1) assert_non_null(strstr(err.message, "nested too deeply"));
    assert_true(strlen(err.message) < 400);
  }
}

TEST_WITH(test_long_expressions, setup, NULL) {
  FREED(text) source = {0};
  text_add(&source, "tile");
  repeat(&source, " + tile", 4000);
  struct expr *expr = parse(text_get(&source));
  struct value value;
  assert_int_equal(expr_eval(expr, slots, &value, NULL), CUGEN_OK);
  assert_int_equal(value.integer, 32 * 4001);
  struct text c = {0};
  assert_int_equal(expr_print_c(expr, NULL, NULL, &c, NULL), CUGEN_OK);
  text_free(&c);
  expr_free(expr);
  repeat(&source, " + tile", 100);
  struct expr_scope scope = {find, names, NULL};
  FAILS(expr_parse(text_get(&source), &scope, &expr, &err), CUGEN_ERROR_CONFIG);
}

TEST_WITH(test_binding, setup, NULL) {
  struct expr *expr = parse("tile * 2 <= rows and (dtype == 'f16' or vec > 1)");
  bool known[SLOTS] = {[ROWS] = true, [DTYPE] = true};
  struct expr *bound;
  struct value value;
  size_t count;
  assert_int_equal(expr_bind(expr, slots, known, SLOTS, &bound, NULL), CUGEN_OK);
  assert_int_equal(*expr_slots(bound, &count), TILE);
  assert_int_equal(count, 1); /* the other part of the rule is known to be true */
  assert_string_equal(expr_text(bound), expr_text(expr));
  assert_false(expr_constant(bound, &value));
  expr_free(bound);
  known[TILE] = true;
  assert_int_equal(expr_bind(expr, slots, known, SLOTS, &bound, NULL), CUGEN_OK);
  assert_true(expr_constant(bound, &value));
  assert_true(value.type == VALUE_BOOL && value.boolean);
  expr_free(bound);
  /* the arrays may be shorter than the slots */
  assert_int_equal(expr_bind(expr, slots, known, 1, &bound, NULL), CUGEN_OK);
  expr_slots(bound, &count);
  assert_int_equal(count, 3);
  expr_free(bound);
  expr_free(expr);
  expr = parse("dtype");
  char word[] = "f32";
  slots[DTYPE] = value_string(word);
  assert_int_equal(expr_bind(expr, slots, known, SLOTS, &bound, NULL), CUGEN_OK);
  word[0] = 'x'; /* the bound program has its own copy */
  assert_true(expr_constant(bound, &value));
  assert_string_equal(value.string, "f32");
  expr_free(bound);
  expr_free(expr);
  expr_free(NULL);
}

/* A call evaluates with any of its slots bound, folds if all are, and is seen by what asks for
   slots, cost and text. */
TEST_WITH(test_calls, setup, NULL) {
  struct scope_data data = {NULL};
  struct value value;
  struct expr *expr, *bound, *again;
  struct text c = {0};
  size_t count;
  expect_result("twice(tile)", "64");
  expect_result("1 + twice(tile + vec) * 2 - twice((vec)) // 3", "143");
  expect_result("select(twice(vec) == 7, 1 // 0, twice(twice(rows)))", "400");
  expect_result("rows > 1000 and twice(dtype) or -twice(select(dtype == 'f16', vec, tile))", "-8");
  expect_result("twice(8 + vec - 4)", "k.lua:3: 8 is too much");
  expect_result("twice(3)", "6");
  expect_mistake("twice(tile, vec)", 1, "twice has one argument, not 2");
  expect_parse_error("1 + twice(2 +)", "expected a value, found the end, at column 4 of \"2 +\"");
  expect_mistake("twice(1, 2, 3, 4, 5)", 19, "there are too many arguments");
  expect_mistake("twice(1", 8, "expected \",\" or \")\", found the end");

  expr = parse_in("vec + twice(tile * rows)", &data);
  const int *at = expr_slots(expr, &count);
  assert_int_equal(count, 3);
  assert_true(at[0] == ROWS && at[1] == TILE && at[2] == VEC);
  assert_int_equal(expr_cost(expr), 7);
  FAILS_WITH(expr_print_c(expr, NULL, NULL, &c, &err), CUGEN_ERROR_CONFIG,
             "\"vec + twice(tile * rows)\" cannot be written as C: what it "
             "asks about arrays is known to the config only");
  /* A value stays bound, whatever the slots hold then. */
  bool known[SLOTS] = {[TILE] = true};
  assert_int_equal(expr_bind(expr, slots, known, SLOTS, &bound, NULL), CUGEN_OK);
  assert_false(expr_sees(bound, TILE));
  assert_true(expr_sees(bound, ROWS));
  slots[TILE] = value_int(1);
  assert_int_equal(expr_eval(bound, slots, &value, NULL), CUGEN_OK);
  assert_int_equal(value.integer, 4 + 2 * 32 * 100);
  known[ROWS] = true;
  assert_int_equal(expr_bind(bound, slots, known, SLOTS, &again, NULL), CUGEN_OK);
  assert_int_equal(expr_eval(again, slots, &value, NULL), CUGEN_OK);
  assert_int_equal(value.integer, 4 + 2 * 32 * 100);
  set_slots();
  expr_free(expr);
  expr_free(bound);
  expr_free(again);

  expr = parse_in("tile // (twice(tile) - 64)", &data);
  FAILS_WITH(expr_eval(expr, slots, &value, &err), CUGEN_ERROR_CONFIG,
             "in \"tile // (twice(tile) - 64)\": tile // (twice(tile) - 64) is "
             "32 // 0, which divides by zero");
  expr_free(expr);
  text_free(&c);
  free_calls();
}

TEST_WITH(test_constants, setup, NULL) {
  struct value value;
  struct expr *expr = parse("2 * (3 + answer) // 4");
  assert_true(expr_constant(expr, &value));
  assert_int_equal(value.integer, 22);
  assert_true(expr_constant(expr, NULL));
  expr_free(expr);
  expr = parse("1 // 0"); /* the division stays and fails when it is evaluated */
  assert_false(expr_constant(expr, NULL));
  expr_free(expr);
  expr = parse("false and rows or 'row'");
  assert_true(expr_constant(expr, &value));
  assert_string_equal(value.string, "row");
  expr_free(expr);
}

/* ---- C -------------------------------------------------------------------------------------- */

static const char *slot_c(void *context, int slot) {
  return slot == BIG ? "big" : slot_names[slot];
}

static void expect_c(const char *source, const char *want) {
  CLOSED(expr) *expr = parse(source);
  FREED(text) got = {0};
  cugen_error err = {0};
  int status = expr_print_c(expr, slot_c, NULL, &got, &err);
  assert_string_equal(status ? err.message : text_get(&got), want);
}

TEST_WITH(test_c, setup, NULL) {
  expect_c("rows", "rows");
  expect_c("ceil_div(rows, tile * vec)", "(rows + (tile * vec) - 1) / (tile * vec)");
  expect_c("round_up(rows, 32)", "(rows + 32LL - 1) / 32LL * 32LL");
  expect_c("rows // tile % 3", "(rows / tile) % 3LL");
  expect_c("rows - -1", "rows - (-1LL)");
  expect_c("device.big - (-device.big)", "big - (-big)");
  expect_c("-9223372036854775807 - 1", "-9223372036854775807LL - 1");
  expect_c("min(rows, tile)", "rows <= tile ? rows : tile");
  expect_c("rows ~= tile and not (vec == 1)", "(rows != tile) && (!(vec == 1LL))");
  expect_c("vec == 1 and rows or tile", "(vec == 1LL) ? rows : tile");
  expect_c("vec == 1 and rows or vec == 2 and tile or 0",
           "((vec == 1LL) || (vec == 2LL)) ? ((vec == 1LL) ? rows : tile) : 0LL");
  expect_c("vec == 1 and (rows > 2 and 5) or 7", "((vec == 1LL) && (rows > 2LL)) ? 5LL : 7LL");
  expect_c("select(vec == 1, rows, tile)", "(vec == 1LL) ? rows : tile");
  expect_c("select(vec == 1, rows, vec == 2, tile, 0) + 1",
           "((vec == 1LL) ? rows : ((vec == 2LL) ? tile : 0LL)) + 1LL");
  expect_c("select(vec == 1, rows > 1, tile > 1) and rows > 2",
           "((vec == 1LL) ? (rows > 1LL) : (tile > 1LL)) && (rows > 2LL)");
  expect_c("select(vec == 1 and rows > 1, vec == 2 and 3 or 4, 5)",
           "((vec == 1LL) && (rows > 1LL)) ? ((vec == 2LL) ? 3LL : 4LL) : 5LL");
  expect_c("floor(sqrt(rows)) + ceil(tile)",
           "((long long)floor((double)(sqrt((double)rows)))) + tile");
  expect_c("rows or tile", "rows");
  expect_c("is_pow2(vec) == true", "(vec > 0 && (vec & (vec - 1)) == 0) == 1");
  expect_c("sqrt(rows) * 0.5", "(sqrt((double)rows)) * 0.5");
}

TEST_WITH(test_c_refuses, setup, NULL) {
  expect_c("dtype == 'f32'",
           "\"dtype == 'f32'\" cannot be written as C: strings have no place in it");
  expect_c("sizeof(dtype) * rows", "\"sizeof(dtype) * rows\" cannot be written as C: this function "
                                   "works on what is known before");
  expect_c("vec == 1 and rows",
           "\"vec == 1 and rows\" cannot be written as C: a number may be a condition");
  expect_c("select(vec, 1, 2)",
           "\"select(vec, 1, 2)\" cannot be written as C: a number may be a condition");
  expect_c(
      "select(vec == 1, 1, rows == 2)",
      "\"select(vec == 1, 1, rows == 2)\" cannot be written as C: a number may be a condition");
  expect_c("(vec == 1) + 1",
           "\"(vec == 1) + 1\" cannot be written as C: a number may be a condition");
  expect_c("rows // 0.5",
           "\"rows // 0.5\" cannot be written as C: this operation works on whole numbers there");
  expect_c("rows == nil", "\"rows == nil\" cannot be written as C: nil has no place in it");
}

TEST_WITH(test_c_does_not_explode, setup, NULL) {
  FREED(text) source = {0}, c = {0};
  repeat(&source, "ceil_div(rows, ", 90);
  text_add(&source, "tile");
  repeat(&source, ")", 90);
  CLOSED(expr) *expr = parse(text_get(&source));
  FAILS(expr_print_c(expr, slot_c, NULL, &c, &err), CUGEN_ERROR_CONFIG, "it gets too long");
}

/* ---- Blocks --------------------------------------------------------------------------------- */

enum { RANK = 2, EXTENT = 8 };

static bool find_buffer(void *context, const char *name, int *buffer, int *rank, struct text *why) {
  *buffer = strcmp(name, "whole") == 0;
  *rank = RANK;
  return true;
}

static double load_real(const void *from, int64_t index) {
  return ((const double *)from)[index];
}

/* Reads a whole number; the last element has no value. */
static bool get_whole(const void *from, int64_t index, int64_t *value) {
  *value = ((const int64_t *)from)[index];
  return index < EXTENT * EXTENT - 1;
}

static size_t draw(uint64_t *state, size_t end) {
  return (size_t)(random_next(state) % end);
}

/* Appends a random expression. Many of them fail for some elements, because of a type or a
   value. */
static void random_expression(uint64_t *state, int depth, struct text *out) {
  static const char *const leaves[] = {"rows", "rows", "tile", "vec",  "rate", "3",
                                       "-2",   "0.25", "7",    "true", "dtype"};
  static const char *const forms[] = {"(@ + @)",
                                      "(@ - @)",
                                      "(@ * @)",
                                      "(@ / @)",
                                      "(@ // @)",
                                      "(@ % @)",
                                      "(@ == @)",
                                      "(@ ~= @)",
                                      "(@ < @)",
                                      "(@ <= @)",
                                      "(@ > @)",
                                      "(@ >= @)",
                                      "(@ and @ or @)",
                                      "(@ and @)",
                                      "(@ or @)",
                                      "min(@, @)",
                                      "max(@, @)",
                                      "ceil_div(@, @)",
                                      "round_up(@, @)",
                                      "pow(@, 3)",
                                      "select(@ < @, @, @)",
                                      "select(@ == @, @, @ > @, @, @)",
                                      "abs(@)",
                                      "sqrt(@)",
                                      "floor(@)",
                                      "ceil(@)",
                                      "(not (@ < @))",
                                      "log2(@)",
                                      "is_pow2(@)",
                                      "ceil_log(@, 2)",
                                      "f32(@)",
                                      "sin(@)",
                                      "-(@)",
                                      "real[@, @]",
                                      "real[@ % 8, rows % 8]",
                                      "whole[abs(@) % 8, @ % 8]"};
  const char *form = depth > 0 && draw(state, 6)
                         ? forms[draw(state, sizeof forms / sizeof *forms)]
                         : leaves[draw(state, sizeof leaves / sizeof *leaves)];
  for (; *form; form++)
    if (*form == '@')
      random_expression(state, depth - 1, out);
    else
      text_addf(out, "%c", *form);
}

static struct value random_value(uint64_t *state, int slot) {
  static const char *const words[] = {"f32", "f16", "none"};
  const int64_t small = (int64_t)draw(state, 24) - 4;
  if (slot == DTYPE) return value_string(words[draw(state, 3)]);
  if (slot == RATE) return value_float((double)small / 4);
  if (slot == BIG) return value_int(INT64_MAX - small * small);
  if (slot == VEC && draw(state, 20) == 0) return value_bool(small > 4);
  return value_int(slot == TILE && draw(state, 20) == 0 ? INT64_MIN : small);
}

static bool same_value(const struct value *a, const struct value *b) {
  if (a->type != b->type || (a->type == VALUE_FLOAT && a->single != b->single)) return false;
  return a->type == VALUE_BOOL  ? a->boolean == b->boolean
         : a->type == VALUE_NIL ? true
                                : memcmp(&a->integer, &b->integer, sizeof a->integer) == 0;
}

/* Evaluates the elements of a block one by one. Returns how many there are before the first
   failure. *buffers NULL: by expr_eval. */
static size_t one_by_one(const struct expr *expr, const struct value *block,
                         const struct expr_buffer *buffers, size_t count, struct value *out,
                         cugen_error *err) {
  for (size_t k = 0; k < count; k++) {
    struct value element[SLOTS * EXPR_BLOCK];
    size_t done;
    for (size_t i = 0; i < SLOTS; i++)
      element[buffers ? i * EXPR_BLOCK : i] = block[i * EXPR_BLOCK + k];
    if (buffers ? expr_eval_block(expr, element, buffers, 1, &out[k], &done, err)
                : expr_eval(expr, element, &out[k], err))
      return k;
  }
  return count;
}

static void expect_equal_blocks(const struct expr *expr, const struct expr_buffer *buffers,
                                uint64_t *state) {
  struct value block[SLOTS * EXPR_BLOCK], want[EXPR_BLOCK], got[EXPR_BLOCK];
  const size_t count = 1 + draw(state, EXPR_BLOCK);
  cugen_error expected = {0}, err = {0};
  size_t done;
  for (int i = 0; i < SLOTS * EXPR_BLOCK; i++) block[i] = random_value(state, i / EXPR_BLOCK);
  const size_t right = one_by_one(expr, block, buffers, count, want, &expected);
  const int status = expr_eval_block(expr, block, buffers, count, got, &done, &err);
  if (done != right || (status != CUGEN_OK) != (right < count) ||
      strcmp(err.message, expected.message) != 0)
    fail_msg("%s: %zu of %zu, not %zu: %s, not %s", expr_text(expr), done, count, right,
             err.message, expected.message);
  for (size_t k = 0; k < done; k++)
    if (!same_value(&want[k], &got[k])) fail_msg("%s: element %zu", expr_text(expr), k);
}

/* A block gives the same values as its elements one by one, although some of them take other
   paths than others; the first failure is the same, too. */
TEST_WITH(test_blocks, setup, NULL) {
  double real[EXTENT * EXTENT];
  int64_t whole[EXTENT * EXTENT];
  const struct expr_buffer buffers[] = {
      {.data = real, .load = load_real, .shape = {EXTENT, EXTENT}, .stride = {EXTENT, 1}},
      {.data = whole, .get = get_whole, .shape = {EXTENT, EXTENT}, .stride = {1, EXTENT}}};
  struct expr_scope scope = {find, names, NULL};
  uint64_t random = 5;
  const struct expr_extras elements = {.find_buffer = find_buffer};
  int plain = 0, read = 0;
  for (int i = 0; i < EXTENT * EXTENT; i++) real[i] = i / 3.0, whole[i] = i - 10;
  for (int i = 0; i < 6000; i++) {
    FREED(text) source = {0};
    struct expr *expr;
    random_expression(&random, 1 + i % 4, &source);
    if (expr_parse_with(text_get(&source), &scope, &elements, &expr, NULL) == CUGEN_OK) {
      const bool reads = strchr(text_get(&source), '[') != NULL;
      expect_equal_blocks(expr, reads ? buffers : NULL, &random);
      *(reads ? &read : &plain) += 1;
      expr_free(expr);
    }
  }
  assert_true(plain > 1000 && read > 200);
}
