/* Configs: what a file says arrives as said; every mistake is one message with its own line; nothing in a file can
   hang or crash the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system.h"
#include "gen/config.h"
#include "gen/config_declarations.h"
#include "gen/config_names.h"

/* ---- Helpers ---- */

static struct config *parse(const char *text) {
  struct config *config;
  cugen_error err;
  if (config_parse("c.lua", text, strlen(text), &config, &err)) fail_msg("%s", err.message);
  assert_non_null(config);
  return config;
}

static void expect_error(const char *text, const char *want) {
  struct config *config;
  cugen_error err;
  if (config_parse("c.lua", text, strlen(text), &config, &err) == CUGEN_OK) fail_msg("no error: %.300s", text);
  assert_null(config);
  assert_int_equal(err.status, CUGEN_ERROR_CONFIG);
  if (strncmp(err.message, want, strlen(want)) != 0) fail_msg("%.300s\n got: %s\nwant: %s", text, err.message, want);
  assert_int_equal(config_parse("c.lua", text, strlen(text), &config, NULL), CUGEN_ERROR_CONFIG);
}

/* The parts of a config that the test does not speak of. Line 1 opens the kernel, `body` begins at line 2. */
static char *with_rest(const char *body) {
  struct text text = {0};
  size_t end = strlen(body);
  while (end && (body[end - 1] == ' ' || body[end - 1] == '\n')) end--;
  text_addf(&text, "kernel \"k\" {\n%s%s\n", body, end && body[end - 1] == ',' ? "" : ",");
  if (!strstr(body, "output")) text_add(&text, "output \"C\" { dtype = \"f32\", shape = { 8 } },\n");
  if (!strstr(body, "reference")) text_add(&text, "reference \"none\",\n");
  if (!strstr(body, "implementation"))
    text_add(&text, "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } },\n");
  text_add(&text, "}\n");
  char *result = text_take(&text);
  assert_non_null(result);
  return result;
}

static struct config *parse_body(const char *body) {
  char *text = with_rest(body);
  struct config *config = parse(text);
  free(text);
  return config;
}

static void expect_body_error(const char *body, const char *want) {
  char *text = with_rest(body);
  expect_error(text, want);
  free(text);
}

/* An implementation with `parts` from line 2 on. */
static void expect_parts_error(const char *parts, const char *want) {
  struct text body = {0};
  text_addf(&body, "problem \"N\" (64), implementation \"i\" { %s }", parts);
  assert_false(body.failed);
  expect_body_error(text_get(&body), want);
  text_free(&body);
}

static const struct device_facts facts = {.warp_size = 32, .max_threads_per_block = 1024, .pitch_alignment = 512};

static struct value *slots_of(const struct config *config, const struct problem *problem) {
  struct value *slots = calloc(config_slot_count(config, NULL) + 1, sizeof *slots);
  assert_non_null(slots);
  config_slots(config, problem, &facts, slots);
  for (size_t i = 0; i < config->shared_tunable_count; i++)
    slots[(size_t)config->first_tunable + i] = config->shared_tunables[i].values[0];
  return slots;
}

static int evaluate(const struct config *config, const char *const *settings, size_t count,
                    struct kernel_argument *out, cugen_error *err) {
  struct problem problem;
  int status = problem_set(config, settings, count, false, &problem, err);
  if (status) return status;
  struct value *slots = slots_of(config, &problem);
  status = config_arguments(config, slots, out, err);
  free(slots);
  problem_free(&problem);
  return status;
}

/* ---- The language ---- */

static const char transpose[] =
    "kernel \"transpose\" {\n"
    "  problem \"rows\"  (8192),\n"
    "  problem \"cols\"  (8192),\n"
    "  problem \"dtype\" { \"f32\", \"f64\", \"f16\" },\n"
    "  check   { rows = 96, cols = 200 },\n"
    "\n"
    "  input  \"A\" { dtype = \"dtype\", shape = { \"rows\", \"cols\" } },\n"
    "  output \"B\" { dtype = \"dtype\", shape = { \"cols\", \"rows\" }, tolerance = \"0\" },\n"
    "\n"
    "  reference \"naive_f64.cu:transpose\",\n"
    "  bytes     \"2 * rows * cols * sizeof(dtype)\",\n"
    "\n"
    "  implementation \"naive\" {\n"
    "    template \"transpose_naive.cu\",\n"
    "    tunable \"block_x\" { 16, 32 },\n"
    "    tunable \"block_y\" { 8, 16, 32 },\n"
    "    grid  { \"ceil_div(cols, block_x)\", \"ceil_div(rows, block_y)\" },\n"
    "    block { \"block_x\", \"block_y\" },\n"
    "  },\n"
    "\n"
    "  implementation \"tiled\" {\n"
    "    template \"transpose_tiled.cu\",\n"
    "    tunable \"tile\"            { 32, 64, 128 },\n"
    "    tunable \"rows_per_thread\" { 1, 4, 8 },\n"
    "    tunable \"vec\"             { 1, 2, 4 },\n"
    "    tunable \"swizzle\"         { \"none\", \"pad\", \"xor\" },\n"
    "    derive  \"threads_x\"       \"tile // vec\",\n"
    "    derive  \"threads_y\"       \"tile // rows_per_thread\",\n"
    "    where   \"threads_x * threads_y <= device.max_threads_per_block\",\n"
    "    where   \"cols % vec == 0 and rows % vec == 0\",\n"
    "    grid  { \"ceil_div(cols, tile)\", \"ceil_div(rows, tile)\" },\n"
    "    block { \"threads_x\", \"threads_y\" },\n"
    "  },\n"
    "}\n";

static void reads_the_design_example(void **state) {
  (void)state;
  struct config *c = parse(transpose);
  assert_string_equal(c->name, "transpose");
  assert_string_equal(c->path, "c.lua");
  assert_int_equal(c->problem_count, 3);
  assert_string_equal(c->problems[1].name, "cols");
  assert_int_equal(c->problems[1].line, 3);
  assert_false(c->problems[1].listed);
  assert_true(c->problems[2].listed);
  assert_int_equal(c->problems[2].value_count, 3);
  assert_string_equal(c->problems[2].values[2].string, "f16");
  assert_int_equal(c->problems[0].check.integer, 96);
  assert_int_equal(c->problems[2].check.type, VALUE_NIL);
  assert_int_equal(c->first_problem, DEVICE_FACT_COUNT);
  assert_int_equal(c->first_tunable, DEVICE_FACT_COUNT + 3);
  assert_int_equal(c->argument_count, 2);
  assert_int_equal(c->arguments[1].kind, CUGEN_ARGUMENT_OUTPUT);
  assert_int_equal(c->arguments[1].line, 8);
  assert_null(c->arguments[0].dtype.word);
  assert_non_null(c->arguments[1].tolerance);
  assert_string_equal(c->reference, "naive_f64.cu");
  assert_string_equal(c->reference_entry, "transpose");
  assert_int_equal(c->reference_line, 10);
  assert_null(c->flops);
  assert_string_equal(expr_text(c->bytes), "2 * rows * cols * sizeof(dtype)");
  const struct config_implementation *tiled = &c->implementations[1];
  assert_int_equal(c->implementation_count, 2);
  assert_int_equal(tiled->line, 21);
  assert_string_equal(tiled->template_name, "transpose_tiled.cu");
  assert_int_equal(tiled->template_line, 22);
  assert_int_equal(tiled->tunable_count, 4);
  assert_int_equal(tiled->tunables[3].line, 26);
  assert_string_equal(tiled->tunables[3].values[1].string, "pad");
  assert_int_equal(tiled->derived_count, 2);
  assert_int_equal(tiled->derived[1].line, 28);
  assert_int_equal(tiled->restriction_count, 2);
  assert_int_equal(tiled->restrictions[0].line, 29);
  assert_int_equal(tiled->launch_count, 1);
  assert_int_equal(tiled->launches[0].line, 31);
  assert_non_null(tiled->launches[0].grid[1]);
  assert_null(tiled->launches[0].grid[2]);
  assert_null(tiled->launches[0].entry);
  config_close(c);
}

