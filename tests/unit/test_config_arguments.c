/* Arguments: every attribute is evaluated for a problem. */
#include "base/text.h"
#include "configs.h"
#include "gen/config/evaluate.h"
#include "tests/testing.h"

static const struct device_facts facts = {
    .warp_size = 32, .max_threads_per_block = 1024, .pitch_alignment = 512};

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

static void expect_dtype(const struct kernel_argument *argument, const char *want) {
  assert_ptr_equal(argument->dtype, dtype_find(want));
}

TEST(arguments_are_laid_out) {
  CLOSED(config) *c = parse_body(
      "problem \"M\" (3), problem \"N\" (5), problem \"where_to\" { \"row\", \"col\" }, tunable "
      "\"t\" { 7 },\n"
      "input \"A\" { dtype = \"f64\", shape = { \"M\", \"N\" }, layout = \"where_to\", pitch = 8, "
      "fill = "
      "\"identity\" },\n"
      "scratch \"W\" { dtype = \"i8\", shape = { 2, \"M\", \"N\", \"t\" }, memory = \"pinned\" },\n"
      "output \"C\" { dtype = \"f16\", shape = { \"M\", \"N\", 2 }, layout = \"col\", tolerance = "
      "\"4 * eps('f16')\" "
      "},\n"
      "scalar \"M\" {}, scalar \"t\" { dtype = \"u8\", specialize = true }, scalar \"b\" { dtype = "
      "\"f32\", value = "
      "2.5 },\n"
      "constant \"K\" { dtype = \"f32\", shape = { 9 }, fill = \"index\" },");
  struct kernel_argument a[7] = {0};
  assert_int_equal(c->argument_count, 7);
  WORKS(evaluate(c, NULL, 0, a, &err));
  assert_int_equal(a[0].stride[0], 8);
  assert_int_equal(a[0].stride[1], 1);
  assert_int_equal(a[0].elements, 24);
  assert_string_equal(a[0].layout, "row");
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
  assert_string_equal(a[2].layout, "col");
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
  WORKS(evaluate(c, &column, 1, a, &err));
  assert_int_equal(a[0].stride[0], 1);
  assert_int_equal(a[0].stride[1], 8);
  assert_int_equal(a[0].elements, 40);
}

/* A buffer in a struct is no parameter, unless the problem lacks the struct. */
TEST(buffers_lie_in_structs) {
  static const char *const lacks[] = {"N=9", "held=false"}, *const empty[] = {"N=9",
                                                                              "biased=false"};
  int32_t pitch;
  CLOSED(config) *c = parse_body(
      "problem \"N\" (8), problem \"held\" { true, false }, problem \"biased\" { true, false },\n"
      "input \"A\" { dtype = \"f32\", shape = { 3, \"N\" }, layout = \"row+4\" },\n"
      "input \"b\" { dtype = \"f16\", shape = { \"N\" }, when = \"biased\" },\n"
      "output \"C\" { dtype = \"f32\", shape = { \"N\" } },\n"
      "scalar \"s\" { struct = \"S\", when = \"held\", fields = { { \"first\", dtype = \"u8\", "
      "value "
      "= 7 }, { \"A\", buffer = \"A\" }, { \"pitch\", dtype = \"i32\", pitch = \"A\" }, { \"b\", "
      "buffer = \"b\" } } },");
  struct kernel_argument a[4] = {0};
  assert_int_equal(evaluate(c, empty, 1, a, NULL), CUGEN_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(a[i].access, ACCESS_FIELD);
    assert_int_equal(a[i].holder, 3);
    assert_int_equal(a[i].offset, i ? 24 : 8);
    assert_false(kernel_argument_passed(&a[i]));
  }
  assert_true(kernel_argument_passed(&a[3]) && kernel_argument_passed(&a[2]));
  assert_int_equal(a[3].struct_bytes, 32);
  memcpy(&pitch, a[3].packed + 16, sizeof pitch);
  assert_int_equal(pitch, 13);
  assert_int_equal(a[3].packed[0], 7);
  const struct kernel_spec spec = {.arguments = a, .argument_count = 4};
  void *addresses[] = {a, &pitch, NULL, NULL}, *at;
  kernel_struct_fill(&spec, 3, addresses, a[3].packed);
  memcpy(&at, a[3].packed + 24, sizeof at);
  assert_ptr_equal(at, &pitch);
  assert_int_equal(evaluate(c, empty, 2, a, NULL), CUGEN_OK);
  assert_true(a[1].absent && a[0].access == ACCESS_FIELD);
  assert_int_equal(evaluate(c, lacks, 2, a, NULL), CUGEN_OK);
  assert_true(a[3].absent && kernel_argument_passed(&a[0]) && kernel_argument_passed(&a[1]));
}

