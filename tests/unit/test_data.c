/* Test data of a config: its declarations, the value of each element, refusals, and what the
   hashes cover. */
#include "expanding.h"
#include "gen/config/evaluate.h"
#include "tests/testing.h"
#include "tune/data/data.h"
#include "tune/data/dataset_buffers.h"
#include "tune/data/elements.h"
#include "tune/data/inputs.h"

#define REST                                                                                       \
  "output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = 0 }, reference 'none',"                \
  "implementation 'a' { template 't.cu', grid { 1 }, block { 32 } }"

struct made {
  struct expanding *bench;
  struct kernel_spec spec;
  char *shared;
};

/* file: contents of the file of that name; NULL: the file does not exist. */
static int make_with(const char *body, const char *name, const void *file, size_t length,
                     struct made *out, cugen_error *err) {
  size_t bytes;
  out->bench = expanding_open(body, NULL, 0);
  if (file) expanding_add_bytes(out->bench, name, file, length);
  expanding_add(out->bench, "t.cu", "__global__ void f(${params}) {}\n");
  out->spec = expanding_one(out->bench, 0);
  struct value *slots = calloc(config_slot_count(out->bench->config, NULL) + 1, sizeof *slots);
  config_slots(out->bench->config, &out->bench->problem, &expanding_facts, slots);
  assert_int_equal(dataset_shared_size(&out->spec, false, 7, &bytes, err), CUGEN_OK);
  out->shared = malloc(bytes + 1);
  const struct data_request request = {.config = out->bench->config,
                                       .sources = &out->bench->sources,
                                       .slots = slots,
                                       .spec = &out->spec,
                                       .seed = 7};
  int status = data_make(&request, out->shared, err);
  free(slots);
  return status;
}

static int make(const char *body, struct made *out, cugen_error *err) {
  return make_with(body, NULL, NULL, 0, out, err);
}

static void unmake(struct made *m) {
  kernel_spec_free(&m->spec);
  expanding_close(m->bench);
  free(m->shared);
}

static double element(const struct made *m, size_t i, int64_t flat) {
  const struct kernel_argument *a = &m->spec.arguments[i];
  return element_load(a->dtype, m->shared + dataset_data_offset(&m->spec, i),
                      element_offset(a, flat));
}

static void expect_error(const char *body, const char *want) {
  struct made m;
  cugen_error err = {0};
  assert_int_not_equal(make(body, &m, &err), CUGEN_OK);
  if (!strstr(err.message, want)) fail_msg("%s\n  want %s", err.message, want);
  unmake(&m);
}

TEST(expressions_make_elements) {
  struct made m;
  const char *body =
      "problem 'n' (7), derive 'twice' '2 * n',"
      "input 'a' { dtype = 'f32', shape = { 'n', 4 }, values = '10 * i0 + i1', layout = 'col', "
      "pitch = 9 },"
      "input 'x' { dtype = 'f64', shape = { 'n' }, values = 'a[index, 2] + a[(i0 + 1) % n, 0] / "
      "4', "
      "layout = 'row/4^1,0,1' },"
      "input 'k' { dtype = 'i16', shape = { 'n', 2 }, values = 'i1 == 0 and index or -twice', "
      "layout = 'row/4x2:col+1' },"
      "input 'c' { dtype = 'f32', shape = { 'n' }, values = 'k[i0, 0] * cos(pi * k[i0, 0])' "
      "}," REST;
  WORKS(make(body, &m, &err));
  for (int i = 0; i < 7; i++) {
    assert_true(element(&m, 0, 4 * i + 3) == 10 * i + 3);
    assert_true(element(&m, 1, i) == 10 * i + 2 + (i + 1) % 7 * 10 / 4.0);
    assert_true(element(&m, 2, 2 * i) == 2 * i && element(&m, 2, 2 * i + 1) == -14);
    assert_true(element(&m, 3, i) == 2 * i); /* the number is even, so its cosine is 1 */
  }
  /* between the rows is NaN, as with any fill */
  assert_true(memcmp(m.shared + dataset_data_offset(&m.spec, 0) + 4 * 7,
                     "\xff\xff\xff\xff\xff\xff\xff\xff", 8) == 0);
  unmake(&m);
}

