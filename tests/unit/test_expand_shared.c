/* Shared arrays that a config declares: their text in the source, and refusals. cpu/layouts.py
   tests the offsets of random layouts. */
#include "expanding.h"
#include "tests/testing.h"

TEST(an_array_has_accessors) {
  expanding_source(
      TUNED("tunable 'pad' { 1 }, shared 's' { dtype = 'dtype', shape = { 4, '8 * 2' }, layout = "
            "'row+${pad}' },"),
      "__global__ void f() { s(1, 2) = 0; }\n",
      "struct alignas(16) s_array { // row+1\n"
      "  float data[4][17];\n"
      "  __device__ float *at(int i, int j) { return &data[i][j]; }\n"
      "  __device__ float &operator()(int i, int j) { return data[i][j]; }\n"
      "  template <class T> __device__ T &as(int i, int j) {\n"
      "    static_assert(sizeof(T) <= 4, \"the layout row+1 of s keeps 4 bytes together "
      "along the last index, and this type has more\");\n"
      "    return *reinterpret_cast<T *>(at(i, j));\n"
      "  }\n"
      "};\n"
      "__shared__ s_array s;\n\n#line 1 \"T/t.cu\"\n__global__ void f() { s(1, 2) = 0; }\n");
}

/* Left as it was, the source would not use the array, so that its layouts would all be alike. */
TEST(a_declaration_in_the_source_hides_none) {
  expanding_error(TUNED("shared 's' { dtype = 'f32', shape = { 4 } },"),
                  "__global__ void f() {\n  __shared__ float s[4];\n  s[threadIdx.x] = 0;\n}\n",
                  CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:2: s is a shared array of the config, and this variable hides it: remove "
                  "the variable's declaration, or rename one of them\n  in variant 'a'");
}

static struct kernel_spec expand(struct expanding **bench, const char *body, const char *source) {
  *bench = expanding_open(body, NULL, 0);
  expanding_add(*bench, "t.cu", source);
  return expanding_one(*bench, 0);
}

static void expect_in(const char *source, const char *expected) {
  if (!strstr(source, expected)) fail_msg("%s is not in\n%s", expected, source);
}

/* PTX ISA, matrix descriptor: bits 62 and 63 are 1 for a swizzle of 128 bytes, 3 for one of 32;
   from bit 32 on the bytes of 8 lines / 16, from bit 16 on those from tile to tile. */
TEST(arrays_for_wgmma_have_descriptors) {
  static const struct {
    const char *attributes, *expected;
  } cases[] = {
      {"shape = { 128, 64 }, layout = 'row^128', stages = 4",
       "  __device__ unsigned long long descriptor(int stage, int i, int j) {\n"
       "    const unsigned at = (unsigned)__cvta_generic_to_shared(data) + 2 * (8192 * stage + 64 "
       "* "
       "i + j);\n"
       "    return 0x4000004000010000 | (at >> 4 & 0x3fff);\n  }\n"},
      {"shape = { 16, 64 }, layout = 'row/16x16^32'",
       "const unsigned at = (unsigned)__cvta_generic_to_shared(data) + 2 * (256 * (j / 16) + 16 * "
       "i "
       "+ j % 16);\n    return 0xc000001000200000 | (at >> 4 & 0x3fff);"},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    CLOSED(expanding) *bench;
    FREED(kernel_spec) spec =
        expand(&bench, formed(TUNED("shared 's' { dtype = 'f16', %s },"), cases[n].attributes),
               "__global__ void f() { s; }\n");
    expect_in(spec.source, cases[n].expected);
  }
}

/* `data` is an array of arrays as far as the strides divide one another: a pad between tiles makes
   one dimension of what lies in them. An exchange by the line alone stays in its line, which the
   compiler sees; one by bits of the sum does not. Tiles are divided without a sign. */