/* Of other problems an argument is none: a number that is compiled in, of no shape. */
TEST(arguments_come_and_go) {
  CLOSED(config) *c =
      parse_body("problem \"N\" (8), problem \"biased\" { false, true },\n"
                 "output \"C\" { dtype = \"f32\", shape = { \"N\" } },\n"
                 "input \"b\" { dtype = \"f16\", shape = { \"N\" }, when = \"biased\" },\n"
                 "scalar \"s\" { dtype = \"f32\", value = 2, when = \"not biased\" },");
  struct kernel_argument a[3] = {0};
  static const char *const biased = "biased=true";
  assert_int_equal(evaluate(c, NULL, 0, a, NULL), CUGEN_OK);
  assert_true(a[1].absent && a[1].compiled_in && !kernel_argument_passed(&a[1]));
  assert_int_equal(a[1].kind, CUGEN_ARGUMENT_SCALAR);
  assert_int_equal(a[1].rank, 0);
  assert_false(a[2].absent);
  assert_int_equal(evaluate(c, &biased, 1, a, NULL), CUGEN_OK);
  assert_false(a[1].absent);
  assert_int_equal(a[1].kind, CUGEN_ARGUMENT_INPUT);
  assert_int_equal(a[1].elements, 8);
  assert_true(a[2].absent);
}