/* Elements are computed in blocks, which begin and end in the middle of rows. */
TEST(blocks_cross_rows) {
  enum { N = 23, ROWS = 3, COLUMNS = 7 };
  static const char *const layouts[] = {"",
                                        ", pitch = 11",
                                        ", layout = 'col'",
                                        ", layout = '120+2'",
                                        ", layout = 'row/4x2x3:col+5'",
                                        ", layout = 'row^1,1,2'",
                                        ", strides = { 100, 33, 4 }"};
  for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
    struct made m;
    const char *body =
        formed("problem 'n' (23), input 'x' { dtype = 'f64', shape = { 'n', 3, 7 }, values = "
               "'1000000 * index + 10000 * i0 + 100 * i1 + i2'%s }," REST,
               layouts[k]);
    WORKS(make(body, &m, &err));
    for (int i = 0; i < N * ROWS * COLUMNS; i++)
      assert_true(element(&m, 0, i) == 1e6 * i + 1e4 * (i / (ROWS * COLUMNS)) +
                                           1e2 * (i / COLUMNS % ROWS) + i % COLUMNS);
    unmake(&m);
  }
}

/* Inputs large enough for several threads, and a fill that is read as the dataset has it. */
TEST(large_inputs_agree) {
  struct made m;
  enum { N = 1 << 20 };
  const char *body = "problem 'n' (1048576), input 'a' { dtype = 'f32', shape = { 'n', 2 } },"
                     "input 'x' { dtype = 'f32', shape = { 'n' }, values = 'a[index, 1]' }," REST;
  WORKS(make(body, &m, &err));
  float *a = malloc((size_t)2 * N * sizeof *a),
        *x = (float *)(void *)(m.shared + dataset_data_offset(&m.spec, 1));
  assert_non_null(a);
  element_fill(&m.spec.arguments[0], 7, 0, a);
  for (int i = 0; i < N; i++) assert_true(a[2 * i + 1] == x[i]);
  element_fill(&m.spec.arguments[0], 7, 1, a); /* the other argument's fill */
  assert_true(a[1] != x[0] && a[3] != x[1]);
  free(a);
  unmake(&m);
}

/* Rows that lie in memory as in the file are read at once, by several threads; others element by
   element. */
TEST(large_files_agree) {
  static const char *const layouts[] = {
      "shape = { 'n', 6000 }", "shape = { 'n', 6000 }, pitch = 6007",
      "shape = { 'n', 6000 }, layout = 'col'", "shape = { 'n', 6000 }, layout = 'row/8x64^3,3,3'",
      "shape = { 'n', 300, 20 }, pitch = 21"};
  enum { N = 100, COUNT = N * 6000 };
  char *file = malloc(COUNT);
  assert_non_null(file);
  for (int i = 0; i < COUNT; i++) file[i] = (char)('a' + (i * 7 + i / 1000) % 26);
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    struct made m;
    WORKS(
        make_with(formed("problem 'n' (100), input 'x' { dtype = 'u8', %s, file = 'x.bin' }," REST,
                         layouts[i]),
                  "x.bin", file, COUNT, &m, &err));
    for (int k = 0; k < COUNT; k++)
      if (element(&m, 0, k) != file[k]) fail_msg("%s: element %d", layouts[i], k);
    unmake(&m);
  }
  free(file);
}

/* The leading part of a larger file is taken, in any layout of the buffer. */
TEST(larger_files_agree) {
  static const char *const layouts[] = {"", ", layout = 'col'", ", pitch = 7"};
  char file[10 + 118 + 5 * 6] = "\x93NUMPY\x01\0v\0"; /* v is the length of the header, 118 */
  snprintf(file + 10, 119, "%-117s\n",
           "{'descr': '|u1', 'fortran_order': False, 'shape': (5, 6), }");
  for (int i = 0; i < 5 * 6; i++) file[128 + i] = (char)i;
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    FREED(text) body = {0};
    struct made m;
    text_addf(
        &body,
        "problem 'n' (3), input 'x' { dtype = 'u8', shape = { 'n', 4 }, file = 'x.npy'%s }," REST,
        layouts[i]);
    WORKS(make_with(text_get(&body), "x.npy", file, sizeof file, &m, &err));
    for (int k = 0; k < 12; k++)
      if (element(&m, 0, k) != k / 4 * 6 + k % 4) fail_msg("%s: element %d", layouts[i], k);
    unmake(&m);
  }
}