TEST(arrays_are_readable) {
  static const struct {
    const char *shape, *layout, *expected;
  } cases[] = {
      {"{ 32, 32 }", "row^5,0,5",
       "float data[32][32];\n  __device__ float *at(int i, int j) { return &data[i][j ^ (i & 31)]; "
       "}"},
      {"{ 8, 64 }", "row^3,3,3", "return &data[i][j ^ (i << 3 & 56)];"},
      {"{ 8, 64 }", "row^2,1,8", "return &data[i][j ^ (i >> 2 & 6)];"},
      {"{ 8, 16 }", "row^2,1,2",
       "float data[128];\n  __device__ float *at(int i, int j) { const int o = 16 * i + j; return "
       "&data[(o ^ (o >> 2 & 6))]; }"},
      {"{ 12, 20 }", "row/4x8",
       "float data[3][3][4][8];\n  __device__ float *at(unsigned i, unsigned j) { return &data[i / "
       "4][j / 8][i % 4][j % 8]; }"},
      {"{ 12, 20 }", "row/4x8:col+1",
       "float data[3][3][33];\n  __device__ float *at(unsigned i, unsigned j) { return &data[i / "
       "4][j / 8][i % 4 + 4 * (j % 8)]; }"},
      {"{ 2, 3, 4 }", "col",
       "float data[4][3][2];\n  __device__ float *at(int i, int j, int k) { return "
       "&data[k][j][i]; }"},
      {"{ 5 }", "row", "float data[5];\n  __device__ float *at(int i) { return &data[i]; }"},
      {"{ 5, 1 }", "row+1",
       "float data[5][2];\n  __device__ float *at(int i, int j) { return &data[i][0]; }"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CLOSED(expanding) *bench;
    FREED(kernel_spec) spec =
        expand(&bench,
               formed(TUNED("shared 's' { dtype = 'f32', shape = %s, layout = '%s' },"),
                      cases[i].shape, cases[i].layout),
               "__global__ void f() { s.data; }\n");
    expect_in(spec.source, cases[i].expected);
  }
}

/* as() takes elements along the last index, at most 16 bytes. */
TEST(neighbours_lie_together) {
  static const struct {
    const char *dtype, *shape, *layout;
    int bytes, align;
  } cases[] = {{"f32", "{ 8, 8 }", "row", 16, 16},
               {"f32", "{ 8, 8 }", "row", 4, 4},
               {"f32", "{ 8, 8 }", "col", 4, 16},
               {"f32", "{ 8, 8 }", "row+2", 8, 16},
               {"f16", "{ 8, 64 }", "row^3,3,3", 16, 16},
               {"f16", "{ 8, 64 }", "row^3,1,5", 4, 16},
               {"f32", "{ 8, 8 }", "row/4x2", 8, 16},
               {"f32", "{ 8, 8 }", "row/4x4:col", 4, 16},
               {"f64", "{ 7 }", "row", 16, 16}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CLOSED(expanding) *bench;
    const char *body =
        formed(TUNED("shared 's' { dtype = '%s', shape = %s, layout = '%s', align = %d },"),
               cases[i].dtype, cases[i].shape, cases[i].layout, cases[i].align);
    const char *expected = formed("static_assert(sizeof(T) <= %d, \"the layout %s of s",
                                  cases[i].bytes, cases[i].layout);
    FREED(kernel_spec) spec = expand(&bench, body, "__global__ void f() { s.data; }\n");
    expect_in(spec.source, expected);
  }
}

/* Arrays of up to 40 KB together are static; larger ones lie after one another in dynamic shared
   memory, whose bytes are those of the launch. */
TEST(large_arrays_are_dynamic) {
  CLOSED(expanding) *bench;
  struct kernel_spec spec =
      expand(&bench,
             TUNED("tunable 'n_a' { 5116, 5120 }, shared 'a' { dtype = 'f64', shape = { 'n_a' } },"
                   "shared 'b' { dtype = 'u8', shape = { 3 } , stages = 2, align = 16 },"),
             "__global__ void f() { a(0) = b(1, 2); }\n");
  expect_in(spec.source, "__shared__ a_array a;\n");
  expect_in(spec.source, "data[2][16];\n  __device__ unsigned char *at(int stage, int i)");
  assert_int_equal(spec.launches[0].shared_bytes, 0);
  kernel_spec_free(&spec);
  spec = expanding_one(bench, 1);
  expect_in(spec.source, "extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                         "#define a (*(a_array *)(shared_memory + 0))\n");
  expect_in(spec.source, "#define b (*(b_array *)(shared_memory + 40960))\n");
  assert_int_equal(spec.launches[0].shared_bytes, 40960 + 2 * 16);
  kernel_spec_free(&spec);
}

/* `dynamic` puts arrays of any size into dynamic shared memory. An array that the text does not
   mention is left out. */
TEST(dynamic_is_a_choice) {
  CLOSED(expanding) *bench;
  FREED(kernel_spec) spec =
      expand(&bench,
             TUNED("shared 'a' { dtype = 'f32', shape = { 8 } },"
                   "shared 'b' { dtype = 'f32', shape = { 8 }, dynamic = 'n == 1000' },"),
             "__global__ void f() { b(0) = 1; }\n");
  expect_in(spec.source, "#define b (*(b_array *)(shared_memory + 32))\n");
  assert_null(strstr(spec.source, "a_array"));
  assert_int_equal(spec.launches[0].shared_bytes, 64);
}

/* The arrays of a launch belong to it alone and lie behind those of all launches. */
TEST(launches_have_arrays) {
  CLOSED(expanding) *bench;
  FREED(kernel_spec) spec = expand(
      &bench,
      IN_OUT "implementation 'a' { template 't.cu', shared 'all' { dtype = 'u8', shape = { 20 "
             "} }, launch { entry = 'f', grid = { 1 }, block = { 32 }, shared 'a' { dtype = "
             "'f64', shape = { 8000 } } }, launch { entry = 'g', grid = { 1 }, block = { 32 "
             "}, shared 'b' { dtype = 'f32', shape = { 4 }, dynamic = 'true' } } }",
      "__global__ void f() { a(0) = all(0); }\n__global__ void g() { b(0) = all(0); }\n");
  assert_int_equal(spec.launches[0].shared_bytes, 32 + 64000);
  assert_int_equal(spec.launches[1].shared_bytes, 32 + 16);
  expect_in(spec.source, "#define all (*(all_array *)(shared_memory + 0))\n");
  expect_in(spec.source, "#define a (*(a_array *)(shared_memory + 32))\n");
  expect_in(spec.source, "#define b (*(b_array *)(shared_memory + 32))\n");
}

/* If one launch needs the arrays of all launches in dynamic memory, they are dynamic in every
   launch. */
TEST(launches_share_arrays) {
  CLOSED(expanding) *bench;
  FREED(kernel_spec) spec = expand(
      &bench,
      IN_OUT
      "implementation 'a' { template 't.cu', shared 'all' { dtype = 'u8', shape = { 20 } }, "
      "launch { entry = 'f', grid = { 1 }, block = { 32 }, shared 'a' { dtype = 'f64', shape = { "
      "8000 } } }, launch { entry = 'g', grid = { 1 }, block = { 32 }, shared 'b' { dtype = "
      "'f32', shape = { 4 } } } }",
      "__global__ void f() { a(0) = all(0); }\n__global__ void g() { b(0) = all(0); }\n");
  assert_int_equal(spec.launches[0].shared_bytes, 32 + 64000);
  assert_int_equal(spec.launches[1].shared_bytes, 32);
  expect_in(spec.source, "#define all (*(all_array *)(shared_memory + 0))\n");
  expect_in(spec.source, "__shared__ b_array b;\n");
}

/* The launch's bytes include all arrays, also if a tunable chooses the swizzle. */
TEST(swizzles_have_bytes) {
  CLOSED(expanding) *bench = expanding_open(
      TUNED("tunable 'sw' { 32, 64, 128 }, tunable 'bits' { 0, 2 }, shared 'q' { dtype = 'u8', "
            "shape = "
            "{ 4 }, dynamic = 'true' }, shared 's' { dtype = 'f32', shape = { 5, 32 }, layout = "
            "'row^${sw}' }, shared 't' { dtype = 'f32', shape = { 5 }, layout = 'row^${bits},1,2' "
            "},"),
      NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void f() { q(0) = s(0, 0) + t(0); }\n");
  for (uint64_t i = 0; i < 6; i++) {
    FREED(kernel_spec) spec = expanding_one(bench, i);
    const struct layout_array *last = &spec.shared[2];
    assert_int_equal(spec.launches[0].shared_bytes,
                     last->offset + last->stages * last->stage_stride * 4);
  }
}

/* A layout may be the value of a tunable; each layout has a size of its own. */
TEST(layouts_are_values) {
  static const char *const data[] = {"float data[16][16];", "float data[16][20];",
                                     "float data[6][4][3][4];"};
  CLOSED(expanding) *bench = expanding_open(
      TUNED("tunable 'lies' { 'row', 'row+4', 'row/3x4' }, shared 's' { dtype = 'f32', shape = { "
            "16, 16 }, layout = 'lies' },"),
      NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void f() { s(0, 0) = 1; }\n");
  for (uint64_t i = 0; i < 3; i++) {
    FREED(kernel_spec) spec = expanding_one(bench, i);
    expect_in(spec.source, data[i]);
  }
}

/* A(i, j) is an element of an argument; a name that the source gives to something else is not. */
TEST(arguments_have_elements) {
  static const char config[] =
      "problem 'm' (6), problem 'k' (5), reference 'none',"
      "input 'a' { dtype = 'f32', shape = { 'm', 'k' } }, output 'c' { dtype = 'f32', shape = { "
      "'m', 'k' }, layout = 'col' }, implementation 'i' { template 't.cu', grid { 1 }, block { 1 "
      "} }";
  expanding_source(config, "__global__ void f(${params}) { c(1, 2) = a(3, (4, 5)) + a[1]; }\n",
                   "using index_t = int;\nusing a_t = float;\n#define a_stride0 5\n"
                   "#define a(i_, j_) a[(index_t)(i_) * a_stride0 + (j_)]\nusing c_t = float;\n"
                   "#define c_stride1 6\n#define c(i_, j_) c[(i_) + (index_t)(j_) * c_stride1]\n\n"
                   "#line 1 \"T/t.cu\"\n"
                   "__global__ void f(const a_t *__restrict__ a, c_t *__restrict__ c) { c(1, 2) = "
                   "a(3, (4, 5)) + a[1]; }\n");
  static const char *const others[] = {
      "__device__ float a(int, int);\n",
      "namespace { __device__ int a(int x, int y) { return x; } }\n",
      "struct s { int a, b; s(int x) : a(x, 1), b(x) {} };\n",
      "__device__ void g(const float *a) { a[0]; }\n",
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const char *source = formed(
        "%s__global__ void f(const float *p, float *q) { a(1, 2); p->a(1, 2); }\n", others[i]);
    expanding_source(config, source, formed("#line 1 \"T/t.cu\"\n%s", source));
  }
}

/* Sizes may have the names that the index parameters have elsewhere. */
TEST(sizes_keep_their_names) {
  CLOSED(expanding) *bench;
  FREED(kernel_spec) spec =
      expand(&bench,
             "problem 'i' (8), problem 'j' (9), scalar 'i' {}, scalar 'j' {}, reference 'none',"
             "output 'c' { dtype = 'f32', shape = { 'i', 'j' }, layout = 'row/4x8' },"
             "implementation 'a' { template 't.cu', shared 's' { dtype = 'f32', shape = { 4, 4 } "
             "}, tunable "
             "'T' { 2 }, tunable 'k' { 3 }, grid { 1 }, block { 1 } }",
             "__global__ void f(${params}) { c(T, k) = s(1, 2); }\n");
  expect_in(spec.source,
            "#define c(i_, j_) c[(index_t)((unsigned)(i_) / 4) * 32 * (((index_t)(j) + 7) / 8) + ");
  assert_true(strstr(spec.source, "struct alignas(16) s_array") <
              strstr(spec.source, "#define T 2"));
}

/* Expects the refusal of the declaration, which is on line 3. What depends on values is refused
   for a variant. */
static void refuse(const char *declaration, cugen_error *err) {
  FREED(text) body = {0};
  struct config *config;
  text_addf(&body, "kernel \"k\" {\n" IN_OUT "implementation 'a' {\n%s\n" ONE_LAUNCH " } }",
            declaration);
  if (!config_parse("k.lua", text_get(&body), body.length, &config, err)) {
    config_close(config);
    text_restart(&body);
    text_addf(&body, IN_OUT "implementation 'a' {\n%s\n" ONE_LAUNCH " }", declaration);
    CLOSED(expanding) *bench = expanding_open(text_get(&body), NULL, 0);
    struct kernel_spec spec;
    expanding_add(bench, "t.cu", "__global__ void f() { s.data; }\n");
    assert_int_equal(expanding_try(bench, 0, &spec, err), CUGEN_ERROR_CONFIG);
  }
}

TEST(mistakes_have_a_line) {
  static const struct {
    const char *declaration, *expected;
  } cases[] = {
      {"shared 's' { shape = { 4 } },", "shared \"s\" has no dtype: shared \"As\" {"},
      {"shared 's' { dtype = 'f32' },", "shared \"s\" has no shape: shared \"As\" {"},
      {"shared 's' { dtype = 'f32', shape = { 4 }, pad = 1 },",
       "unknown attribute 'pad' of shared \"s\"; attributes are dtype, shape, layout, stages, "
       "align, dynamic"},
      {"shared 's' { dtype = 'f32', shape = { 4, 4 }, layout = 'row+x' },",
       "layout of shared \"s\": layout 'row+x': a number of elements to leave free was expected "
       "at 'x'"},
      {"shared 's' { dtype = 'f32', shape = { 4 }, layout = 'row/2x2' },",
       "layout of shared \"s\": layout 'row/2x2': /ROWSxCOLS"},
      {"shared 's' { dtype = 'f32', shape = { 4 }, layout = 'n' },",
       "layout of shared \"s\" gives no text: it is a word such as"},
      {"shared 's' { dtype = 'f32', shape = { 4 } }, shared 's' { dtype = 'f32', shape = { 4 } },",
       "shared \"s\" stands at line 3 already"},
      {"shared 'x' { dtype = 'f32', shape = { 4 } },",
       "the name 'x' is taken by the argument at line 2"},
      {"shared 's' { dtype = 'f32', shape = { 4 } }, shared '1024',",
       "shared \"s\" is an array, and its launch has bytes of shared memory as well: declare all "
       "arrays, or none"},
      {"shared 's' { dtype = 'f32', shape = { 4 } } { },", "shared has its value already"},
      {"shared 's' { dtype = 'f32', shape = { 'n - 1000' } },",
       "shared \"s\": extent 0: it must be 1 or more"},
      {"tunable 'w' { 'row', 'col' }, shared 's' { dtype = 'f32', shape = { 4 }, layout = '${w}' "
       "},",
       "layout of shared \"s\": '${w}' begins with an expression: the order of dimensions is"},
      {"shared 'data' { dtype = 'f32', shape = { 4 } },",
       "'data' cannot name a shared array: what is generated for it has that name"},
      {"shared 's' { dtype = 'f32', shape = { 4 }, align = 24 },",
       "shared \"s\": align 24: it must be a power of two, at least an element's bytes"},
      {"tunable 'lies' { 'rox', 'row' }, shared 's' { dtype = 'f32', shape = { 4 }, layout = "
       "'lies' "
       "},",
       "layout of shared \"s\": layout 'rox': row, col, or the number of each dimension once"},
      {"shared 's' { dtype = 'f32', shape = { 64, 64 }, layout = 'row^3,2,${n - 998}' },",
       "layout of shared \"s\": layout 'row^3,2,2': a shift of no fewer bits than B"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cugen_error err = {0};
    refuse(cases[i].declaration, &err);
    if (err.status != CUGEN_ERROR_CONFIG || !strstr(err.message, cases[i].expected) ||
        strncmp(err.message, "k.lua:3: ", 9) != 0)
      fail_msg("%s: %s", cases[i].declaration, err.message);
  }
}
