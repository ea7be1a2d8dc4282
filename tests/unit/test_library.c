/* A library's call: its text, what a config may say of it, and its source. */
#include "base/library.h"
#include "configs.h"
#include "gen/template/expand.h"
#include "tests/testing.h"

static struct library_call some_call(void) {
  struct library_call call = {.library = LIBRARY_cublasLt, .build = 0x0123456789abcdef};
  struct library_value *v = call.values;
  v[CUBLASLT_a] = (struct library_value){
      .dtype = dtype_find("e4m3"), .rank = 2, .shape = {4096, 512}, .stride = {512, 1}};
  v[CUBLASLT_b] = (struct library_value){.dtype = dtype_find("e4m3"),
                                         .columns = true,
                                         .rank = 2,
                                         .shape = {512, INT64_C(1) << 40},
                                         .stride = {1, 512}};
  v[CUBLASLT_c] = (struct library_value){
      .dtype = dtype_find("bf16"), .rank = 2, .shape = {4096, 8}, .stride = {8, 1}};
  v[CUBLASLT_alpha] = (struct library_value){.dtype = dtype_find("f32")};
  v[CUBLASLT_batch].number = 3;
  v[CUBLASLT_activation].number = 2;
  return call;
}

static const char some_text[] = "library cublasLt 0123456789abcdef\n"
                                "a e4m3 row 2 4096 512 512 1\n"
                                "b e4m3 col 2 512 1099511627776 1 512\n"
                                "c bf16 row 2 4096 8 8 1\n"
                                "alpha f32 row 0\n"
                                "batch 3\n"
                                "algorithm 0\n"
                                "activation gelu\n"
                                "math exact\n";

TEST(round_trip) {
  const struct library_call call = some_call();
  struct library_call read;
  FREED(text) text = {0}, again = {0};
  library_call_print(&call, &text);
  assert_string_equal(text_get(&text), some_text);
  assert_true(library_call_is(text_get(&text), text.length));
  WORKS(library_call_parse(text_get(&text), text.length, &read, &err));
  assert_memory_equal(&read, &call, sizeof call);
  text_add(&again, "// product: library\n// M=1\n");
  text_add(&again, some_text);
  assert_true(library_call_is(text_get(&again), again.length));
  WORKS(library_call_parse(text_get(&again), again.length, &read, &err));
  assert_memory_equal(&read, &call, sizeof call);
}

/* A text that is cut at any byte, or has any byte replaced, is refused or is another call. */
TEST(damaged) {
  struct library_call read;
  cugen_error err;
  for (size_t length = 0; length < sizeof some_text - 2; length++)
    if (!library_call_parse(some_text, length, &read, &err))
      fail_msg("%zu bytes are taken", length);
  for (size_t i = 0; i < sizeof some_text - 1; i++) {
    char text[sizeof some_text];
    FREED(text) printed = {0};
    memcpy(text, some_text, sizeof text);
    text[i] = text[i] == 'z' ? 'y' : 'z';
    if (!library_call_parse(text, sizeof text - 1, &read, &err))
      library_call_print(&read, &printed), assert_string_not_equal(text_get(&printed), some_text);
  }
  assert_false(library_call_is("__global__ void library ", 24));
  assert_false(library_call_is("", 0));
  assert_false(library_call_is("// library ", 11));
}

TEST(a_users_function_is_the_text_of_a_call_too) {
  static const char text[] = LIBRARY_FUNCTION "run /my libs/a b.so";
  struct library_call read;
  cugen_error err;
  assert_true(library_call_is(text, sizeof text - 1));
  assert_int_equal(library_call_parse(text, sizeof text - 1, &read, &err), CUGEN_ERROR_CONFIG);
}

/* ---- Configs -------------------------------------------------------------------------------- */

static void expect_mistake(const char *library, const char *want) {
  const char *body =
      formed("problem \"N\" (64), input \"A\" { dtype = \"f32\", shape = { \"N\", \"N\" } },"
             " output \"C\" { dtype = \"f32\", shape = { \"N\", \"N\" } }, scalar \"N\" {},"
             " implementation \"i\" {\n%s }",
             library);
  expect_body_error(body, want);
}

TEST(mistakes) {
  expect_mistake("library \"cublas\" { a = \"A\", b = \"A\", c = \"C\" }",
                 "c.lua:3: 'cublas' is no library that cugen can call: it can call cublasLt "
                 "(nearest 'cublasLt')");
  expect_mistake("library \"cublasLt\" { a = \"A\", b = \"A\" }",
                 "c.lua:3: library cublasLt has no c: library \"cublasLt\" {");
  expect_mistake("library \"cublasLt\" { a = \"A\", b = \"A\", c = \"C\", bach = 1 }",
                 "c.lua:3: unknown field 'bach' of library cublasLt (nearest 'batch')");
  expect_mistake("library \"cublasLt\" { a = \"A\", b = \"B\", c = \"C\" }",
                 "c.lua:3: b of library cublasLt is 'B', which is no argument of this kernel");
  expect_mistake("library \"cublasLt\" { a = \"N\", b = \"A\", c = \"C\" }",
                 "c.lua:3: a of library cublasLt is 'N', which is a scalar: it takes a buffer");
  expect_mistake("library \"cublasLt\" { a = \"A\", b = \"A\", c = \"C\", alpha = \"A\" }",
                 "c.lua:3: alpha of library cublasLt is 'A', which is a buffer: it takes a scalar");
  expect_mistake("library \"cublasLt\" { a = \"A\", b = \"A\", c = \"C\", batch = \"n\" }",
                 "c.lua:3: batch of library cublasLt");
  expect_mistake("library \"cublasLt\" \"A\"", "c.lua:3: library cublasLt needs its fields");
  expect_mistake("library \"cublasLt\" { a = \"A\", b = \"A\", c = \"C\" },\ngrid { 1 }",
                 "c.lua:4: implementation \"i\" calls a library, which has its own grid");
  expect_mistake("template \"t.cu\",\nlibrary \"cublasLt\" { a = \"A\", b = \"A\", c = \"C\" }",
                 "c.lua:3: implementation \"i\" calls a library, which has its own template");
  expect_mistake("tunable \"t\" { 1 }", "c.lua:2: implementation \"i\" has no template: template");
}