TEST(indices_widen) {
  struct config *c = parse_body(
      "problem \"N\" (1000), scalar \"N\" {}, scalar \"n\" { dtype = \"index\", value = \"8\" },\n"
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

static const struct {
  const char *argument, *setting, *want;
} wrong[] = {
    {"input \"A\" { dtype = \"f32\", shape = { \"M - 3\" } }", "M=3",
     "c.lua:3: shape of \"A\" has the extent 0 (M - 3): it must be 1 or more"},
    {"input \"A\" { dtype = \"f32\", shape = { \"M\" } }", "M=-1",
     "c.lua:3: shape of \"A\" has the extent -1 (M)"},
    {"input \"A\" { dtype = \"f32\", shape = { 4, \"M\" }, pitch = 7 }", "M=8",
     "c.lua:3: pitch of \"A\" is 7, but the contiguous dimension has 8 elements"},
    {"input \"A\" { dtype = \"f32\", shape = { \"M\", \"M\" } }", "M=9000000000",
     "c.lua:3: shape of \"A\" is too large"},
    {"input \"A\" { dtype = \"f32\", shape = { \"M\" } }", "M=2000000000000000000",
     "c.lua:3: shape of \"A\" is too large: 2000000000000000000 elements of f32, and a buffer has "
     "at most 2^62 "
     "bytes"},
    {"input \"A\" { dtype = \"f32\", shape = { \"M * M\" } }", "M=9000000000",
     "c.lua:3: shape of \"A\": in \"M * M\""},
    {"input \"A\" { dtype = \"f32\", shape = { \"M / 2\" } }", "M=3",
     "c.lua:3: shape of \"A\": in \"M / 2\""},
    {"input \"A\" { dtype = \"f32\", shape = { \"M == 1\" } }", "M=1",
     "c.lua:3: shape of \"A\": \"M == 1\" gives true"},
    {"input \"A\" { dtype = \"word\", shape = { 1 } }", "word=f31",
     "c.lua:3: dtype of \"A\" is f31, which is none of f64, f32"},
    {"input \"A\" { dtype = \"f32\", shape = { 1 }, layout = \"M + 1\" }", "M=1",
     "c.lua:3: layout of \"A\": 'M + 1' gives no word"},
    {"input \"A\" { dtype = \"f32\", shape = { 4, 4 }, layout = \"row+${M - 2}\" }", "M=1",
     "c.lua:3: layout of \"A\": layout 'row+-1': a number of elements to leave free was expected "
     "at "
     "'-1'"},
    {"input \"A\" { dtype = \"f32\", shape = { 4, \"M\" }, layout = \"row^3,3,3\" }", "M=63",
     "c.lua:3: layout of \"A\" is row^3,3,3, which exchanges elements within 64, but a line has "
     "63"},
    {"input \"A\" { dtype = \"f32\", shape = { 64, 64 }, layout = \"row/8x\" .. 8, pitch = 64 }",
     "M=1",
     "c.lua:3: pitch of \"A\" is for the layouts row and col, and this one is row/8x8: the layout "
     "row+8 leaves 8 elements free behind each line"},
    {"input \"A\" { dtype = \"f32\", shape = { 64, 64 }, layout = \"row/8x8\", access = "
     "\"texture\" }",
     "M=1", "c.lua:3: access of \"A\" is texture, which needs contiguous rows"},
    {"input \"A\" { dtype = \"f32\", shape = { 5, 3, 4 }, strides = { \"M\", 4, 1 } }", "M=11",
     "c.lua:3: strides of \"A\" are 11, 4, 1: dimension 0 moves by 11 elements, and the dimensions "
     "of smaller strides reach 12 elements, so that elements share an offset or interleave"},
    {"input \"A\" { dtype = \"f32\", shape = { 5, 3 }, strides = { 3, \"M - 1\" } }", "M=1",
     "c.lua:3: strides of \"A\" have 0 (M - 1) for dimension 1 of 3 elements: it must be 1 or "
     "more"},
    {"input \"A\" { dtype = \"f32\", shape = { 1 }, fill = \"word\" }", "word=sand",
     "c.lua:3: fill of \"A\" is sand"},
    {"input \"A\" { dtype = \"f64\", shape = { 2, 2 }, access = \"word\" }", "word=texture",
     "c.lua:3: access of \"A\" is texture, and textures have no elements of dtype f64: f32, f16, "
     "or an integer"},
    {"input \"A\" { dtype = \"bf16\", shape = { 2 }, access = \"word\" }", "word=array",
     "c.lua:3: access of \"A\" is array, and textures have no elements of dtype bf16"},
    {"input \"A\" { dtype = \"f32\", shape = { \"M\" }, access = \"texture\" }", "M=8",
     "c.lua:3: access of \"A\" is texture, which has two dimensions, but the shape has 1"},
    {"input \"A\" { dtype = \"u8\", shape = { 1, 1, 1, \"M\" }, access = \"array\" }", "M=8",
     "c.lua:3: access of \"A\" is array, which has one to three dimensions, but the shape has 4"},
    {"input \"A\" { dtype = \"f32\", shape = { 1 }, access = \"word\" }", "word=constant",
     "c.lua:3: access of \"A\" is constant: of an argument of kind input it is global, texture, "
     "array, symbol"},
    {"output \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"word\" }", "word=texture",
     "c.lua:3: access of \"A\" is texture: of an argument of kind output it is global, symbol"},
    {"input \"A\" { dtype = \"f32\", shape = { 1 }, access = \"symbol\", overwrite = true }", "M=1",
     "c.lua:3: overwrite of \"A\" is for inputs that are read by address: access = \"global\""},
    {"constant \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"word\" }", "word=texture",
     "c.lua:3: access of \"A\" is texture: of an argument of kind constant it is global, constant, "
     "symbol"},
    {"input \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"word\" }", "word=surface",
     "c.lua:3: access of \"A\" is surface, which is none of global, constant, texture, array, "
     "symbol"},
    {"input \"A\" { dtype = \"f32\", shape = { 1, 1 }, address = \"word\" }", "word=repeat",
     "c.lua:3: address of \"A\" is repeat, which is none of clamp, border, wrap, mirror"},
    {"inout \"A\" { dtype = \"f32\", shape = { 1 }, tolerance = \"-M\" }", "M=1",
     "c.lua:3: tolerance of \"A\" is negative"},
    {"inout \"A\" { dtype = \"f32\", shape = { 1 }, norm = \"-M\" }", "M=1",
     "c.lua:3: norm of \"A\" is negative"},
    {"scalar \"s\" { dtype = \"i8\", value = \"M\" }", "M=128",
     "c.lua:3: value of \"s\" is 128, which is no number of dtype i8"},
    {"scalar \"s\" { dtype = \"u32\", value = \"M\" }", "M=-1", "c.lua:3: value of \"s\" is -1"},
    {"scalar \"s\" { dtype = \"f16\", value = 1e9 }", "M=1",
     "c.lua:3: value of \"s\" is 1000000000.0, which is no number of dtype f16"},
    {"scalar \"s\" { dtype = \"f32\", value = 1e39 }", "M=1",
     "c.lua:3: value of \"s\" is 1e+39, which is no number of dtype f32"},
    {"scalar \"s\" { value = \"0.5\" }", "M=1",
     "c.lua:3: value of \"s\" is 0.5, which is no number of dtype index"},
    {"scalar \"s\" { dtype = \"f32\", value = \"word\" }", "M=1",
     "c.lua:3: value of \"s\" is plain"},
    {"scalar \"M\" { specialize = \"M\" }", "M=1", "c.lua:3: specialize of \"M\": \"M\" gives 1"},
    {"scalar \"s\" { dtype = \"word\", value = 1 }", "word=index",
     "c.lua:3: dtype of \"s\" is index"},
};

TEST(wrong_arguments) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct kernel_argument a[3] = {0};
    cugen_error err;
    const char *body =
        formed("problem \"M\" (8), problem \"word\" (\"plain\"),\n%s,", wrong[i].argument);
    CLOSED(config) *c = parse_body(body);
    if (evaluate(c, &wrong[i].setting, 1, a, &err) != CUGEN_ERROR_CONFIG)
      fail_msg("no error: %s", wrong[i].argument);
    if (strncmp(err.message, wrong[i].want, strlen(wrong[i].want)) != 0)
      fail_msg("%s\n got: %s\nwant: %s", wrong[i].argument, err.message, wrong[i].want);
  }
}