/* A dataset with another reference has the same inputs: they are copied, except those that a
   generator is still making. */
TEST(inputs_are_copied_to_their_like) {
  enum { COUNT = 1 << 20 };
  const struct dtype *f32 = &dtype_table[DTYPE_f32];
  struct kernel_argument arguments[4] = {
      {.dtype = f32,
       .rank = 1,
       .shape = {COUNT},
       .stride = {1},
       .elements = COUNT,
       .data = DATA_VALUES},
      {.dtype = f32, .rank = 1, .shape = {9}, .stride = {1}, .elements = 9},
      {.dtype = f32, .rank = 1, .shape = {5}, .stride = {1}, .elements = 5, .data = DATA_GENERATOR},
      {.dtype = f32,
       .rank = 1,
       .shape = {5},
       .stride = {1},
       .elements = 5,
       .data = DATA_GENERATOR}};
  const struct kernel_spec spec = {.arguments = arguments, .argument_count = 4};
  const size_t bytes = dataset_data_offset(&spec, 4);
  char *from = calloc(1, bytes), *to = calloc(1, bytes);
  assert_true(from && to);
  memset(from + dataset_data_offset(&spec, 0), 'v', 4 * COUNT);
  memset(from + dataset_data_offset(&spec, 2), 'g', 20);
  memset(from + dataset_data_offset(&spec, 3), 'h', 20);
  ((struct shared_head *)(void *)from)->generated[2] = 1;
  ((struct shared_head *)(void *)from)->reference = 1;
  dataset_copy_data(&spec, from, to);
  const struct shared_head *head = (struct shared_head *)(void *)to;
  assert_true(head->generated[2] && !head->generated[3] && !head->reference);
  assert_int_equal(
      memcmp(from + dataset_data_offset(&spec, 0), to + dataset_data_offset(&spec, 0), 4 * COUNT),
      0);
  assert_int_equal(to[dataset_data_offset(&spec, 2) + 19], 'g');
  assert_int_equal(to[dataset_data_offset(&spec, 3)], 0);
  free(from);
  free(to);
}

TEST(lists_make_elements) {
  struct made m;
  const char *body =
      "problem 'n' (7), constant 'w' { dtype = 'f16', shape = { 2, 2 }, layout = 'col',"
      " values = { 1, 2.5, -1, 0 } }," REST;
  WORKS(make(body, &m, &err));
  static const double want[] = {1, 2.5, -1, 0};
  for (int i = 0; i < 4; i++) assert_true(element(&m, 0, i) == want[i]);
  unmake(&m);
}

/* Every whole number of 64 bits is stored exactly, also by an expression that reads an element. */
TEST(whole_numbers_are_exact) {
  struct made m;
  const char *body =
      "problem 'n' (4), input 'a' { dtype = 'i64', shape = { 'n' }, values = { 9223372036854775807,"
      " -9223372036854775807 - 1, 9007199254740993, -1 } },"
      "input 'x' { dtype = 'i64', shape = { 'n' }, values = 'i0 == 1 and a[1] or a[i0] - 1' },"
      "input 'k' { dtype = 'u64', shape = { 'n' }, values = '9223372036854775807 - i0' }," REST;
  static const int64_t a[] = {INT64_MAX, INT64_MIN, 9007199254740993, -1};
  static const int64_t x[] = {INT64_MAX - 1, INT64_MIN, 9007199254740992, -2};
  static const uint64_t k[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX - 2, INT64_MAX - 3};
  WORKS(make(body, &m, &err));
  assert_memory_equal(m.shared + dataset_data_offset(&m.spec, 0), a, sizeof a);
  assert_memory_equal(m.shared + dataset_data_offset(&m.spec, 1), x, sizeof x);
  assert_memory_equal(m.shared + dataset_data_offset(&m.spec, 2), k, sizeof k);
  unmake(&m);
}