/* The expansion of a config's one variant, or its error. */
static int expand(const char *arguments, const char *fields, uint64_t build,
                  struct kernel_spec *spec, cugen_error *err) {
  FREED(text) text = {0};
  CLOSED(config) *config;
  FREED(problem) problem;
  CLOSED(space) *space;
  struct expander *expander;
  struct variant variant;
  struct value values[8];
  const struct sources sources = {0};
  const struct device_facts facts = {.is_gpu = 1, .libraries = {build}};
  text_addf(&text,
            "kernel \"k\" { problem \"N\" (64), problem \"way\" { \"none\", \"swish\" },\n%s"
            " reference \"none\",\nimplementation \"i\" { tunable \"t\" { 0, 1 },\n"
            "library \"cublasLt\" { %s } } }",
            arguments, fields);
  int status = config_parse("c.lua", text_get(&text), text.length, &config, err);
  if (status) fail_msg("%s", err->message);
  assert_int_equal(problem_set(config, NULL, 0, false, &problem, err), CUGEN_OK);
  assert_int_equal(space_open(config, &problem, &facts, &space, err), CUGEN_OK);
  assert_int_equal(space_valid(space), build ? 2 : 0);
  if (!build) status = CUGEN_ERROR_EMPTY;
  assert_int_equal(expander_open(&sources, &expander, NULL), CUGEN_OK);
  if (build) space_variant(space, 1, &variant, values);
  if (build) status = expand_variant(expander, config, &problem, &facts, &variant, spec, err);
  expander_close(expander);
  return status;
}

static const char plain[] =
    "input \"A\" { dtype = \"f32\", shape = { 8, \"N\" }, pitch = \"N + 8\" },"
    "input \"B\" { dtype = \"f32\", shape = { \"N\", 4 }, layout = \"col\" },"
    "output \"C\" { dtype = \"f32\", shape = { 8, 4 } },";

TEST(sources_of_variants) {
  struct kernel_spec spec, other;
  const char *const fields = "a = \"A\", b = \"B\", c = \"C\", algorithm = \"t\"";
  WORKS(expand(plain, fields, 0xab, &spec, &err));
  const char *text = strstr(spec.source, "library ");
  assert_non_null(text);
  assert_string_equal(text, "library cublasLt 00000000000000ab\n"
                            "a f32 row 2 8 64 72 1\n"
                            "b f32 col 2 64 4 1 64\n"
                            "c f32 row 2 8 4 4 1\n"
                            "batch 1\nalgorithm 1\nactivation none\nmath exact\n");
  assert_int_equal(spec.launch_count, 1);
  assert_string_equal(spec.launches[0].entry, "cublasLt");
  assert_int_equal(spec.parameter_count, 3);
  /* another build of the library is another kernel */
  WORKS(expand(plain, fields, 0xac, &other, &err));
  assert_string_not_equal(spec.hash.hex, other.hash.hex);
  assert_string_not_equal(spec.source_hash.hex, other.source_hash.hex);
  kernel_spec_free(&spec);
  kernel_spec_free(&other);
  assert_int_equal(expand(plain, fields, 0, &spec, NULL), CUGEN_ERROR_EMPTY);
}

static void expect_refusal(const char *arguments, const char *fields, const char *want) {
  struct kernel_spec spec;
  cugen_error err;
  assert_int_equal(expand(arguments, fields, 1, &spec, &err), CUGEN_ERROR_CONFIG);
  if (!strstr(err.message, want)) fail_msg("'%s' is not in: %s", want, err.message);
}

TEST(refused_variants) {
  expect_refusal(plain,
                 "a = \"A\", b = \"B\", c = \"C\", activation = \"select(N > 8, 'swish', way)\"",
                 "is none of its words: none relu gelu");
  expect_refusal(plain, "a = \"A\", b = \"B\", c = \"C\", batch = \"1 - t * 2\"",
                 "c.lua:4: batch of library cublasLt: '1 - t * 2' is below 0");
  expect_refusal("input \"A\" { dtype = \"f32\", shape = { 8, 8 }, layout = \"row/4x4\" },"
                 "output \"C\" { dtype = \"f32\", shape = { 8, 8 } },",
                 "a = \"A\", b = \"A\", c = \"C\"",
                 "c.lua:4: a of library cublasLt: 'A' is tiled or swizzled");
  expect_refusal("input \"A\" { dtype = \"f32\", shape = { 8, 8 }, access = \"symbol\" },"
                 "output \"C\" { dtype = \"f32\", shape = { 8, 8 } },",
                 "a = \"A\", b = \"A\", c = \"C\"", "'A' is not passed by its value or address");
  expect_refusal("input \"A\" { dtype = \"f32\", shape = { 8, 8 }, when = \"N < 8\" },"
                 "output \"C\" { dtype = \"f32\", shape = { 8, 8 } },",
                 "a = \"A\", b = \"C\", c = \"C\"", "'A' is no argument of this problem");
}