static void shared_parts_come_first(void **state) {
  (void)state;
  struct config *c =
      parse_body("problem \"N\" (64), where \"a < N\", tunable \"a\" { 1, 2 }, derive \"d\" \"a + 1\",\n"
                 "implementation \"i\" { template \"t.cu\", tunable \"b\" { true, \"x\", 7 },\n"
                 "  derive \"e\" \"d + a\", where \"e < 9\", requires \"device.warp_size == N // 2\",\n"
                 "  grid { \"e\" }, block { 32 }, shared \"4 * d\", entry \"main_kernel\" },\n"
                 "implementation \"j\" { template \"t.cu\", tunable \"b\" { 3 }, grid { 1 }, block { 1 } }");
  const struct config_implementation *i = &c->implementations[0], *j = &c->implementations[1];
  assert_int_equal(c->shared_tunable_count, 1);
  assert_int_equal(i->tunable_count, 2);
  assert_string_equal(i->tunables[0].name, "a");
  assert_string_equal(i->tunables[1].name, "b");
  assert_int_equal(i->tunables[1].values[0].type, VALUE_BOOL);
  assert_int_equal(i->derived_count, 2);
  assert_string_equal(i->derived[0].name, "d");
  assert_int_equal(i->restriction_count, 2);
  assert_int_equal(i->requirement_count, 1);
  assert_string_equal(i->launches[0].entry, "main_kernel");
  assert_int_equal(j->derived_count, 1);
  assert_int_equal(j->restriction_count, 1);
  assert_int_equal(config_slot_count(c, i), (size_t)c->first_tunable + 2);
  struct value slots[DEVICE_FACT_COUNT + 3];
  struct problem problem;
  assert_int_equal(problem_set(c, NULL, 0, false, &problem, NULL), CUGEN_OK);
  config_slots(c, &problem, &facts, slots);
  slots[c->first_tunable] = value_int(5);
  slots[c->first_tunable + 1] = value_int(3);
  int64_t got;
  assert_int_equal(expr_eval_int(i->launches[0].grid[0], slots, &got, NULL), CUGEN_OK);
  assert_int_equal(got, 11);
  assert_int_equal(expr_eval_int(i->launches[0].shared, slots, &got, NULL), CUGEN_OK);
  assert_int_equal(got, 24);
  bool met;
  assert_int_equal(expr_eval_bool(i->requirements[0].expr, slots, &met, NULL), CUGEN_OK);
  assert_true(met);
  problem_free(&problem);
  config_close(c);
}

static void several_launches(void **state) {
  (void)state;
  struct config *c =
      parse_body("implementation \"i\" { template \"t.cu\",\n"
                 "launch { entry = \"one\", grid = { 4, 5, 6 }, block = { 64 }, shared = \"3 * 4\" },\n"
                 "launch { entry \"two<32>\", grid { 7 }, block { 128 } } }");
  const struct config_implementation *i = &c->implementations[0];
  assert_int_equal(i->launch_count, 2);
  assert_string_equal(i->launches[0].entry, "one");
  assert_int_equal(i->launches[0].line, 3);
  assert_non_null(i->launches[0].grid[2]);
  assert_non_null(i->launches[0].shared);
  assert_string_equal(i->launches[1].entry, "two<32>");
  assert_int_equal(i->launches[1].line, 4);
  assert_null(i->launches[1].shared);
  config_close(c);
}

static void lua_helps(void **state) {
  (void)state;
  struct config *c = parse("local sizes = {}\n"
                           "for i = 3, 6 do sizes[#sizes + 1] = 2 ^ i // 1 | 0 end\n"
                           "local function square(name, side)\n"
                           "  return implementation(name) { template \"t.cu\", tunable \"t\" (sizes),\n"
                           "    grid { side }, block { \"t\" } }\n"
                           "end\n"
                           "kernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 8 } }, reference \"none\",\n"
                           "  square(\"a\", 1), square(\"b\", \"t * 2\") }\n");
  assert_int_equal(c->implementation_count, 2);
  assert_int_equal(c->implementations[1].tunables[0].value_count, 4);
  assert_int_equal(c->implementations[1].tunables[0].values[3].integer, 64);
  assert_null(c->reference);
  assert_int_equal(c->reference_line, 7);
  config_close(c);
  config_close(
      parse("\xef\xbb\xbfkernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 8 } }, reference \"none\",\n"
            "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } } }"));
}

/* ---- Policies ---- */

static void expect_policy(const char *policy, const char *want) {
  struct text body = {0}, printed = {0};
  text_addf(&body, "problem \"M\" (64), problem \"N\" { 8, 16, 32 }, problem \"dtype\" { \"f32\" }, %s", policy);
  struct config *c = parse_body(text_get(&body));
  policy_print(c, &printed);
  assert_string_equal(text_get(&printed), want);
  config_close(c);
  text_free(&body);
  text_free(&printed);
}

static void policies(void **state) {
  (void)state;
  expect_policy("", "exact");
  expect_policy("policy \"exact\"", "exact");
  expect_policy("policy \"nearest\" { distance = 1 }", "nearest { distance = 1 }");
  expect_policy("policy \"nearest\" { distance = 0.25 }", "nearest { distance = 0.25 }");
  expect_policy("policy \"buckets\" { N = { 8, 32 }, M = { 1 } }", "buckets { M = { 1 }, N = { 8, 32 } }");
}

static void expect_bucket(const struct config *c, const char *size, const char *want) {
  const char *settings[] = {size, "dtype=f64"};
  struct problem problem, bucket;
  struct text printed = {0};
  assert_int_equal(problem_set(c, settings, 2, false, &problem, NULL), CUGEN_OK);
  assert_int_equal(problem_bucket(c, &problem, &bucket, NULL), CUGEN_OK);
  problem_free(&problem);
  problem_print(c, &bucket, &printed);
  assert_string_equal(text_get(&printed), want);
  problem_free(&bucket);
  text_free(&printed);
}

static void sizes_round_up_to_their_bucket(void **state) {
  (void)state;
  struct config *c = parse_body("problem \"M\" (64), problem \"K\" (7), problem \"dtype\" { \"f32\", \"f64\" },\n"
                                "policy \"buckets\" { M = { 64, 256, 1024 } },");
  assert_int_equal(c->policy.kind, POLICY_BUCKETS);
  expect_bucket(c, "M=1", "M=64 K=7 dtype=f64");
  expect_bucket(c, "M=64", "M=64 K=7 dtype=f64");
  expect_bucket(c, "M=65", "M=256 K=7 dtype=f64");
  expect_bucket(c, "M=1024", "M=1024 K=7 dtype=f64");
  expect_bucket(c, "M=9223372036854775807", "M=1024 K=7 dtype=f64");
  expect_bucket(c, "M=0", "M=0 K=7 dtype=f64");
  expect_bucket(c, "K=100", "M=64 K=100 dtype=f64");
  config_close(c);
}

static void expect_policy_error(const char *policy, const char *want) {
  struct text body = {0};
  text_addf(&body, "problem \"M\" (64), problem \"N\" { 8, 16 }, problem \"x\" (0.5),\n%s", policy);
  expect_body_error(text_get(&body), want);
  text_free(&body);
}