static void take(const char *dtype, const char *value, const char *want) {
  struct made m;
  cugen_error err = {0};
  const char *body =
      formed("problem 'n' (1), input 'x' { dtype = '%s', shape = { 'n' }, values = { %s } }," REST,
             dtype, value);
  if (!want) {
    if (make(body, &m, &err)) fail_msg("%s as %s: %s", value, dtype, err.message);
    unmake(&m);
  } else {
    expect_error(body, want);
  }
}

/* A value that the type would store as another number, or as infinity, is refused; rounding is
   not. */
TEST(a_type_holds_its_numbers) {
  static const struct {
    const char *dtype, *held, *beyond;
  } cases[] = {
      {"i8", "-128", "-129"},
      {"u8", "255", "256"},
      {"u8", "0", "-1"},
      {"i32", "1 << 30", "1 << 31"},
      {"u32", "4294967295", "4294967296"},
      {"u64", "1 << 62", "-1"},
      {"i64", "-2.0 ^ 63", "2.0 ^ 63"},
      {"u64", "2.0 ^ 63", "2.0 ^ 64"},
      {"i64", "3.0", "3.5"},
      {"f16", "65504", "65520"},
      {"e5m2", "57344", "61440"},
      {"e4m3", "464", "465"},
      {"f32", "1e38", "1e39"},
      {"bf16", "3e38", "4e38"},
      {"f16", "1 / 0", "1e6"},
      {"f32", "16777217", "-1e300"},
      {"e4m3", "0 / 0", "1 / 0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    take(cases[i].dtype, cases[i].held, NULL);
    take(cases[i].dtype, cases[i].beyond, " is no number of dtype ");
  }
}

TEST(mistakes_have_their_line) {
#define X(attributes)                                                                              \
  "problem 'n' (7), input 'x' { dtype = 'i8', shape = { 'n' }, " attributes " }," REST
  expect_error(X("values = '100 * i0'"),
               "values of \"x\": element [2]: the value 200 is no number of dtype i8");
  expect_error(X("values = 'i0 / 2.0'"), "element [1]: the value 0.5 is no number of dtype i8");
  expect_error(X("values = '7 // i0'"),
               "element [0]: in \"7 // i0\": 7 // i0 is 7 // 0, which divides by zero");
  expect_error(X("values = 'i0 == 3 and 200 or 7 // (5 - i0)'"),
               "element [3]: the value 200 is no number of dtype i8");
  expect_error(X("values = 'i0 == 5 and 200 or 7 // (3 - i0)'"),
               "element [3]: in \"i0 == 5 and 200 or 7 // (3 - i0)\": 7 // (3 - i0) is 7 // 0, ");
  expect_error(X("values = 'i0 > 3'"), "element [0]: the value false is no number of dtype i8");
  expect_error(X("values = { 1, 2 }"),
               "the list has 2 numbers, and the shape of this problem, 7, has 7");
  expect_error(X("values = { 1, 2, 3, 4, 5, 6, 300 }"),
               "element [6]: the value 300 is no number of dtype i8");
  expect_error(X("file = 'none.npy'"), "file of \"x\": no data file 'none.npy': looked for ");
#undef X
}

static void expect_refusal(const char *arguments, const char *want) {
  FREED(text) text = {0};
  struct config *config;
  cugen_error err = {0};
  text_addf(&text, "kernel 'k' { problem 'n' (7), problem 'i1' (3),\n%s\n" REST " }", arguments);
  if (!config_parse("c.lua", text_get(&text), text.length, &config, &err))
    fail_msg("no error: %s", arguments);
  if (strncmp(err.message, want, strlen(want)) != 0) fail_msg("%s\n  want %s", err.message, want);
}

TEST(declarations_are_checked) {
#define X(attributes) "input 'x' { dtype = 'i32', shape = { 'n' }, " attributes " },"
#define Y(attributes) "input 'y2' { dtype = 'i32', shape = { 'n', 2 }, " attributes " },"
  expect_refusal(X("fill = 'ones', values = '1'"),
                 "c.lua:2: \"x\" has both fill and values: its data comes from");
  expect_refusal(X("values = '1', file = 'a.npy'"),
                 "c.lua:2: \"x\" has both values and file: its data comes from");
  expect_refusal(X("values = { 1, 'a' }"),
                 "c.lua:2: values of \"x\": number 2 of the list is a string");
  expect_refusal(X("values = { { 1 } }"), "c.lua:2: values of \"x\" has a list inside");
  expect_refusal(X("values = { a = 1 }"),
                 "c.lua:2: values of \"x\" is an expression in quotes or a list");
  expect_refusal(X("values = 'i2'"), "c.lua:2: values of \"x\": unknown name \"i2\"");
  expect_refusal(X("values = 'x[0]'"),
                 "c.lua:2: values of \"x\": \"x\" is no input, inout or constant that is");
  expect_refusal(X("values = 'y[0]'"),
                 "c.lua:2: values of \"x\": \"y\" is no input, inout or constant that is");
  expect_refusal(X("values = '1'") Y("values = 'x[0, 1]'"),
                 "c.lua:2: values of \"y2\": \"x\" has 1 dimension, not 2, at column 1");
  expect_refusal(X("values = '1'") Y("values = 'x'"),
                 "c.lua:2: values of \"y2\": a buffer stands with its indices");
  expect_refusal(Y("values = 'i0 + i1'"), "c.lua:2: values of \"y2\": 'i1' has a meaning of its "
                                          "own there and is also declared at line 1");
  expect_refusal(X("generator = 'g.cu'") Y("values = 'x[0]'"),
                 "c.lua:2: values of \"y2\": \"x\" comes from a generator");
  expect_refusal(X("generator = ':f'"), "c.lua:2: generator of \"x\" ':f' is no \"file.cu\"");
  expect_refusal(X("values = 'gelu(i0)'"), "c.lua:2: values of \"x\": unknown function \"gelu\"");
#undef X
#undef Y
}

static struct hash proof_of(const char *body) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void f(${params}) {}\n");
  expanding_add(bench, "g.cu", "__global__ void g(${params}) {}\n");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  struct hash hash = spec.proof_hash;
  return hash;
}