TEST(products_are_types) {
  static const struct {
    const char *text, *want, *message;
  } cases[] = {
      {"'tf32'", "tf32", NULL},
      {"dtype", "bf16", NULL},
      {"dtype == 'bf16' and 'fp8' or dtype", "fp8", NULL},
      {"'tf23'", NULL, "c.lua:3: products is tf23, which is no type: tf32, fp8 or a dtype is one"},
      {"16", NULL, "c.lua:3: products is 16, which is no type"},
      {"1 // 0", NULL, "c.lua:3: products: "}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cugen_error err;
    const char *got;
    CLOSED(config) *c =
        parse_body(formed("problem \"dtype\" (\"bf16\"),\nproducts \"%s\",", cases[i].text));
    FREED(problem) problem;
    assert_int_equal(problem_set(c, NULL, 0, false, &problem, &err), CUGEN_OK);
    struct value *slots = slots_of(c, &problem);
    int status = config_products(c, slots, &got, &err);
    assert_int_equal(status, cases[i].message ? CUGEN_ERROR_CONFIG : CUGEN_OK);
    if (cases[i].message)
      assert_memory_equal(err.message, cases[i].message, strlen(cases[i].message));
    if (cases[i].want) assert_string_equal(got, cases[i].want);
    free(slots);
  }
}