static void wrong_policies(void **state) {
  (void)state;
  expect_policy_error("policy \"nearst\" {}",
                      "c.lua:3: policy 'nearst' is none of exact, nearest, buckets (nearest 'nearest')");
  expect_policy_error("policy \"exact\" {}", "c.lua:3: policy \"exact\" takes nothing more: policy \"exact\"");
  expect_policy_error("policy \"exact\", policy \"exact\"", "c.lua:3: policy stands here twice");
  expect_policy_error("policy \"nearest\"",
                      "c.lua:3: policy \"nearest\" needs its values in braces: policy \"nearest\" { distance = 1 }");
  expect_policy_error("policy \"nearest\" {}", "c.lua:3: policy \"nearest\" has no distance: policy \"nearest\"");
  expect_policy_error("policy \"nearest\" { distanse = 1 }",
                      "c.lua:3: unknown field 'distanse' of policy \"nearest\" (nearest 'distance')");
  expect_policy_error("policy \"nearest\" { distance = 0 }",
                      "c.lua:3: distance of policy \"nearest\" is a number above 0, the largest |log2| of a ratio");
  expect_policy_error("policy \"nearest\" { distance = 1 / 0 }",
                      "c.lua:3: distance of policy \"nearest\" has a value that is no finite number");
  expect_policy_error("policy \"buckets\"", "c.lua:3: policy \"buckets\" needs its values in braces: policy");
  expect_policy_error("policy \"buckets\" {}", "c.lua:3: policy \"buckets\" names no problem: policy \"buckets\" {");
  expect_policy_error("policy \"buckets\" { MM = { 1 } }",
                      "c.lua:3: policy names 'MM', which is no problem of this kernel (nearest 'M')");
  expect_policy_error("policy \"buckets\" { x = { 1 } }",
                      "c.lua:3: policy names problem \"x\", which is no whole number: only sizes have buckets");
  expect_policy_error("policy \"buckets\" { M = 64 }",
                      "c.lua:3: policy's list for problem \"M\" needs its values in braces: { 16, 32 }");
  expect_policy_error("policy \"buckets\" { M = { 4, 8, 7 } }",
                      "c.lua:3: policy gives problem \"M\" the bound 7 after 8: bounds rise");
  expect_policy_error("policy \"buckets\" { M = { 0, 8 } }",
                      "c.lua:3: policy gives problem \"M\" the bound 0: bounds are whole numbers from 1 up");
  expect_policy_error("policy \"buckets\" { M = { 1.5 } }",
                      "c.lua:3: policy gives problem \"M\" the bound 1.5: bounds are whole numbers from 1 up");
  expect_policy_error("policy \"buckets\" { N = { 8, 12 } }",
                      "c.lua:3: policy gives problem \"N\" the bound 12, which is not in its list at line 2");
}

/* The first example of docs/config.md. */
static void the_manual_is_right(void **state) {
  (void)state;
  struct text manual = {0}, example = {0};
  assert_int_equal(file_read("docs/config.md", &manual, NULL), CUGEN_OK);
  const char *begin = strstr(text_get(&manual), "```lua\n");
  assert_non_null(begin);
  begin += strlen("```lua\n");
  const char *end = strstr(begin, "```");
  assert_non_null(end);
  text_add_n(&example, begin, (size_t)(end - begin));
  struct config *c = parse(text_get(&example));
  assert_string_equal(c->name, "transpose");
  assert_int_equal(c->argument_count, 4);
  config_close(c);
  /* Every declaration and device fact is in it. */
  for (int i = 0; i < KEYWORD_COUNT; i++) assert_non_null(strstr(text_get(&manual), config_keywords[i].name));
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    assert_non_null(strstr(text_get(&manual), strchr(device_fact_names[i], '.') + 1));
  text_free(&manual);
  text_free(&example);
}

/* ---- Mistakes ---- */

static void lua_errors(void **state) {
  (void)state;
  expect_error("", "c.lua:1: no kernel is declared: kernel \"matmul\" { ... }");
  expect_error("kernel \"k\" {\n  problem \"M\" (1)\n  problem \"N\" (1)\n}",
               "c.lua:3: '}' expected (to close '{' at line 1) near 'problem'; is a comma missing before it?");
  expect_error("kernel \"k\" {\n  x = = 2\n}", "c.lua:2: unexpected symbol near '='");
  expect_error("\nerror('no')", "c.lua:2: no");
  expect_error("\nlocal x = nil + 1", "c.lua:2: attempt to perform arithmetic on a nil value");
  expect_error("\x1bLua", "c.lua:1: attempt to load a binary chunk");
}

static void names_not_known(void **state) {
  (void)state;
  expect_error("kernel \"k\" {\n  problm \"M\" (1)\n}", "c.lua:2: unknown declaration 'problm' (nearest 'problem')");
  expect_error("\nkernle \"k\" {}", "c.lua:2: unknown declaration 'kernle' (nearest 'kernel')");
  expect_body_error("input \"A\" { dtype = f32, shape = { 1 } },",
                    "c.lua:2: unknown name 'f32'; sizes, tunables and words stand in quotes: \"f32\"");
  expect_error("\nprint('x')", "c.lua:2: unknown name 'print'");
  expect_error("\nos.exit()", "c.lua:2: unknown name 'os'");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, patch = 3 },",
                    "c.lua:3: unknown attribute 'patch' of input \"A\" (nearest 'pitch')");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, colour = 3 },",
                    "c.lua:3: unknown attribute 'colour' of input \"A\"; attributes are dtype, shape, layout, pitch");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, 3 },", "c.lua:3: a value without 'name ='");
  expect_body_error("problem \"M\" (1),\ninput \"A\" { dtype = \"f23\", shape = { \"M\" } },",
                    "c.lua:3: dtype of \"A\" is 'f23', which is neither one of f64, f32,");
  expect_body_error(
      "problem \"type\" { \"f32\" },\ninput \"A\" { dtype = \"typ\", shape = { 1 } },",
      "c.lua:3: dtype of \"A\" is 'typ', which is neither one of f64, f32, f16, bf16, i8, i16, i32, i64, u8, "
      "u16, u32, u64 nor a name with such a value (nearest 'type')");
  expect_body_error("input \"A\" { dtype = \"f32\",\nshape = { \"rows\" } },",
                    "c.lua:2: shape of \"A\": unknown name \"rows\"");
  expect_body_error("problem \"rows\" (3), input \"A\" { dtype = \"f32\", shape = { \"rowz\" } },",
                    "c.lua:2: shape of \"A\": unknown name \"rowz\"; did you mean \"rows\"?");
  expect_parts_error("template \"t\", tunable \"a\" { 1 },\nwhere \"b > 1\", grid { 1 }, block { 1 }",
                     "c.lua:3: where: unknown name \"b\"");
  expect_parts_error("template \"t\",\nwhere \"device.sm_cout > 1\", grid { 1 }, block { 1 }",
                     "c.lua:3: where: unknown name \"device.sm_cout\"; did you mean \"device.sm_count\"?");
  expect_parts_error("template \"t\",\ngrid { \"ceil_dv(N, 2)\" }, block { 1 }",
                     "c.lua:3: grid: unknown function \"ceil_dv\"; did you mean \"ceil_div\"?");
}