static void expect_proof(bool same, const char *a, const char *b) {
  struct hash x = proof_of(a), y = proof_of(b);
  if ((strcmp(x.hex, y.hex) == 0) != same) fail_msg("%s\n%s", a, b);
}

TEST(data_is_part_of_the_proof) {
#define A(x, y)                                                                                    \
  "problem 'n' (7), derive 'm' 'n + 1', input 'x' { dtype = 'i32', shape = { 'n' }, " x " },"      \
  "input 'z' { dtype = 'i32', shape = { 'n' }, " y " }," REST
  expect_proof(true, A("values = 'm'", "values = 'x[i0]'"), A("values = 'm'", "values = 'x[i0]'"));
  expect_proof(false, A("values = 'm'", "fill = 'ones'"), A("values = 'n'", "fill = 'ones'"));
  expect_proof(false, A("fill = 'ones'", "values = 'x[i0]'"),
               A("fill = 'zero'", "values = 'x[i0]'"));
  expect_proof(false, A("values = { 1 }", "fill = 'ones'"), A("values = { 2 }", "fill = 'ones'"));
  expect_proof(false, A("values = { 1 << 60 }", "fill = 'ones'"),
               A("values = { (1 << 60) + 1 }", "fill = 'ones'"));
  expect_proof(false, A("fill = 'ones'", "generator = 'g.cu'"),
               A("fill = 'ones'", "generator = 't.cu'"));
#undef A
}

/* ---- What a run finds in its buffers -------------------------------------------------------- */

enum { PREPARED = 4 };

/* A device whose buffers are numbers: the first byte of each buffer is that of its last fill. */
static int fill_first(struct device *device, void *to, unsigned char byte, size_t bytes,
                      cugen_error *err) {
  *(unsigned char *)to = byte;
  return CUGEN_OK;
}

/* Expects what y, room, more and zeros hold after dataset_prepare for a kernel with this body;
   each held 1 before. */