static void derived_names_follow_their_declaration(void **state) {
  (void)state;
  expect_parts_error("template \"t\", where \"d > 1\",\nderive \"d\" \"N\", grid { 1 }, block { 1 }",
                     "c.lua:2: where: unknown name \"d\"");
  expect_parts_error("template \"t\",\nderive \"d\" \"d + 1\", grid { 1 }, block { 1 }",
                     "c.lua:3: derive \"d\": unknown name \"d\"");
  /* A tunable of one implementation is not seen in the next. */
  expect_body_error("implementation \"a\" { template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 } },\n"
                    "implementation \"b\" { template \"t\", grid { \"x\" }, block { 1 } },",
                    "c.lua:3: grid: unknown name \"x\"");
}

static void names_that_break_cuda(void **state) {
  (void)state;
  static const char *const names[] = {
      "int",   "threadIdx",  "warpSize",    "min",       "printf",       "float4",   "__half", "NULL",  "INFINITY",
      "end",   "ceil_div",   "index_t",     "params",    "samples",      "device",   "half",   "sinf",  "sqrt",
      "_Bool", "cudaMalloc", "double4_32a", "atomicAdd", "sample_count", "template", "nil",    "assert"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct text body = {0}, want = {0};
    text_addf(&body, "\nproblem \"%s\" (1),", names[i]);
    text_addf(&want, "c.lua:3: '%s' cannot be a macro name: ", names[i]);
    expect_body_error(text_get(&body), text_get(&want));
    text_free(&body);
    text_free(&want);
  }
  expect_body_error("\nproblem \"int\" (1),", "c.lua:3: 'int' cannot be a macro name: it is a C++ keyword");
  expect_body_error("\ntunable \"blockDim\" { 1 },",
                    "c.lua:3: 'blockDim' cannot be a macro name: it is a name of CUDA");
  expect_body_error("\nderive \"pow\" \"1\",",
                    "c.lua:3: 'pow' cannot be a macro name: it is a mathematical function");
  expect_body_error("\ninput \"class\" { dtype = \"f32\", shape = { 1 } },", "c.lua:3: 'class' cannot be");
  expect_body_error("\nproblem \"2x\" (1),", "c.lua:3: '2x' cannot be a name: names have letters");
  expect_body_error("\nproblem \"a b\" (1),", "c.lua:3: 'a b' cannot be a name");
  expect_body_error("\nproblem \"\" (1),", "c.lua:3: '' cannot be a name");
  expect_body_error("\nproblem \"gr\xc3\xb6\xc3\x9f"
                    "e\" (1),",
                    "c.lua:3: 'gr");
  /* Near misses are fine; a scalar may have the name of a function that only expressions know. */
  config_close(
      parse_body("problem \"float5\" (1), tunable \"BM\" { 1 }, problem \"cuda_x\" (1), problem \"printed\" (2),\n"
                 "derive \"half_way\" \"1\", scalar \"eps\" { dtype = \"f32\", value = \"1e-5\" },"));
}

static void reserved_names_are_sorted(void **state) {
  (void)state;
  const char *const *names;
  size_t count, groups = 0;
  for (size_t group = 0; names_reserved(group, &names, &count); group++, groups++) {
    assert_true(count > 0);
    for (size_t i = 1; i < count; i++)
      if (strcmp(names[i - 1], names[i]) >= 0) fail_msg("%s stands before %s", names[i - 1], names[i]);
    for (size_t i = 0; i < count; i++) assert_non_null(names_refused(names[i], true));
  }
  assert_true(groups >= 9);
}

static void names_that_are_taken(void **state) {
  (void)state;
  expect_body_error("problem \"M\" (1),\nproblem \"M\" (2),",
                    "c.lua:3: the name 'M' is taken by the problem at line 2");
  expect_body_error("problem \"M\" (1),\ntunable \"M\" { 2 },",
                    "c.lua:3: the name 'M' is taken by the problem at line 2");
  expect_body_error("tunable \"M\" { 1 },\nderive \"M\" \"2\",",
                    "c.lua:3: the name 'M' is taken by the tunable at line 2");
  expect_body_error("problem \"A\" (1),\ninput \"A\" { dtype = \"f32\", shape = { 1 } },",
                    "c.lua:3: the name 'A' is taken by the problem at line 2");
  expect_body_error("problem \"M\" (1), scalar \"M\" {},\nscalar \"M\" {},",
                    "c.lua:3: the name 'M' is taken by the argument");
  expect_body_error("problem \"M\" (1),\nscalar \"M\" { value = \"3\" },",
                    "c.lua:3: the name 'M' is taken by the problem");
  expect_body_error("problem \"A_t\" (1),\ninput \"A\" { dtype = \"f32\", shape = { 1 } },",
                    "c.lua:2: the name 'A_t' is taken: templates get it from the argument 'A' at line 3");
  expect_body_error("tunable \"C_stride3\" { 1 }, ", "c.lua:2: the name 'C_stride3' is taken");
  expect_body_error("implementation \"i\" { template \"t\", grid { 1 }, block { 1 },\nderive \"C_pitch\" \"1\" },",
                    "c.lua:3: the name 'C_pitch' is taken");
  expect_parts_error("template \"t\",\ntunable \"N\" { 2 }, grid { 1 }, block { 1 }",
                     "c.lua:3: the name 'N' is taken by the problem at line 2");
  expect_body_error("implementation \"i\" { template \"t\", grid { 1 }, block { 1 } },\n"
                    "implementation \"i\" { template \"t\", grid { 1 }, block { 1 } },",
                    "c.lua:3: the name 'i' is taken by the implementation at line 2");
  config_close(
      parse_body("problem \"M\" (1), tunable \"T\" { 3 }, scalar \"M\" {}, scalar \"T\" { specialize = true },"));
}

static void misplaced_declarations(void **state) {
  (void)state;
  expect_body_error("\ntemplate \"t.cu\",", "c.lua:3: template stands in an implementation, not in a kernel");
  expect_body_error("\ngrid { 1 },", "c.lua:3: grid stands in a launch, not in a kernel");
  expect_body_error("\nrequires \"1 == 1\",", "c.lua:3: requires stands in an implementation");
  expect_parts_error("template \"t\",\nproblem \"x\" (1), grid { 1 }, block { 1 }",
                     "c.lua:3: problem stands in a kernel, not in an implementation");
  expect_error("kernel \"k\" {\n kernel \"l\" {} }", "c.lua:2: a second kernel");
  expect_error("kernel \"k\" {}\nkernel \"l\" {}", "c.lua:2: a second kernel: one file describes one");
  expect_error("kernel \"k\" {}\ntunable \"x\" { 1 }", "c.lua:2: tunable stands outside of the kernel's braces");
  expect_error("kernel \"k\" {}\ntunable \"x\"",
               "c.lua:2: tunable has a name but no value: tunable \"tile\" { 16, 32 }");
  expect_error("local t = tunable \"x\"\nkernel \"k\" {}",
               "c.lua:1: tunable has a name but no value: tunable \"tile\"");
  expect_body_error("\nproblem \"M\",", "c.lua:3: problem has a name but no value: problem \"M\" (4096)");
  expect_body_error("\n42,", "c.lua:1: number 1 in kernel \"k\" is a number: declarations are calls");
  expect_body_error("name = 3,", "c.lua:1: kernel \"k\" has a field 'name = ...'");
  expect_body_error("nil, problem \"M\" (1),", "c.lua:1: kernel \"k\" has nil in its list");
  expect_body_error("check { },\ncheck { },", "c.lua:3: check stands here twice: it is at line 2 already");
  expect_parts_error("template \"t\", grid { 1 },\ngrid { 1 }, block { 1 }", "c.lua:3: grid stands here twice");
  expect_error("\nkernel \"k\" (3)", "c.lua:2: kernel \"k\" needs a list of declarations in braces, not a number");
  expect_error("\nkernel \"a b\" {}", "c.lua:2: 'a b' cannot name a kernel");
  expect_error("\nkernel \"\" {}", "c.lua:2: '' cannot name a kernel");
  expect_parts_error("template \"t\", grid { 1 }, block { 1 } },\nimplementation \"a-b\" { ",
                     "c.lua:3: 'a-b' cannot name an implementation");
}

static void wrong_calls(void **state) {
  (void)state;
  expect_body_error("\nproblem (4096),", "c.lua:3: problem takes a name first: problem \"M\" (4096)");
  expect_body_error("\nproblem \"M\" (1, 2),", "c.lua:3: problem takes one value, a list stands in braces");
  expect_body_error("\nproblem \"M\" (nil),", "c.lua:3: problem has the value nil");
  expect_body_error("\nproblem \"M\" (1) (2),", "c.lua:3: problem has its value already; is a comma missing?");
  expect_body_error("\ncheck (nil),", "c.lua:3: check has the value nil");
  expect_body_error("\nwhere(\"1\", \"2\"),", "c.lua:3: where takes one value");
  expect_error("\nlocal p = problem \"M\" (1)\nlocal q = p.line", "c.lua:3: attempt to index a userdata value");
}

static void missing_pieces(void **state) {
  (void)state;
  expect_error("\nkernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 1 } }, reference \"none\" }",
               "c.lua:2: kernel \"k\" has no implementation: implementation \"tiled\" { ... }");
  expect_error(
      "\nkernel \"k\" { reference \"none\", implementation \"i\" { template \"t\", grid { 1 }, block { 1 } } }",
      "c.lua:2: kernel \"k\" has no output");
  expect_error("\nkernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 1 } },\n"
               "implementation \"i\" { template \"t\", grid { 1 }, block { 1 } } }",
               "c.lua:2: kernel \"k\" has no reference: reference \"matmul_reference.cu\"");
  expect_parts_error("grid { 1 }, block { 1 }", "c.lua:2: implementation \"i\" has no template: template");
  expect_parts_error("template \"t\", block { 1 }", "c.lua:2: implementation \"i\" has no grid: grid {");
  expect_parts_error("template \"t\",\ngrid { 1 }", "c.lua:3: implementation \"i\" has no block: block {");
  expect_parts_error("template \"t\",\nlaunch { entry \"x\", block { 1 } }", "c.lua:3: launch has no grid");
  expect_body_error("\ninput \"A\" { shape = { 1 } },", "c.lua:3: input \"A\" has no dtype");
  expect_body_error("\ninput \"A\" { dtype = \"f32\" },", "c.lua:3: input \"A\" has no shape");
  expect_body_error("\nscalar \"alpha\" { dtype = \"f32\" },", "c.lua:3: scalar \"alpha\" has no value");
  expect_parts_error("template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 } },\nscalar \"x\" { ",
                     "c.lua:3: scalar \"x\" has no value");
  expect_body_error("problem \"rows\" (1),\ncheck { row = 3 },",
                    "c.lua:3: check names 'row', which is no problem of this kernel (nearest 'rows')");
}

static void wrong_values(void **state) {
  (void)state;
  expect_body_error("\ntunable \"t\" { 1.5 },",
                    "c.lua:3: tunable \"t\" has the value 1.5: tunables are whole numbers");
  expect_body_error("\ntunable \"t\" { 4, 8, 4 },", "c.lua:3: tunable \"t\" has the value 4 twice");
  expect_body_error("\ntunable \"t\" { \"a\", \"b\", \"a\" },", "c.lua:3: tunable \"t\" has the value a twice");
  expect_body_error("\ntunable \"t\" { },", "c.lua:3: tunable \"t\" has an empty list of values");
  expect_body_error("\ntunable \"t\" { 1, nil, 2 },", "c.lua:3: tunable \"t\" has nil or a field");
  expect_body_error("\ntunable \"t\" { 1, x = 2 },", "c.lua:3: tunable \"t\" has nil or a field");
  expect_body_error("\ntunable \"t\" (4),", "c.lua:3: tunable \"t\" needs its values in braces: { 16, 32 }");
  expect_body_error("\ntunable \"t\" { {} },", "c.lua:3: tunable \"t\" has a value of type table");
  expect_body_error("\ntunable \"t\" { function() end },", "c.lua:3: tunable \"t\" has a value of type function");
  expect_body_error("\ntunable \"t\" { \"a b\" },",
                    "c.lua:3: tunable \"t\" cannot be the string 'a b': it has a space");
  expect_body_error("\ntunable \"t\" { \"16\" },",
                    "c.lua:3: tunable \"t\" cannot be the string '16': write it without");
  expect_body_error("\ntunable \"t\" { \"true\" },", "c.lua:3: tunable \"t\" cannot be the string 'true'");
  expect_body_error("\ntunable \"t\" { \"a\\0b\" },",
                    "c.lua:3: tunable \"t\" cannot be the string 'a': it has a NUL");
  expect_body_error("\nproblem \"M\" { 1, \"x\" },", "c.lua:3: problem \"M\" mixes types of values");
  expect_body_error("\nproblem \"M\" (0/0),", "c.lua:3: problem \"M\" has a value that is no finite number");
  expect_body_error("problem \"M\" (1),\ncheck { M = \"x\" },", "c.lua:3: check gives problem \"M\" the value x");
  expect_body_error("problem \"M\" { 1, 2 },\ncheck { M = 3 },",
                    "c.lua:3: check gives problem \"M\" the value 3, which is not in its list at line 2");
  expect_body_error("problem \"M\" (1),\ncheck \"M\",", "c.lua:3: check needs its values in braces");
  config_close(parse_body("tunable \"t\" { \"nan\", 1, true, \"16x16\" }, problem \"alpha\" (0.5),"));
}

static void wrong_expressions(void **state) {
  (void)state;
  expect_body_error("\nflops (function() return 1 end),",
                    "c.lua:3: flops is a function: an expression is a string such as \"ceil_div(N, tile)\"");
  expect_body_error("\nflops \"2 *\",", "c.lua:3: flops: expected a value, found the end");
  expect_body_error("\nflops \"2 \\0 3\",", "c.lua:3: flops: ");
  expect_body_error("\nbytes { 1 },", "c.lua:3: bytes is a table");
  expect_parts_error("template \"t\",\ngrid { }, block { 1 }", "c.lua:3: grid is a list of 1 to 3 expressions");
  expect_parts_error("template \"t\",\ngrid { 1, 2, 3, 4 }, block { 1 }", "c.lua:3: grid is a list of 1 to 3");
  expect_parts_error("template \"t\",\ngrid \"N\", block { 1 }", "c.lua:3: grid is a list of 1 to 3");
  expect_parts_error("template \"t\",\ngrid { x = 1 }, block { 1 }", "c.lua:3: grid is a list of 1 to 3");
  expect_parts_error("template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 },\nrequires \"x == 1\"",
                     "c.lua:3: requires speaks of the device and the problem");
  expect_parts_error("template (3),\ngrid { 1 }, block { 1 }",
                     "c.lua:2: template must be a string in quotes, not number");
  expect_body_error("\nreference \":x\",", "c.lua:3: reference ':x' is no \"file.cu\"");
  expect_parts_error("template \"t\", launch { grid { 1 }, block { 1 } },\nblock { 1 }",
                     "c.lua:3: block stands beside launch { ... }");
  expect_parts_error("template \"t\",\nlaunch { grid { 1 }, grid = { 1 }, block { 1 } }",
                     "c.lua:3: launch has grid twice");
  expect_parts_error("template \"t\",\nlaunch { grd = { 1 }, block { 1 } }", "c.lua:3: launch has no 'grd'");
}