static void expect_prepared(const char *body, const char *parameters, bool again,
                            const unsigned char *want) {
  CLOSED(expanding) *x = expanding_open(
      "problem 'n' (7), output 'y' { dtype = 'f32', shape = { 'n' } },"
      "scratch 'room' { dtype = 'f32', shape = { 'n' } },"
      "scratch 'more' { dtype = 'f32', shape = { 'n' } },"
      "scratch 'zeros' { dtype = 'f32', shape = { 'n' }, fill = 'zero' }, reference 'none',"
      "implementation 'a' { template 't.cu', grid { 1 }, block { 32 } }",
      NULL, 0);
  expanding_add(x, "t.cu", formed("__global__ void f(%s) { %s }\n", parameters, body));
  FREED(kernel_spec) spec = expanding_one(x, 0);
  unsigned char bytes[PREPARED] = {1, 1, 1, 1};
  struct memory buffers[PREPARED];
  for (size_t i = 0; i < PREPARED; i++)
    buffers[i] = (struct memory){.device = &bytes[i], .bytes = 1};
  static const struct device_ops ops = {.fill = fill_first};
  struct device device = {.ops = &ops};
  struct dataset d = {.spec = spec, .sets = {buffers}, .set_count = 1};
  WORKS(dataset_prepare(&device, &d, &spec, again, &err));
  assert_memory_equal(bytes, want, PREPARED);
}

TEST(scratch_is_poisoned_where_it_is_used) {
  static const char own[] = "float *y, float *a, float *b, float *c";
  expect_prepared("y[0] = room[0];", "${params}", false, (const unsigned char[]){0xff, 0xff, 1, 0});
  expect_prepared("y[0] = room[0] + more[0];", "${params}", false,
                  (const unsigned char[]){0xff, 0xff, 0xff, 0});
  expect_prepared("y[0] = 1;", "${params}", false, (const unsigned char[]){0xff, 1, 1, 0});
  expect_prepared("y[0] = room[0];", "${params}", true, (const unsigned char[]){0xff, 1, 1, 1});
  /* the kernel has names of its own for the arguments */
  expect_prepared("y[0] = a[0];", own, false, (const unsigned char[]){0xff, 0xff, 0xff, 0});
}

/* The digest of a large input, which reads only pieces, covers the first and the last bytes.
   Pages of calloc that are only read take no memory. */
TEST(a_digest_reaches_the_end) {
  const size_t bytes = (size_t)INPUTS_PIECE * 80 + 5;
  char *data = calloc(bytes, 1);
  assert_non_null(data);
  const uint64_t before = inputs_digest(data, bytes);
  data[bytes - 1] = 1;
  assert_true(inputs_digest(data, bytes) != before);
  data[bytes - 1] = 0, data[0] = 1;
  assert_true(inputs_digest(data, bytes) != before);
  free(data);
}

/* All buffer sets together take twice the L2: 8 sets of 4 MiB for 16 MiB. They share the scratch,
   so that this does not count. */
TEST(sets_exceed_the_l2) {
  struct kernel_argument arguments[] = {
      {.dtype = &dtype_table[DTYPE_f32], .rank = 1, .elements = 1 << 20},
      {.dtype = &dtype_table[DTYPE_f32],
       .rank = 1,
       .elements = 1 << 25,
       .kind = CUGEN_ARGUMENT_SCRATCH}};
  const struct kernel_spec spec = {.arguments = arguments, .argument_count = 2};
  struct device device = {
      .description.facts = {.is_gpu = 1, .l2_bytes = 16 << 20, .memory_bytes = INT64_C(1) << 36}};
  assert_int_equal(dataset_sets_wanted(&device, &spec), 8);
  arguments[0].elements = 1 << 24; /* a single set exceeds twice the L2 */
  assert_int_equal(dataset_sets_wanted(&device, &spec), 1);
  arguments[0].elements = 1;
  assert_int_equal(dataset_sets_wanted(&device, &spec), DATASET_MOST_SETS);
  /* At most a quarter of the memory is used: 164 MiB hold the scratch of 128 and two sets of 16. */
  arguments[0].elements = 1 << 22;
  device.description.facts.l2_bytes = 64 << 20;
  device.description.facts.memory_bytes = INT64_C(656) << 20;
  assert_int_equal(dataset_sets_wanted(&device, &spec), 2);
}