static void wrong_tensors(void **state) {
  (void)state;
  static const char rest[] = ", template \"t\", grid { 1 }, block { 1 }";
  static const struct {
    const char *tensor, *want;
  } cases[] = {
      {"tensor \"B\" { box = { 8 } }", "c.lua:2: tensor names 'B', which is no argument of this kernel"},
      {"tensor \"s\" { box = { 8 } }", "c.lua:2: tensor \"s\": a scalar has no tensor map, only buffers have"},
      {"tensor \"A\" { swizzle = 128 }", "c.lua:2: tensor \"A\" has no box: tensor \"A\" { box = "},
      {"tensor \"A\" { box = { 8 } }", "c.lua:2: tensor \"A\" has a box of 1 dimensions, the argument has 2"},
      {"tensor \"A\" { box = { 8, 8 }, fill = 0 }", "c.lua:2: unknown attribute 'fill' of tensor \"A\""},
      {"tensor \"A\" (8)", "c.lua:2: tensor \"A\" needs its attributes in braces"},
      {"tensor \"A\" { box = { 8, 8 } },\ntensor \"A\" { box = { 8, 8 } }",
       "c.lua:3: tensor \"A\" stands at line 2 already"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text content = {0};
    text_addf(&content,
              "kernel \"k\" { output \"A\" { dtype = \"f32\", shape = { 8, 8 } }, scalar \"s\" { value = 1 },\n"
              "implementation \"i\" { %s%s }, reference \"none\" }",
              cases[i].tensor, rest);
    expect_error(text_get(&content), cases[i].want);
    text_free(&content);
  }
}

static void wrong_attributes(void **state) {
  (void)state;
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, tolerance = 0 },",
                    "c.lua:3: input \"A\" cannot have 'tolerance'");
  expect_body_error("\noutput \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"texture\" },",
                    "c.lua:3: output \"A\" cannot have 'access'");
  expect_body_error("\nconstant \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"texture\" },",
                    "c.lua:3: access of \"A\" is 'texture', which is neither one of constant, global nor");
  expect_body_error("\nscalar \"s\" { value = 1, shape = { 1 } },", "c.lua:3: scalar \"s\" cannot have 'shape'");
  expect_body_error("\ninput \"A\" { dtype = \"index\", shape = { 1 } },", "c.lua:3: dtype of \"A\" is 'index'");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1, 2, 3, 4, 5 } },",
                    "c.lua:3: shape of \"A\" is a list of 1 to 4 expressions");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = \"8\" },", "c.lua:3: shape of \"A\" is a list");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, pitch = 8 },",
                    "c.lua:3: pitch of \"A\" needs a shape of two dimensions");
  expect_body_error(
      "\ninput \"A\" { dtype = \"f32\", shape = { 8 }, layout = \"cow\" },",
      "c.lua:3: layout of \"A\" is 'cow', which is neither one of row, col nor a name with such a value "
      "(nearest 'row')");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, memory = \"pined\" },",
                    "c.lua:3: memory of \"A\"");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, fill = 3 },",
                    "c.lua:3: fill of \"A\" must be a string");
  expect_body_error("\ninput \"A\" (3),", "c.lua:3: input \"A\" needs its attributes in braces");
}

/* ---- Attacks ---- */

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect_attack(const char *text, const char *want) {
  struct config *config;
  cugen_error err;
  double start = cpu_seconds();
  assert_int_equal(config_parse("c.lua", text, strlen(text), &config, &err), CUGEN_ERROR_CONFIG);
  double took = cpu_seconds() - start;
  if (!strstr(err.message, want)) fail_msg("%.300s\n got: %s\nwant: %s", text, err.message, want);
  if (took > 1.5) fail_msg("%.300s took %g s", text, took);
}

static void attacks_end(void **state) {
  (void)state;
  expect_attack("\nwhile true do end", "c.lua:2: gave up after");
  expect_attack("\nlocal s = 'x' while true do s = s .. s end", "c.lua:2: gave up: it takes more than 64 MiB");
  expect_attack("\nwhile true do problem \"M\" (1) end", "c.lua:2: gave up");
  expect_attack("\nlocal d = launch {} while true do d = launch { d } end", "c.lua:2: gave up");
  expect_attack("local d = launch {} for i = 1, 1e5 do d = launch { d } end kernel \"k\" { d }", "c.lua:1: ");
  expect_attack("local t = {} local i = implementation \"i\" (t) t[1] = i kernel \"k\" { i }", "c.lua:1: ");
  expect_attack("local t = {} kernel \"k\" (t) for i = 1, 1e5 do t[i] = 1 end",
                "c.lua:1: kernel \"k\" has more than 512");
  expect_attack("local t = {} for i = 1, 1e5 do t[i] = i end kernel \"k\" { tunable \"t\" (t) }",
                "c.lua:1: tunable \"t\" has more than 4096 values");
}

/* Large things mentioned many times. */
static void amplification_is_bounded(void **state) {
  (void)state;
  expect_attack("local v, t = {}, {} for i = 1, 4096 do v[i] = (i * 7919) % 8192 end\n"
                "for i = 1, 512 do t[i] = tunable('t' .. i)(v) end kernel \"k\" (t)",
                "the config is too large");
  expect_attack(
      "local t, k = {}, {} for i = 1, 509 do t[i] = tunable('t' .. i) { 1 } end\n"
      "t[510] = template \"t\" t[511] = grid { 1 } t[512] = block { 1 }\n"
      "for i = 1, 509 do k[i] = implementation('i' .. i)(t) end\n"
      "k[510] = output \"C\" { dtype = \"f32\", shape = { 1 } } k[511] = reference \"none\" kernel \"k\" (k)",
      "the config is too large");
  struct text text = {0};
  text_add(&text,
           "local s = 'N' for i = 1, 12 do s = s .. '+N' end\nlocal w = {}\n"
           "for i = 1, 500 do w[i] = where(s .. '>' .. i) end local k = { problem \"N\" (1), reference \"none\",\n"
           "output \"C\" { dtype = \"f32\", shape = { 1 } } }\n"
           "w[501] = template \"t\" w[502] = grid { 1 } w[503] = block { 1 }\n"
           "for i = 4, 512 do k[i] = implementation('i' .. i)(w) end kernel \"k\" (k)");
  expect_attack(text_get(&text), "the config is too large");
  text_free(&text);
  /* Names put into one another. */
  expect_attack("local k = { derive \"d0\" \"1 + device.warp_size\" }\n"
                "for i = 1, 100 do k[i + 1] = derive('d' .. i)('d' .. i - 1 .. '+ d' .. i - 1) end kernel \"k\" (k)",
                "the expression is too large");
  expect_attack("local s = '1' for i = 1, 14 do s = s .. '+' .. s end kernel \"k\" { derive \"d\" (s) }",
                "derive \"d\" is longer than 8192 characters");
}

/* ---- Problems ---- */

static struct config *sizes(void) {
  return parse_body(
      "problem \"M\" (64), problem \"alpha\" (0.5), problem \"fast\" (true), problem \"mode\" (\"plain\"),\n"
      "problem \"dtype\" { \"f32\", \"f64\" }, problem \"width\" { 1, 2 },\n"
      "check { M = 3, dtype = \"f64\" },");
}

static void expect_problem(const struct config *config, const char *const *settings, size_t count, bool check,
                           const char *want) {
  struct problem problem;
  struct text text = {0};
  cugen_error err;
  if (problem_set(config, settings, count, check, &problem, &err)) fail_msg("%s", err.message);
  problem_print(config, &problem, &text);
  assert_string_equal(text_get(&text), want);
  text_free(&text);
  problem_free(&problem);
}

static void problems_are_set(void **state) {
  (void)state;
  struct config *c = sizes();
  expect_problem(c, NULL, 0, false, "M=64 alpha=0.5 fast=true mode=plain dtype=f32 width=1");
  expect_problem(c, NULL, 0, true, "M=3 alpha=0.5 fast=true mode=plain dtype=f64 width=1");
  static const char *const all[] = {"M=-0x10", "alpha=1e-3", "fast=false", "mode=other", "dtype=f64", "width=2"};
  expect_problem(c, all, 6, false, "M=-16 alpha=0.001 fast=false mode=other dtype=f64 width=2");
  static const char *const twice[] = {"M=1", "M=2", "alpha=3"};
  expect_problem(c, twice, 3, true, "M=2 alpha=3.0 fast=true mode=plain dtype=f64 width=1");
  config_close(c);
}

static void the_check_problem_keeps_what_it_does_not_name(void **state) {
  (void)state;
  struct config *c = sizes();
  struct problem base, check;
  static const char *const settings[] = {"M=100", "mode=other", "width=2"};
  struct text text = {0};
  assert_int_equal(problem_set(c, settings, 3, false, &base, NULL), CUGEN_OK);
  assert_int_equal(problem_check(c, &base, &check, NULL), CUGEN_OK);
  problem_free(&base);
  problem_print(c, &check, &text);
  assert_string_equal(text_get(&text), "M=3 alpha=0.5 fast=true mode=other dtype=f64 width=2");
  text_free(&text);
  problem_free(&check);
  config_close(c);
}

static void wrong_settings(void **state) {
  (void)state;
  static const struct {
    const char *setting, *want;
  } cases[] = {
      {"M", "setting 'M' is not of the form name=value"},
      {"=3", "setting '=3' is not of the form name=value"},
      {"M=", "setting 'M=': a whole number was expected (c.lua:2)"},
      {"M=1e3", "setting 'M=1e3': a whole number was expected (c.lua:2)"},
      {"M=1.5", "setting 'M=1.5': a whole number was expected"},
      {"M= 5", "setting 'M= 5': a whole number was expected"},
      {"M=99999999999999999999", "setting 'M=99999999999999999999': this number does not fit into 64 bits"},
      {"alpha=x", "setting 'alpha=x': a number was expected"},
      {"alpha=M", "setting 'alpha=M': a number was expected"},
      {"fast=1", "setting 'fast=1': true or false was expected"},
      {"mode=a b", "setting 'mode=a b': a word was expected"},
      {"dtype=f23", "setting 'dtype=f23': dtype is one of f32, f64; nearest 'f32' (c.lua:3)"},
      {"width=3", "setting 'width=3': width is one of 1, 2 (c.lua:3)"},
      {"width=x", "setting 'width=x': width is one of 1, 2 (c.lua:3)"},
      {"dtipe=f32", "setting 'dtipe=f32': kernel \"k\" has no problem 'dtipe' (nearest 'dtype', c.lua:3)"},
      {"something=1",
       "setting 'something=1': kernel \"k\" has no problem 'something'; it has M, alpha, fast, mode, dtype, "
       "width"},
  };
  struct config *c = sizes();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct problem problem;
    cugen_error err;
    assert_int_equal(problem_set(c, &cases[i].setting, 1, false, &problem, &err), CUGEN_ERROR_USAGE);
    if (strncmp(err.message, cases[i].want, strlen(cases[i].want)) != 0)
      fail_msg("got: %s\nwant: %s", err.message, cases[i].want);
    assert_null(problem.values);
  }
  config_close(c);
}

/* ---- Arguments ---- */

static void expect_dtype(const struct kernel_argument *argument, const char *want) {
  assert_ptr_equal(argument->dtype, dtype_find(want));
}

static void arguments_are_laid_out(void **state) {
  (void)state;
  struct config *c = parse_body(
      "problem \"M\" (3), problem \"N\" (5), problem \"where_to\" { \"row\", \"col\" }, tunable \"t\" { 7 },\n"
      "input \"A\" { dtype = \"f64\", shape = { \"M\", \"N\" }, layout = \"where_to\", pitch = 8, fill = "
      "\"identity\" },\n"
      "scratch \"W\" { dtype = \"i8\", shape = { 2, \"M\", \"N\", \"t\" }, memory = \"pinned\" },\n"
      "output \"C\" { dtype = \"f16\", shape = { \"M\", \"N\", 2 }, layout = \"col\", tolerance = \"4 * eps('f16')\" "
      "},\n"
      "scalar \"M\" {}, scalar \"t\" { dtype = \"u8\", specialize = true }, scalar \"b\" { dtype = \"f32\", value = "
      "2.5 },\n"
      "constant \"K\" { dtype = \"f32\", shape = { 9 }, fill = \"index\" },");
  struct kernel_argument a[7] = {0};
  cugen_error err;
  assert_int_equal(c->argument_count, 7);
  assert_int_equal(evaluate(c, NULL, 0, a, &err), CUGEN_OK);
  assert_int_equal(a[0].stride[0], 8);
  assert_int_equal(a[0].stride[1], 1);
  assert_int_equal(a[0].elements, 24);
  assert_false(a[0].column_major);
  assert_int_equal(a[0].fill, FILL_IDENTITY);
  assert_int_equal(a[1].stride[0], 105);
  assert_int_equal(a[1].stride[1], 35);
  assert_int_equal(a[1].stride[2], 7);
  assert_int_equal(a[1].stride[3], 1);
  assert_int_equal(a[1].elements, 210);
  assert_int_equal(a[1].memory, MEMORY_PINNED);
  assert_int_equal(a[2].stride[0], 1);
  assert_int_equal(a[2].stride[1], 3);
  assert_int_equal(a[2].stride[2], 15);
  assert_int_equal(a[2].elements, 30);
  assert_true(a[2].column_major);
  assert_true(a[2].tolerance == 4 * 0x1p-10);
  expect_dtype(&a[3], "i32");
  assert_int_equal(a[3].value.integer, 3);
  assert_false(a[3].compiled_in);
  assert_int_equal(a[4].value.integer, 7);
  assert_true(a[4].compiled_in);
  assert_true(a[5].value.real == 2.5);
  assert_int_equal(a[6].kind, CUGEN_ARGUMENT_CONSTANT);
  assert_int_equal(a[6].fill, FILL_INDEX);
  const char *column = "where_to=col";
  assert_int_equal(evaluate(c, &column, 1, a, &err), CUGEN_OK);
  assert_int_equal(a[0].stride[0], 1);
  assert_int_equal(a[0].stride[1], 8);
  assert_int_equal(a[0].elements, 40);
  config_close(c);
}

static void indices_widen(void **state) {
  (void)state;
  struct config *c =
      parse_body("problem \"N\" (1000), scalar \"N\" {}, scalar \"n\" { dtype = \"index\", value = \"8\" },\n"
                 "output \"C\" { dtype = \"f32\", shape = { \"N\", \"N\" } },");
  struct kernel_argument a[3] = {0};
  static const char *const large = "N=46341", *const small = "N=46000";
  assert_int_equal(evaluate(c, &small, 1, a, NULL), CUGEN_OK);
  expect_dtype(&a[0], "i32");
  assert_false(config_wide_index(c, a));
  assert_int_equal(evaluate(c, &large, 1, a, NULL), CUGEN_OK);
  expect_dtype(&a[0], "i64");
  expect_dtype(&a[1], "i64");
  assert_true(config_wide_index(c, a));
  config_close(c);
  c = parse_body("problem \"N\" (5000000000), scalar \"N\" {},");
  assert_int_equal(evaluate(c, NULL, 0, a, NULL), CUGEN_OK);
  expect_dtype(&a[0], "i64");
  config_close(c);
}

static void wrong_arguments(void **state) {
  (void)state;
  static const struct {
    const char *argument, *setting, *want;
  } cases[] = {
      {"input \"A\" { dtype = \"f32\", shape = { \"M - 3\" } }", "M=3",
       "c.lua:3: shape of \"A\" has the extent 0 (M - 3): it must be 1 or more"},
      {"input \"A\" { dtype = \"f32\", shape = { \"M\" } }", "M=-1", "c.lua:3: shape of \"A\" has the extent -1 (M)"},
      {"input \"A\" { dtype = \"f32\", shape = { 4, \"M\" }, pitch = 7 }", "M=8",
       "c.lua:3: pitch of \"A\" is 7, but the contiguous dimension has 8 elements"},
      {"input \"A\" { dtype = \"f32\", shape = { \"M\", \"M\" } }", "M=9000000000",
       "c.lua:3: shape of \"A\" is too large"},
      {"input \"A\" { dtype = \"f32\", shape = { \"M\" } }", "M=2000000000000000000",
       "c.lua:3: shape of \"A\" is too large: past 2^62 bytes"},
      {"input \"A\" { dtype = \"f32\", shape = { \"M * M\" } }", "M=9000000000",
       "c.lua:3: shape of \"A\": in \"M * M\""},
      {"input \"A\" { dtype = \"f32\", shape = { \"M / 2\" } }", "M=3", "c.lua:3: shape of \"A\": in \"M / 2\""},
      {"input \"A\" { dtype = \"f32\", shape = { \"M == 1\" } }", "M=1",
       "c.lua:3: shape of \"A\": \"M == 1\" gives true"},
      {"input \"A\" { dtype = \"word\", shape = { 1 } }", "word=f31",
       "c.lua:3: dtype of \"A\" is f31, which is none of f64, f32"},
      {"input \"A\" { dtype = \"f32\", shape = { 1 }, layout = \"M + 1\" }", "M=1",
       "c.lua:3: layout of \"A\" is 2, which is none of row, col"},
      {"input \"A\" { dtype = \"f32\", shape = { 1 }, fill = \"word\" }", "word=sand",
       "c.lua:3: fill of \"A\" is sand"},
      {"input \"A\" { dtype = \"f64\", shape = { 2, 2 }, access = \"word\" }", "word=texture",
       "c.lua:3: access of \"A\" is texture, and textures have no elements of dtype f64: f32, f16, or an integer"},
      {"input \"A\" { dtype = \"bf16\", shape = { 2 }, access = \"word\" }", "word=array",
       "c.lua:3: access of \"A\" is array, and textures have no elements of dtype bf16"},
      {"input \"A\" { dtype = \"f32\", shape = { \"M\" }, access = \"texture\" }", "M=8",
       "c.lua:3: access of \"A\" is texture, which has two dimensions, but the shape has 1"},
      {"input \"A\" { dtype = \"u8\", shape = { 1, 1, 1, \"M\" }, access = \"array\" }", "M=8",
       "c.lua:3: access of \"A\" is array, which has one to three dimensions, but the shape has 4"},
      {"input \"A\" { dtype = \"f32\", shape = { 1 }, access = \"word\" }", "word=constant",
       "c.lua:3: access of \"A\" is constant: only a constant can be a __constant__ symbol"},
      {"constant \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"word\" }", "word=texture",
       "c.lua:3: access of \"A\" is a texture's: a constant's is constant or global"},
      {"input \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"word\" }", "word=surface",
       "c.lua:3: access of \"A\" is surface, which is none of global, constant, texture, array"},
      {"input \"A\" { dtype = \"f32\", shape = { 1, 1 }, address = \"word\" }", "word=repeat",
       "c.lua:3: address of \"A\" is repeat, which is none of clamp, border, wrap, mirror"},
      {"inout \"A\" { dtype = \"f32\", shape = { 1 }, tolerance = \"-M\" }", "M=1",
       "c.lua:3: tolerance of \"A\" is negative"},
      {"inout \"A\" { dtype = \"f32\", shape = { 1 }, norm = \"-M\" }", "M=1", "c.lua:3: norm of \"A\" is negative"},
      {"scalar \"s\" { dtype = \"i8\", value = \"M\" }", "M=128",
       "c.lua:3: value of \"s\" is 128, which is no number of dtype i8"},
      {"scalar \"s\" { dtype = \"u32\", value = \"M\" }", "M=-1", "c.lua:3: value of \"s\" is -1"},
      {"scalar \"s\" { value = \"0.5\" }", "M=1",
       "c.lua:3: value of \"s\" is 0.5, which is no number of dtype index"},
      {"scalar \"s\" { dtype = \"f32\", value = \"word\" }", "M=1", "c.lua:3: value of \"s\" is plain"},
      {"scalar \"M\" { specialize = \"M\" }", "M=1", "c.lua:3: specialize of \"M\": \"M\" gives 1"},
      {"scalar \"s\" { dtype = \"word\", value = 1 }", "word=index", "c.lua:3: dtype of \"s\" is index"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text body = {0};
    struct kernel_argument a[3] = {0};
    cugen_error err;
    text_addf(&body, "problem \"M\" (8), problem \"word\" (\"plain\"),\n%s,", cases[i].argument);
    struct config *c = parse_body(text_get(&body));
    if (evaluate(c, &cases[i].setting, 1, a, &err) != CUGEN_ERROR_CONFIG) fail_msg("no error: %s", cases[i].argument);
    if (strncmp(err.message, cases[i].want, strlen(cases[i].want)) != 0)
      fail_msg("%s\n got: %s\nwant: %s", cases[i].argument, err.message, cases[i].want);
    config_close(c);
    text_free(&body);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_the_design_example),
      cmocka_unit_test(shared_parts_come_first),
      cmocka_unit_test(several_launches),
      cmocka_unit_test(lua_helps),
      cmocka_unit_test(policies),
      cmocka_unit_test(sizes_round_up_to_their_bucket),
      cmocka_unit_test(wrong_policies),
      cmocka_unit_test(the_manual_is_right),
      cmocka_unit_test(lua_errors),
      cmocka_unit_test(names_not_known),
      cmocka_unit_test(derived_names_follow_their_declaration),
      cmocka_unit_test(names_that_break_cuda),
      cmocka_unit_test(reserved_names_are_sorted),
      cmocka_unit_test(names_that_are_taken),
      cmocka_unit_test(misplaced_declarations),
      cmocka_unit_test(wrong_calls),
      cmocka_unit_test(missing_pieces),
      cmocka_unit_test(wrong_values),
      cmocka_unit_test(wrong_expressions),
      cmocka_unit_test(wrong_attributes),
      cmocka_unit_test(wrong_tensors),
      cmocka_unit_test(attacks_end),
      cmocka_unit_test(amplification_is_bounded),
      cmocka_unit_test(problems_are_set),
      cmocka_unit_test(the_check_problem_keeps_what_it_does_not_name),
      cmocka_unit_test(wrong_settings),
      cmocka_unit_test(arguments_are_laid_out),
      cmocka_unit_test(indices_widen),
      cmocka_unit_test(wrong_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
