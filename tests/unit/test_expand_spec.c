/* Expansion into specs: launches, arguments, hashes and references of small configs. */
#include "expanding.h"
#include "tests/testing.h"

/* ---- Launches ------------------------------------------------------------------------------- */

static void assert_entry(const char *template, const char *entry) {
  CLOSED(expanding) *bench = expanding_open(TUNED(""), NULL, 0);
  expanding_add(bench, "t.cu", template);
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  assert_string_equal(spec.launches[0].entry, entry);
}

TEST(test_entry) {
  assert_entry("extern \"C\" __global__ void __launch_bounds__(256, 2) one(int *a, int *) {}\n",
               "one");
  assert_entry("__global__ __launch_bounds__(g(2)) static void two(void (*f)(int), int) {}\n",
               "two");
  assert_entry(
      "__global__ void three(int);\n// __global__ void no() {}\n__global__ void three(int) {}\n",
      "three");
  assert_entry("template <int N> __device__ void no() {}\n__global__ void\nfour /* x */ (\n) {}\n",
               "four");
  /* Its parameters are two, or more than the text can tell. */
  assert_entry("__global__ void five(pair<int, pair<int, int>> a, /* , */ int (*b)(int, int)) {}\n",
               "five");
  assert_entry("#define MORE , int\n__global__ void six(int a MORE) {}\n", "six");
  assert_entry("__global__ void seven(int a\n#ifdef B\n, int b\n#endif\n) {}\n", "seven");
}

/* A type that the text shows is compared with the argument's, whose line the error names. For
   buffers only float and double are told apart. */
TEST(test_types_of_parameters) {
  static const char body[] =
      "problem 'n' (8), input 'x' { dtype = 'f32', shape = { 'n' } }, output 'y' { dtype = 'f64', "
      "shape = { 'n' }, "
      "tolerance = '0' },\n"
      "reference 'none', scalar 'a' { dtype = 'f32', value = '2' }, scalar 'n' { dtype = 'i32' },\n"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }";
  static const char *const right[] = {
      "const float *__restrict__ x, double *y, float a, int n",
      "float *x, double *const y, const float a, unsigned int n",
      "unsigned int *x, unsigned char *, float, int",
      "unsigned long long x, double *y, float a, int n",
      "real *x, real *y, real a, size n",
      "float (*x)[4], double *y, float a, int n",
      "pair<double, int> *x, double *y, float a, int n = 3",
      "real *x, double *y, float a, short n) {}\n#define real float\nvoid f(",
  };
  static const struct {
    const char *list, *said;
  } wrong[] = {
      {"double *x, double *y, float a, int n",
       "k.lua:2: the f32 buffer 'x' is passed as 'double *x'"},
      {"float *x, float y, float a, int n", "k.lua:2: the f64 buffer 'y' is passed as 'float y'"},
      {"float *x, double *y, const double scale, int n",
       "k.lua:3: the f32 scalar 'a' is passed as 'double scale'"},
      {"float *x, double *y, int n, float a", "k.lua:3: the f32 scalar 'a' is passed as 'int n'"},
      {"float *x, double *y, float *a, int n",
       "k.lua:3: the f32 scalar 'a' is passed as 'float *a'"},
      {"float *x, double *y, float a, unsigned short n",
       "k.lua:3: the i32 scalar 'n' is passed as 'unsigned short n'"},
  };
  char source[200], expected[200];
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    snprintf(source, sizeof source, "__global__ void k(%s) {}\n", right[i]);
    CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
    expanding_add(bench, "t.cu", source);
    struct kernel_spec spec = expanding_one(bench, 0);
    kernel_spec_free(&spec);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(source, sizeof source, "__global__ void k(%s) {}\n", wrong[i].list);
    snprintf(expected, sizeof expected,
             "%s to kernel 'k' of T/t.cu:1: their types must agree\n  in variant 'a'",
             wrong[i].said);
    expanding_error(body, source, CUGEN_ERROR_CONFIG, expected);
  }
}

static void expect_order(const char *launches, const char *list, const char *order) {
  char body[600], source[200];
  snprintf(body, sizeof body,
           "problem 'n' (8), input 'x' { dtype = 'f32', shape = { 'n' } }, output 'y' { dtype = "
           "'f32', shape = { 'n' }, "
           "tolerance = '0' },\n"
           "scalar 'a' { dtype = 'f32', value = '2' }, reference 'none', implementation 'a' { "
           "template 't.cu', %s }",
           launches);
  snprintf(source, sizeof source, "__global__ void k(%s) {}\n", list);
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", source);
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  if (order) assert_non_null(spec.order);
  if (order) assert_non_null(strstr(spec.order, order));
  if (!order) assert_null(spec.order);
}

/* Names that the kernel and the config share, in another order. Names are free, and lists of one
   kernel may differ. */
TEST(test_order_of_parameters) {
  static const char one[] = "grid { 1 }, block { 1 }",
                    own[] = "launch { grid { 1 }, block { 1 }, pass { 'y', 'x' } }",
                    twice[] = "launch { grid { 1 }, block { 1 }, pass { 'x', 'y' } },\n"
                              "launch { grid { 1 }, block { 1 }, pass { 'y', 'x' } }";
  expect_order(one, "float *y, float *x, float a",
               "names its parameters y, x, a; the config passes x, y, a");
  expect_order(one, "float *out, float *x, float a", NULL);
  expect_order(one, "float *y, float *data, float x",
               "names its parameters y, data, x; the config passes x, y, a");
  expect_order(one, "float *x, float *y, float a", NULL);
  expect_order(one, "float *, float *, float", NULL);
  expect_order(one, "float *in, float *out, float scale", NULL);
  expect_order(one, "float *y, float *x, float a) {}\n#define x data\nvoid f(", NULL);
  expect_order(one, "${params}", NULL);
  expect_order(own, "float *x, float *y", "names its parameters x, y; the config passes y, x");
  expect_order(twice, "float *x, float *y", NULL);
}

TEST(test_entry_errors) {
#define REFUSED(template, expected)                                                                \
  expanding_error(TUNED("\n"), template, CUGEN_ERROR_CONFIG, expected "\n  in variant 'a'")
  REFUSED("void f() {}\n", "k.lua:3: template 't.cu' has no __global__ function to launch");
  REFUSED("__global__ void f() {}\n__global__ void g() {}\n",
          "k.lua:3: template 't.cu' has 2 __global__ functions (f, g): say which one with entry "
          "\"name\"");
  REFUSED("template <typename T> __global__ void f(T) {}\n",
          "k.lua:3: 'f' in template 't.cu' is a C++ template: say which one is launched with entry "
          "\"f<...>\"");
#undef REFUSED
}

TEST(test_named_entry) {
  static const char body[] = IN_OUT
      "implementation 'a' { template 't.cu',\nlaunch { entry 'ns::g<int>', grid { 'n', '2', '3' }, "
      "block { '32', '2' }, shared '16 * n' },\nlaunch { entry 'f', grid { '1' }, block { '32' } } "
      "}";
  struct expanding *bench = expanding_open(body, NULL, 0);
  expanding_add(
      bench, "t.cu",
      "__global__ void f() {}\nnamespace ns { template <typename T> __global__ void g() {} }\n");
  struct kernel_spec spec = expanding_one(bench, 0);
  assert_int_equal(spec.launch_count, 2);
  assert_string_equal(spec.launches[0].entry, "ns::g<int>");
  assert_int_equal(spec.launches[0].grid[0], 1000);
  assert_int_equal(spec.launches[0].grid[1], 2);
  assert_int_equal(spec.launches[0].grid[2], 3);
  assert_int_equal(spec.launches[0].block[0], 32);
  assert_int_equal(spec.launches[0].block[1], 2);
  assert_int_equal(spec.launches[0].block[2], 1);
  assert_int_equal(spec.launches[0].shared_bytes, 16000);
  assert_string_equal(spec.launches[1].entry, "f");
  assert_int_equal(spec.launches[1].grid[0], 1);
  assert_int_equal(spec.launches[1].shared_bytes, 0);
  kernel_spec_free(&spec);
  expanding_close(bench);
  expanding_error(
      body, "__global__ void h() {}\n", CUGEN_ERROR_CONFIG,
      "k.lua:3: template 't.cu' has 1 __global__ functions (h): say which one with entry \"name\"; "
      "'ns::g<int>' is none "
      "of them\n  in variant 'a'");
}

/* Percent of what L1 and shared memory share; the driver decides where nothing or -1 is said. */
/* Two buffers in turn, for as many steps as the tunable says. */
#define STEPS(rest)                                                                                \
  IN_OUT                                                                                           \
  "scratch 's' { dtype = 'f32', shape = { 4 } }, scalar 'm' { dtype = 'i32', value = 7 },"         \
  "scalar 'k' { dtype = 'i32', value = 7, specialize = true }, constant 'c' { dtype = 'f32', "     \
  "shape = { 4 } },"                                                                               \
  "implementation 'a' { template 't.cu', tunable 'turns' { 3, 0, 100, 1048576 },\n" rest " }"
static const char two_kernels[] =
    "__global__ void f(float *a, float *b, int n) {}\n__global__ void g() {}\n";

TEST(test_steps) {
  struct expanding *bench = expanding_open(
      STEPS("launch { entry 'f', steps 'turns', grid { 'steps' }, block { 'step + 1' }, "
            "pass { \"step % 2 == 0 and 'x' or 's'\", 'y', { 'm', value = 'step * 10' } } },\n"
            "launch { entry 'g', grid { 1 }, block { 1 }, pass {} }"),
      NULL, 0);
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  expanding_add(bench, "t.cu", two_kernels);
  struct kernel_spec spec = expanding_one(bench, 0);
  assert_int_equal(spec.launch_count, 4);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(spec.launches[i].grid[0], 3);
    assert_int_equal(spec.launches[i].block[0], i + 1);
    assert_int_equal(spec.launches[i].line, 3);
    assert_int_equal(kernel_launch_parameters(&spec, &spec.launches[i], passed), 3);
    assert_string_equal(spec.arguments[passed[0].argument].name, i % 2 ? "s" : "x");
    assert_int_equal(passed[1].value.type, VALUE_NIL);
    assert_int_equal(passed[2].value.integer, 10 * i);
  }
  assert_string_equal(spec.launches[3].entry, "g");
  assert_true(spec.launches[3].listed);
  assert_int_equal(kernel_launch_parameters(&spec, &spec.launches[3], passed), 0);
  assert_false(spec.arguments[2].unused); /* passed, although the source never uses it */
  kernel_spec_free(&spec);
  spec = expanding_one(bench, 1);
  assert_int_equal(spec.launch_count, 1);
  assert_true(spec.arguments[2].unused);
  kernel_spec_free(&spec);
  assert_int_equal(space_valid(bench->space), 3); /* 2^20 launches and one more are too many */
  expanding_close(bench);
  bench = expanding_open(STEPS("launch { entry 'f', steps '1048576', grid { 1 }, block { 1 } },\n"
                               "launch { entry 'g', grid { 1 }, block { 1 } }"),
                         NULL, 0);
  expanding_add(bench, "t.cu", two_kernels);
  FAILS_WITH(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_CONFIG,
             "k.lua:3: the steps come to 1048577 launches: at most 1048576 "
             "are possible\n  in variant 'a turns=3'");
  expanding_close(bench);
}

static void expect_sequence(const struct kernel_spec *spec, const uint32_t *want, size_t count) {
  assert_int_equal(kernel_spec_calls(spec), count);
  for (size_t i = 0; i < count; i++) assert_int_equal(kernel_spec_call(spec, i), want[i]);
}

/* Rounds of several launches: equal launches are stored once, and the entry sees the step. */
TEST(test_loops) {
  static const uint32_t plain[] = {0, 1, 2, 1, 2, 1, 2, 0}, turns[] = {0, 1, 2, 1, 0, 1};
  struct expanding *bench =
      expanding_open(STEPS("launch { entry 'g', grid { 1 }, block { 1 }, pass {} },\n"
                           "loop { steps 'turns', launch { entry 'f', grid { 'steps' }, block { 1 "
                           "}, pass { 'x', 'y', 'm' } },\n"
                           "launch { entry 'g', grid { 2 }, block { 1 }, pass {} } },\n"
                           "launch { entry 'g', grid { 1 }, block { 1 }, pass {} }"),
                     NULL, 0);
  expanding_add(bench, "t.cu", two_kernels);
  struct kernel_spec spec = expanding_one(bench, 0), other;
  assert_int_equal(spec.launch_count, 4); /* the launches at both ends differ from the others */
  uint32_t want[8];
  memcpy(want, plain, sizeof want);
  want[7] = 3;
  expect_sequence(&spec, want, 8);
  assert_int_equal(spec.launches[1].grid[0], 3);
  kernel_spec_free(&spec);
  spec = expanding_one(bench, 2); /* 100 rounds */
  assert_int_equal(spec.launch_count, 4);
  assert_int_equal(kernel_spec_calls(&spec), 202);
  expanding_close(bench);
  bench =
      expanding_open(STEPS("loop { steps = '3', launch { entry '${select(step % 2 == 0, \"f\", "
                           "\"h\")}', grid { 1 }, "
                           "block { 1 }, pass { 'x', 'y', 'm' } },\n"
                           "launch { entry 'g', grid { 'step % 2 + 1' }, block { 1 }, pass {} } }"),
                     NULL, 0);
  expanding_add(bench, "t.cu",
                "__global__ void f(float *a, float *b, int n) {}\n__global__ void g() {}\n"
                "__global__ void h(float *a, float *b, int n) {}\n");
  other = expanding_one(bench, 0);
  assert_int_equal(other.launch_count, 4);
  memcpy(want, turns, sizeof turns);
  want[2] = 2, want[3] = 3;
  expect_sequence(&other, want, 6);
  assert_string_equal(other.launches[0].entry, "f");
  assert_string_equal(other.launches[2].entry, "h");
  assert_string_not_equal(other.hash.hex, spec.hash.hex);
  kernel_spec_free(&other);
  expanding_close(bench);
  /* Steps that differ in `cooperative` alone are different launches. */
  bench = expanding_open(STEPS("launch { entry 'g', steps '3', grid { 1 }, block { 1 }, "
                               "cooperative 'step == 0', pass {} }"),
                         NULL, 0);
  expanding_add(bench, "t.cu", two_kernels);
  other = expanding_one(bench, 0);
  expect_sequence(&other, (const uint32_t[]){0, 1, 1}, 3);
  assert_true(other.launches[0].cooperative);
  assert_false(other.launches[1].cooperative);
  kernel_spec_free(&spec);
  kernel_spec_free(&other);
  expanding_close(bench);
}

/* Launches that differ only in what they pass are different kernels. */
TEST(test_lists_are_hashed) {
  static const char *const lists[] = {"'x', 'y', 'm'", "'y', 'x', 'm'",
                                      "'x', 'y', { 'm', value = 7 }"};
  struct hash hashes[3];
  for (int i = 0; i < 3; i++) {
    CLOSED(expanding) *bench = expanding_open(
        formed(STEPS("entry 'f', grid { 1 }, block { 1 }, pass { %s }"), lists[i]), NULL, 0);
    expanding_add(bench, "t.cu", two_kernels);
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    hashes[i] = spec.hash;
  }
  assert_string_not_equal(hashes[0].hex, hashes[1].hex);
  assert_string_not_equal(hashes[0].hex, hashes[2].hex);
}

/* The values of an implementation's own scalars are not part of the source, so all of these
   variants have one compiled kernel. */
TEST(test_own_scalars) {
  CLOSED(expanding) *bench =
      expanding_open(IN_OUT "implementation 'a' { template 't.cu', tunable 'group' { 4, 8 }, "
                            "tunable 'way' { 'down', 'right' },\n"
                            "scalar 'group' { dtype = 'i32' }, scalar 'right' { dtype = 'i64', "
                            "value = \"way == 'right'\" },\n"
                            "launch { entry 'f', grid { 1 }, block { 1 } },\n"
                            "launch { entry 'g', grid { 1 }, block { 1 }, pass { 'y', 'right', { "
                            "'group', value = 'group // 4' } } } }",
                     NULL, 0);
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  struct kernel_spec specs[4];
  expanding_add(bench, "t.cu",
                "__global__ void f(${params}) { y[0] = group * 2; }\n"
                "__global__ void g(float *y, long long right, int group) {}\n");
  for (uint64_t i = 0; i < 4; i++) specs[i] = expanding_one(bench, i);
  assert_non_null(strstr(specs[0].source, "y, int group, long long right)"));
  assert_null(strstr(specs[0].source, "#define group"));
  assert_int_equal(specs[0].argument_count, 2);
  assert_int_equal(specs[0].own_count, 2);
  for (int i = 0; i < 4; i++) {
    assert_string_equal(specs[i].source_hash.hex, specs[0].source_hash.hex);
    if (i) assert_string_not_equal(specs[i].hash.hex, specs[i - 1].hash.hex);
    assert_int_equal(kernel_launch_parameters(&specs[i], &specs[i].launches[0], passed), 4);
    assert_int_equal(passed[1].value.type, VALUE_NIL);
    assert_string_equal(specs[i].arguments[passed[2].argument].name, "group");
    assert_int_equal(passed[2].value.integer, i / 2 ? 8 : 4);
    assert_int_equal(passed[3].value.integer, i % 2);
    assert_int_equal(kernel_launch_parameters(&specs[i], &specs[i].launches[1], passed), 3);
    assert_int_equal(passed[1].value.integer, i % 2);
    assert_int_equal(passed[2].value.integer, i / 2 ? 2 : 1);
  }
  for (int i = 0; i < 4; i++) kernel_spec_free(&specs[i]);
}

TEST(test_pass_errors) {
#define REFUSED(what, expected)                                                                    \
  expanding_error(STEPS("entry 'f', grid { 1 }, block { 1 }, " what), two_kernels,                 \
                  CUGEN_ERROR_CONFIG, "k.lua:3: " expected "\n  in variant 'a turns=3'")
  REFUSED("pass { 'x', \"turns == 3 and 'q' or 'x'\" }",
          "pass, parameter 2: \"q\" is no argument of this kernel");
  REFUSED("pass { 'turns * 2' }", "pass, parameter 1: \"6\" is no argument of this kernel: a "
                                  "number is passed by a scalar, of the kernel or the "
                                  "implementation");
  REFUSED("pass { 'k' }",
          "pass, parameter 1: 'k' is compiled in (specialize), so it is no parameter");
  REFUSED("pass { 'c' }", "pass, parameter 1: 'c' is a __constant__ symbol, so it is no parameter");
  REFUSED("pass { { 'x', value = 3 } }",
          "pass, parameter 1: 'x' is a buffer: only scalars have a value");
  REFUSED("pass { { 'm', value = \"'x'\" } }", "pass, parameter 1: the value of 'm' is no number");
  REFUSED("steps '0'", "all launches are left out: their steps are 0");
#undef REFUSED
}

TEST(test_carveout) {
  static const struct {
    const char *said;
    bool has;
    int percent;
  } rows[] = {{"", false, 0},
              {", carveout '-1'", false, 0},
              {", carveout '0'", true, 0},
              {", carveout 't * 50'", true, 100}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    FREED(text) body = {0};
    text_addf(
        &body,
        IN_OUT
        "implementation 'a' { template 't.cu', tunable 't' { 2 }, grid { '1' }, block { '32' }%s }",
        rows[i].said);
    CLOSED(expanding) *bench = expanding_open(text_get(&body), NULL, 0);
    expanding_add(bench, "t.cu", "__global__ void f() {}\n");
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    assert_int_equal(spec.launches[0].has_carveout, rows[i].has);
    assert_int_equal(spec.launches[0].carveout, rows[i].percent);
  }
}

TEST(test_overlap) {
  static const char *const waits =
      "__global__ void f() { asm volatile(\"griddepcontrol.wait;\"); }\n";
  for (int overlap = 0; overlap < 2; overlap++) {
    CLOSED(expanding) *bench =
        expanding_open(overlap ? IN_OUT "implementation 'a' { " ONE_LAUNCH ", overlap 'n == 1000' }"
                               : IN_OUT "implementation 'a' { " ONE_LAUNCH ", overlap 'n < 1000' }",
                       NULL, 0);
    expanding_add(bench, "t.cu", waits);
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    assert_int_equal(spec.launches[0].overlap, overlap);
  }
}

TEST(test_launch_errors) {
#define REFUSED(launch, expected)                                                                  \
  expanding_error(IN_OUT "implementation 'a' { template 't.cu',\n" launch " }",                    \
                  "__global__ void f() {}\n", CUGEN_ERROR_CONFIG,                                  \
                  "k.lua:3: " expected "\n  in variant 'a'")
  REFUSED("grid { 'n - 1000' }, block { '32' }",
          "grid x is 0 (from \"n - 1000\"): it must be 1 to 2147483647");
  REFUSED("grid { '1', '66 * n' }, block { '32' }",
          "grid y is 66000 (from \"66 * n\"): it must be 1 to 65535");
  REFUSED("grid { '1' }, block { '1', '1', '65' }",
          "block z is 65 (from \"65\"): it must be 1 to 64");
  REFUSED("grid { '1' }, block { '64', '32' }",
          "a block of 2048 threads (64 x 32 x 1): the device takes at most 1024");
  REFUSED("grid { '1' }, block { '32' }, shared '-n'",
          "shared is -1000 bytes: it must be 0 to 2^31 - 1");
  REFUSED("grid { '1' }, block { '32' }, carveout '101'",
          "carveout is 101: it must be 0 to 100 percent, or -1 for the driver's choice");
  REFUSED("grid { '1' }, block { '32' }, carveout '-2'",
          "carveout is -2: it must be 0 to 100 percent, or -1 for the driver's choice");
  REFUSED("grid { '1' }, block { '32' }, overlap 'true'",
          "overlap: the kernel does not wait for the launch before it (griddepcontrol.wait)");
  REFUSED("grid { '1' }, block { '32' }, carveout '1 // (n - 1000)'",
          "carveout: in \"1 // (n - 1000)\": 1 // (n - 1000) is 1 // 0, which divides by zero");
  REFUSED("launch { grid { '1' }, block { '32' }, carveout '50' }, launch { grid { '2' }, block { "
          "'32' } }",
          "launches of kernel 'f' have different carveouts");
#undef REFUSED
}

/* An expression that fails names its line, whatever it belongs to. */
TEST(test_work_errors) {
  static const char *const words[] = {"flops", "bytes", "products"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    FREED(text) body = {0};
    text_addf(
        &body,
        IN_OUT
        "\n%s '1 // (n - 1000)', implementation 'a' { template 't.cu', grid { 1 }, block { 32 } }",
        words[i]);
    const char *expected =
        formed("k.lua:3: %s: in \"1 // (n - 1000)\": 1 // (n - 1000) is 1 // 0, which divides by "
               "zero\n  in variant 'a'",
               words[i]);
    expanding_error(text_get(&body), "__global__ void f() {}\n", CUGEN_ERROR_CONFIG, expected);
  }
}

/* ---- The spec ------------------------------------------------------------------------------- */

TEST(test_spec) {
  struct expanding *bench = expanding_open(
      "problem 'n' (10), input 'x' { dtype = 'f32', shape = { 'n' }, memory = 'managed' },"
      "output 'y' { dtype = 'f64', shape = { 'n', '2' }, tolerance = '0.25' },"
      "scalar 'n' { dtype = 'i64' }, flops '3 * n', bytes '8 * n', reference 'none',"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }",
      (const char *[]){"n=20"}, 1);
  expanding_add(bench, "t.cu", "__global__ void f(${params}) {}");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  assert_int_equal(spec.argument_count, 3);
  assert_string_equal(spec.arguments[0].name, "x");
  assert_int_equal(spec.arguments[0].memory, MEMORY_MANAGED);
  assert_string_equal(spec.arguments[1].name, "y");
  assert_int_equal(spec.arguments[1].elements, 40);
  assert_true(spec.arguments[1].tolerance == 0.25);
  assert_int_equal(spec.arguments[2].value.integer, 20);
  assert_true(spec.flops == 60 && spec.bytes == 160);
  assert_true(spec.source[strlen(spec.source) - 1] == '\n');
  /* The spec does not depend on anything that is closed here. */
  expanding_close(bench);
  assert_string_equal(spec.arguments[1].name, "y");
  assert_string_equal(spec.launches[0].entry, "f");
}

struct hashes {
  struct hash hash, source;
};

static struct hashes hashes_of(const char *body, const char *template) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", template);
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  struct hashes hashes = {spec.hash, spec.source_hash};
  return hashes;
}

static void assert_hashes(struct hashes a, struct hashes b, bool source, bool whole) {
  assert_int_equal(strcmp(a.source.hex, b.source.hex) == 0, source);
  assert_int_equal(strcmp(a.hash.hex, b.hash.hex) == 0, whole);
}

TEST(test_hashes) {
  static const char kernel[] = "__global__ void f(x_t *x, float *) { *x = 1; }\n";
  struct hashes plain = hashes_of(TUNED(""), kernel);
  assert_hashes(plain, hashes_of(TUNED(""), kernel), true, true);
  assert_hashes(
      plain,
      hashes_of(TUNED(""),
                "// why\n__global__ void f(x_t *x, float *)\n{\n  *x = 1; /* one */\n}\n"),
      true, true);
  assert_hashes(
      plain,
      hashes_of(TUNED(""), "//@ local a = 1\n__global__ void f(x_t *x, float *) { *x = ${a}; }\n"),
      true, true);
  assert_hashes(plain, hashes_of(TUNED("tunable 'unused' { 5 },"), kernel), true, true);
  assert_hashes(plain, hashes_of(TUNED(""), "__global__ void f(x_t *x, float *) { *x = 2; }\n"),
                false, false);
  assert_hashes(plain,
                hashes_of(IN_OUT
                          "implementation 'a' { template 't.cu', grid { '4' }, block { '128' } }",
                          kernel),
                true, false);
  assert_hashes(plain,
                hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", shared '64' }", kernel),
                true, false);
  assert_hashes(plain,
                hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", carveout '0' }", kernel),
                true, false);
  assert_hashes(plain,
                hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", carveout '-1' }", kernel),
                true, true);
  assert_hashes(
      plain, hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", cooperative 'true' }", kernel),
      true, false);
}

#define TENSOR(attributes, tensor)                                                                 \
  "problem 'bm' (64), problem 'how' { 'global', 'array' }, reference 'none',"                      \
  "input 'A' { dtype = 'bf16', shape = { 96, 40 }" attributes                                      \
  " }, output 'C' { dtype = 'f32', shape = { 8 } },"                                               \
  "scalar 'bm' {}, implementation 'a' { tensor 'A' { " tensor                                      \
  " }, template 't.cu', grid { 1 }, block { 32 } }"

TEST(test_tensor) {
  CLOSED(expanding) *bench =
      expanding_open(TENSOR("", "box = { 'bm', '16 * 4' }, swizzle = 128"), NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void f(${params}) { g(&A, A_stride0); }\n");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  assert_non_null(
      strstr(spec.source, "struct alignas(64) tensor_map { unsigned long long words[16]; };\n"));
  assert_non_null(
      strstr(spec.source,
             "void f(const __grid_constant__ tensor_map A, C_t *__restrict__ C, index_t bm) {"));
  assert_non_null(strstr(spec.source, "#define A_stride0 40\n"));
  assert_int_equal(spec.arguments[0].access, ACCESS_TENSOR);
  assert_int_equal(spec.arguments[0].box[0], 64);
  assert_int_equal(spec.arguments[0].box[1], 64);
  assert_int_equal(spec.arguments[0].swizzle, 128);
}

/* If its condition is false, the parameter is a pointer, and its box is not checked. */
TEST(test_a_tensor_with_a_condition) {
  static const char *const parameters[] = {"f(const __grid_constant__ tensor_map A,",
                                           "f(const A_t *__restrict__ A,"};
  static const char *const bodies[] = {TENSOR("", "box = { 32, 8 }, when = 'bm == 64'"),
                                       TENSOR("", "box = { 32, 0 }, when = 'bm ~= 64'")};
  for (size_t i = 0; i < 2; i++) {
    CLOSED(expanding) *bench = expanding_open(bodies[i], NULL, 0);
    expanding_add(bench, "t.cu", "__global__ void f(${params}) {}\n");
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    assert_non_null(strstr(spec.source, parameters[i]));
    assert_int_equal(spec.arguments[0].access, i ? ACCESS_GLOBAL : ACCESS_TENSOR);
  }
}

/* Three matrices below each other: the number of the matrix is a dimension of its own, the last
   one. */
TEST(test_parts_of_a_tensor) {
  static const int64_t shape[] = {40, 32, 3}, stride[] = {2, 96, 96 * 32}, box[] = {32, 16, 1};
  CLOSED(expanding) *bench =
      expanding_open(TENSOR(", pitch = 48", "box = { 16, 32 }, parts = 3"), NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void f(${params}) {}\n");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  struct tensor_extent extent = kernel_argument_tensor(&spec.arguments[0]);
  assert_int_equal(extent.rank, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(extent.shape[i], shape[i]);
    assert_int_equal(extent.stride[i], stride[i]);
    assert_int_equal(extent.box[i], box[i]);
  }
}

/* Another box, swizzle or number of parts makes another launch of the same source. */
TEST(test_a_tensor_is_part_of_the_launch) {
  static const char *const bodies[] = {
      TENSOR("", "box = { 'bm', 64 }, swizzle = 128"),
      TENSOR("", "box = { 32, 64 }, swizzle = 128"), TENSOR("", "box = { 'bm', 64 }"),
      TENSOR("", "box = { 'bm', 32 }, swizzle = 128"), TENSOR("", "box = { 'bm', 64 }, parts = 2")};
  struct hash seen[5];
  for (int i = 0; i < 5; i++) {
    CLOSED(expanding) *bench = expanding_open(bodies[i], NULL, 0);
    expanding_add(bench, "t.cu", "__global__ void f(${params}) {}\n");
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    seen[i] = spec.arguments_hash;
    for (int other = 0; other < i; other++) assert_string_not_equal(seen[i].hex, seen[other].hex);
  }
}

/* Types of one size are different kernels, even if the source does not name them, because other
   numbers are passed and compared with the reference. */
TEST(test_a_dtype_is_part_of_the_kernel) {
  static const char *const dtypes[] = {"f32",  "i32",  "u32", "f16", "bf16", "i16", "u16",
                                       "e4m3", "e5m2", "i8",  "u8",  "f64",  "i64", "u64"};
  enum { DTYPES = sizeof dtypes / sizeof *dtypes };
  struct hash whole[DTYPES], arguments[DTYPES], buffers[DTYPES], source = {""};
  for (size_t i = 0; i < DTYPES; i++) {
    const char *body = formed(
        "problem 'n' (64), input 'x' { dtype = '%s', shape = { 'n' } }, output 'y' { dtype = "
        "'f32', shape = { "
        "'n' } }, reference 'none', implementation 'a' { " ONE_LAUNCH " }",
        dtypes[i]);
    CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
    expanding_add(bench, "t.cu", "__global__ void f(const void *x, float *y) {}\n");
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    whole[i] = spec.hash, arguments[i] = spec.arguments_hash, buffers[i] = spec.buffers_hash;
    if (i == 0) source = spec.source_hash;
    assert_string_equal(spec.source_hash.hex, source.hex);
    for (size_t other = 0; other < i; other++) {
      assert_string_not_equal(whole[i].hex, whole[other].hex);
      assert_string_not_equal(arguments[i].hex, arguments[other].hex);
      assert_string_not_equal(buffers[i].hex, buffers[other].hex);
    }
  }
}

#define INTO(attributes, more, shared)                                                             \
  TENSOR(attributes, "into = 's'" more " }, shared 's' { " shared)

/* Box and swizzle are those of the shared array's innermost tile, along the argument's strides. */
TEST(test_tensor_into_a_shared_array) {
  static const struct {
    const char *body;
    int box[2], swizzle;
  } cases[] = {
      {INTO("", "", "dtype = 'f16', shape = { 'bm', 64 }, layout = 'row^128'"), {64, 64}, 128},
      {INTO(", layout = 'col'", "", "dtype = 'bf16', shape = { 'bm', 32 }, layout = 'row^64'"),
       {32, 64},
       64},
      {INTO("", ", shared_by = 2",
            "dtype = 'bf16', shape = { 64, 256 }, layout = 'row/64x64^128', stages = 3"),
       {32, 64},
       128},
      {INTO("", "", "dtype = 'bf16', shape = { 16, 8 }, align = 128"), {16, 8}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CLOSED(expanding) *bench = expanding_open(cases[i].body, NULL, 0);
    expanding_add(bench, "t.cu", "__global__ void f(${params}) { s(0, 0); }\n");
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    assert_int_equal(spec.arguments[0].box[0], cases[i].box[0]);
    assert_int_equal(spec.arguments[0].box[1], cases[i].box[1]);
    assert_int_equal(spec.arguments[0].swizzle, cases[i].swizzle);
  }
}

TEST(test_tensor_into_errors) {
  static const struct {
    const char *body, *want;
  } cases[] = {
      {INTO("", "", "dtype = 'f32', shape = { 8, 32 }"),
       " cannot go into shared \"s\" (row of f32): its elements must have as many bytes as the "
       "argument's"},
      {INTO("", "", "dtype = 'bf16', shape = { 8, 32, 2 }"),
       " cannot go into shared \"s\" (row of bf16): it must have as many dimensions as the "
       "argument"},
      {INTO("", "", "dtype = 'bf16', shape = { 8, 32 }, layout = 'col'"),
       " cannot go into shared \"s\" (col of bf16): within its innermost tile the last index "
       "must be the contiguous one"},
      {INTO("", "", "dtype = 'bf16', shape = { 8, 32 }, layout = 'row+8'"),
       " cannot go into shared \"s\" (row+8 of bf16): a tensor map writes no pads, and of "
       "swizzles only ^32, ^64 and ^128"},
      {INTO("", "", "dtype = 'bf16', shape = { 8, 64 }, layout = 'row^3,3,3'"),
       " cannot go into shared \"s\" (row^3,3,3 of bf16): a tensor map writes no pads, and of "
       "swizzles only ^32, ^64 and ^128"},
      {INTO("", "", "dtype = 'bf16', shape = { 8, 32 }, layout = 'row^128'"),
       " cannot go into shared \"s\" (row^128 of bf16): a line of it must have as many bytes as "
       "its "
       "swizzle"},
      {INTO("", "", "dtype = 'bf16', shape = { 8, 32 }"),
       " cannot go into shared \"s\" (row of bf16): it needs align = 128"},
      {INTO("", ", shared_by = 3", "dtype = 'bf16', shape = { 8, 64 }, layout = 'row^128'"),
       ": shared_by is 3: it must be 1 or more, and divide the lines of the box"},
      {INTO("", ", shared_by = 2", "dtype = 'bf16', shape = { 8, 8 }, align = 128"),
       ": the bytes of a block's part are 64: it must be a multiple of 128, where copies may "
       "begin"},
      {INTO("", "", "dtype = 'bf16', shape = { 512, 64 }, layout = 'row^128'"),
       ": an extent of the box is 512: it must be 1 to 256"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) want = {0};
    text_addf(&want, "k.lua:2: tensor \"A\"%s\n  in variant 'a'", cases[i].want);
    expanding_error(cases[i].body, "__global__ void f(${params}) {}", CUGEN_ERROR_CONFIG,
                    text_get(&want));
  }
}

TEST(test_tensor_errors) {
  static const struct {
    const char *body, *want;
  } cases[] = {
      {TENSOR("", "box = { 0, 64 }"), "an extent of the box is 0: it must be 1 to 256"},
      {TENSOR("", "box = { '8 * bm', 64 }"), "an extent of the box is 512: it must be 1 to 256"},
      {TENSOR("", "box = { 'bm', 64 }, swizzle = 100"),
       "swizzle is 100: it must be 0, 32, 64 or 128 bytes"},
      {TENSOR("", "box = { 'bm', 4 }"),
       "the box's bytes along the contiguous dimension are 8: it must be a multiple of 16"},
      {TENSOR("", "box = { 'bm', 128 }, swizzle = 128"),
       "the box's bytes along the contiguous dimension are 256: it must be at most the swizzle's"},
      {TENSOR("", "box = { 'bm', 64 }, parts = 5"),
       "parts are 5: it must be 1 or more, all equally long"},
      {TENSOR("", "box = { 'bm', 64 }, parts = 0"),
       "parts are 0: it must be 1 or more, all equally long"},
      {TENSOR(", pitch = 44", "box = { 'bm', 64 }"),
       "its rows' distance in bytes is 88: it must be a multiple of 16"},
      {TENSOR(", layout = 'col', pitch = 100", "box = { 'bm', 64 }"),
       "its rows' distance in bytes is 200: it must be a multiple of 16"},
      {TENSOR(", layout = 'row+4'", "box = { 'bm', 64 }"),
       "its rows' distance in bytes is 88: it must be a multiple of 16"},
      {TENSOR(", layout = 'row/8x8'", "box = { 'bm', 64 }"),
       "its layout is row/8x8, and a tensor map needs an array with strides, without tiles or a "
       "swizzle"},
      {TENSOR(", strides = { 96, 2 }", "box = { 'bm', 64 }"),
       "its smallest stride is 2: it must be 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) want = {0};
    text_addf(&want, "k.lua:2: tensor \"A\": %s\n  in variant 'a'", cases[i].want);
    expanding_error(cases[i].body, "__global__ void f(${params}) {}", CUGEN_ERROR_CONFIG,
                    text_get(&want));
  }
}

TEST(test_memory_kind_is_part_of_the_launch) {
#define WITH(kind)                                                                                 \
  "output 'y' { dtype = 'f32', shape = { '4' }, tolerance = '0', memory = '" kind                  \
  "' }, reference 'none',"                                                                         \
  "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }"
  static const char kernel[] = "__global__ void f(float *y) {}\n";
  assert_hashes(hashes_of(WITH("device"), kernel), hashes_of(WITH("pinned"), kernel), true, false);
#undef WITH
}

/* ---- References ----------------------------------------------------------------------------- */

static const char reference_config[] =
    "problem 'm' (5), problem 'p' (16), tunable 'shared' { 3, 4 }, derive 'both' 'shared + m',"
    "input 'a' { dtype = 'f32', shape = { 'm', '3' }, pitch = 'p', layout = 'col' },"
    "output 'c' { dtype = 'f32', shape = { 'm', '300' }, pitch = '512', layout = 'col', tolerance "
    "= '0' },"
    "scalar 'm' { dtype = 'index' }, reference 'r.cu',"
    "implementation 'a' { template 't.cu', tunable 'own' { 1 }, derive 'mine' 'own', grid { '1' }, "
    "block { '32' } }";

static int try_reference(struct expanding *bench, int64_t samples, struct kernel_spec *out,
                         cugen_error *err) {
  struct value values[16];
  struct variant variant;
  space_variant(bench->space, 0, &variant, values);
  return expand_reference(bench->expander, bench->config, &bench->problem, &expanding_facts,
                          &variant, samples, out, err);
}

TEST(test_reference) {
  CLOSED(expanding) *bench = expanding_open(reference_config, NULL, 0);
  expanding_add(bench, "r.cu",
                "__global__ void r(${params}) { c[both] = a_stride0 + a_stride1 + c_stride0; }\n");
  struct kernel_spec spec;
  WORKS(try_reference(bench, 0, &spec, &err));
  expanding_text(bench, spec.source,
                 "// k: reference\n// m=5 p=16\nusing index_t = int;\n#define both ((index_t)(3LL "
                 "+ ((long long)m)))\n"
                 "using a_t = float;\n#define a_stride0 1\n#define a_stride1 16\nusing c_t = "
                 "double;\n#define c_stride0 300\n\n"
                 "#line 1 \"T/r.cu\"\n__global__ void r(const a_t *__restrict__ a, c_t "
                 "*__restrict__ c, index_t m, "
                 "const long long *samples, long long sample_count) { c[both] = a_stride0 + "
                 "a_stride1 + c_stride0; }\n");
  assert_string_equal(spec.variant, "reference");
  assert_int_equal(spec.argument_count, 3);
  assert_string_equal(spec.arguments[1].dtype->name, "f64");
  assert_int_equal(spec.arguments[1].elements, 1500);
  assert_string_equal(spec.arguments[1].layout, "row");
  assert_int_equal(spec.launches[0].grid[0], 6);
  assert_int_equal(spec.launches[0].block[0], 256);
  kernel_spec_free(&spec);
  WORKS(try_reference(bench, 256, &spec, &err));
  assert_int_equal(spec.launches[0].grid[0], 1);
  kernel_spec_free(&spec);
}

TEST(test_reference_errors) {
  struct expanding *bench = expanding_open(reference_config, NULL, 0);
  struct kernel_spec spec;
  expanding_add(bench, "r.cu", "${own}\n");
  FAILS(try_reference(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE, "/r.cu:1: own: unknown",
        "\n  in the reference");
  expanding_close(bench);
  bench = expanding_open(TUNED(""), NULL, 0);
  FAILS_WITH(try_reference(bench, 0, &spec, &err), CUGEN_ERROR_CONFIG,
             "k.lua: kernel 'k' declares no reference");
  expanding_close(bench);
}

/* A verify kernel reads all arguments as the kernel left them, and inouts also as they were
   before. */
TEST(test_verify) {
  CLOSED(expanding) *bench = expanding_open(
      "problem 'm' (5), tunable 'shared' { 3, 4 },"
      "input 'a' { dtype = 'f16', shape = { 'm', '3' }, pitch = 16, overwrite = true },"
      "output 'c' { dtype = 'f32', shape = { 'm', '300' }, pitch = '512', layout = 'col', "
      "tolerance = '0' },"
      "inout 'w' { dtype = 'i32', shape = { 'm' } }, scratch 's' { dtype = 'f32', shape = { 2 } },"
      "scalar 'm' { dtype = 'index' }, verify 'v.cu:judge',"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }",
      NULL, 0);
  FREED(kernel_spec) spec;
  struct value values[16];
  struct variant variant;
  expanding_add(bench, "v.cu",
                "__global__ void judge(${params}) { error[0] = c_stride1 + shared; }\n__global__ "
                "void other() {}\n");
  space_variant(bench->space, 0, &variant, values);
  WORKS(expand_verify(bench->expander, bench->config, &bench->problem, &expanding_facts, &variant,
                      &spec, &err));
  if (!strstr(
          spec.source,
          "judge(const a_t *__restrict__ a, const c_t *__restrict__ c, const w_t *__restrict__ w, "
          "const s_t *__restrict__ s, index_t m, const w_t *__restrict__ w_before, double "
          "*__restrict__ error, "
          "long long count) { error[0] = c_stride1 + shared; }"))
    fail_msg("%s", spec.source);
  assert_non_null(strstr(spec.source, "using c_t = float;"));
  assert_non_null(strstr(spec.source, "#define c_stride1 512\n"));
  assert_string_equal(spec.variant, "verify kernel");
  assert_string_equal(spec.launches[0].entry, "judge");
  assert_int_equal(spec.launches[0].grid[0], 6);
  assert_int_equal(spec.launches[0].block[0], 256);
}

/* ---- What a variant runs on and is compared with -------------------------------------------- */

/* Two shared tunables of two values each: variants 0 to 3, the second one fastest. */
#define DATA(fill, shape, tolerance, scalar, flops)                                                \
  "problem 'n' (1000), tunable 's' { 1, 2 }, tunable 'u' { 3, 4 }, derive 'd' 's * s',"            \
  "input 'x' { dtype = 'f32', shape = { 'n' }, fill = " fill " },"                                 \
  "output 'y' { dtype = 'f32', shape = { " shape ", 3 }, pitch = 8, tolerance = " tolerance " },"  \
  "scalar 'k' { dtype = 'f32', value = '" scalar "' }, reference 'r.cu', flops '" flops "',"       \
  "implementation 'a' { template 't.cu', tunable 'own' { 1, 2 }, grid { 1 }, block { 32 } }"

/* Expects for which variants buffers, results and proofs are equal to those of the first
   variant. `own` is the tunable that varies fastest. */
static void assert_data(const char *body, const char *reference, unsigned buffers, unsigned data,
                        unsigned proofs) {
  struct expanding *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void t(${params}) { y[0] = own; }\n");
  expanding_add(bench, "r.cu", reference);
  struct kernel_spec first = expanding_one(bench, 0);
  unsigned same[3] = {0};
  for (unsigned i = 0; i < 8; i++) {
    FREED(kernel_spec) spec = expanding_one(bench, i);
    same[0] |= (unsigned)(strcmp(first.buffers_hash.hex, spec.buffers_hash.hex) == 0) << i;
    same[1] |= (unsigned)(strcmp(first.data_hash.hex, spec.data_hash.hex) == 0) << i;
    same[2] |= (unsigned)(strcmp(first.proof_hash.hex, spec.proof_hash.hex) == 0) << i;
  }
  kernel_spec_free(&first);
  expanding_close(bench);
  assert_int_equal(same[0], buffers);
  assert_int_equal(same[1], data);
  assert_int_equal(same[2], proofs);
}

TEST(test_data) {
  enum { ALL = 0xff, OF_S = 0x0f, OF_U = 0x33, OF_BOTH = 0x03 };
  static const char plain[] = "__global__ void r(${params}) { y[0] = x[0]; }\n";
  static const char source[] = "__global__ void r(${params}) { y[0] = s; }\n";
  static const char derived[] = "__global__ void r(${params}) { y[0] = d + u; }\n";
  static const char branch[] =
      "//@ if u == 3 then\n__global__ void r(${params}) { y[0] = 1; }\n//@ else\n"
      "__global__ void r(${params}) { y[0] = 2; }\n//@ end\n";
  assert_data(DATA("'ones'", "'n'", "0", "7", "n"), plain, ALL, ALL, ALL);
  assert_data(DATA("'ones'", "'n'", "0", "7", "n"), source, ALL, OF_S, OF_S);
  assert_data(DATA("'ones'", "'n'", "0", "7", "n"), derived, ALL, OF_BOTH, OF_BOTH);
  assert_data(DATA("'ones'", "'n'", "0", "7", "n"), branch, ALL, OF_U, OF_U);
  /* the value of a scalar, which is passed */
  assert_data(DATA("'ones'", "'n'", "0", "s", "n"), plain, ALL, OF_S, ALL);
  assert_data(DATA("\"s == 1 and 'ones' or 'zero'\"", "'n'", "0", "7", "n"), plain, OF_S, OF_S,
              OF_S);
  assert_data(DATA("'ones'", "'n + u'", "0", "7", "n"), plain, OF_U, OF_U, OF_U);
  assert_data(DATA("'ones'", "'n'", "'0.1 * u'", "7", "n"), plain, ALL, ALL, OF_U);
  /* the number of samples */
  assert_data(DATA("'ones'", "'n'", "0", "7", "n * s"), plain, ALL, OF_S, ALL);
}

#define JUDGED(judges)                                                                             \
  "problem 'n' (1000), tunable 's' { 1, 2 }, tunable 'u' { 3, 4 }, input 'x' { dtype = 'f32', "    \
  "shape = { 'n' } },"                                                                             \
  "output 'y' { dtype = 'f32', shape = { 'n' } }, " judges                                         \
  "implementation 'a' { template 't.cu', tunable 'own' { 1, 2 }, grid { 1 }, block { 32 } }"

static void take_hashes(const char *body, const char *verify, struct kernel_spec *out) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", "__global__ void t(${params}) { y[0] = own; }\n");
  expanding_add(bench, "r.cu", verify);
  *out = expanding_one(bench, 0);
}

/* ---- The kernel on the check problem -------------------------------------------------------- */

#define CHECKED(shape, condition, grid)                                                            \
  "problem 'n' (1024), check { n = 100 },"                                                         \
  "output 'y' { dtype = 'f32', shape = { " shape " } }, scalar 'n' { dtype = 'i32' },"             \
  "reference 'none', implementation 'a' { template 't.cu', tunable 'T' { 32 }, " condition         \
  "grid { '" grid "' }, block { 'T' } }"

/* few: what the kernel does where n is small. */
static void expand_checked(const char *body, const char *few, struct kernel_spec *out) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  struct text template = {0};
  struct value values[8];
  struct variant variant;
  cugen_error err;
  text_addf(&template,
            "__global__ void t(${params}) {\n//@ if n < 1000 then\n%s\n//@ end\ny[0] = 1; }\n",
            few);
  expanding_add(bench, "t.cu", text_get(&template));
  text_free(&template);
  *out = expanding_one(bench, 0);
  space_variant(bench->space, 0, &variant, values);
  expanding_check(expand_add_check(bench->expander, bench->config, &bench->problem,
                                   &expanding_facts, &variant, out, &err),
                  &err);
}

/* Grid, shape and source may differ on the check problem alone. That the variant does not run there
   is a part of the proof, too. */
TEST(the_kernel_on_the_check_problem_is_held_against) {
  FREED(kernel_spec) one, same;
  struct kernel_spec others[3], none[2];
  expand_checked(CHECKED("'n'", "", "ceil_div(n, T)"), "", &one);
  expand_checked(CHECKED("'n'", "", "(n + T - 1) // T"), "// few", &same);
  expand_checked(CHECKED("'n'", "", "n // T"), "", &others[0]);
  expand_checked(CHECKED("'max(n, 128)'", "", "ceil_div(n, T)"), "", &others[1]);
  expand_checked(CHECKED("'n'", "", "ceil_div(n, T)"), "y[1] = 2;", &others[2]);
  expand_checked(CHECKED("'n'", "where 'n % 32 == 0',", "ceil_div(n, T)"), "", &none[0]);
  expand_checked(CHECKED("'n'", "", "n // (n // 128) // 4"), "", &none[1]);
  assert_string_equal(one.hash.hex, same.hash.hex);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(one.plain_hash.hex, others[i].plain_hash.hex);
    assert_string_not_equal(one.hash.hex, others[i].hash.hex);
    assert_string_not_equal(one.proof_hash.hex, others[i].proof_hash.hex);
    kernel_spec_free(&others[i]);
  }
  for (size_t i = 0; i < 2; i++) {
    assert_string_equal(none[i].plain_hash.hex, one.plain_hash.hex);
    assert_string_equal(none[i].hash.hex, none[0].hash.hex);
    assert_string_not_equal(none[i].hash.hex, one.hash.hex);
  }
  kernel_spec_free(&none[0]);
  kernel_spec_free(&none[1]);
}

/* Another reference of the same file is another proof. */
TEST(test_the_entry_is_part_of_the_proof) {
  static const char both[] = "__global__ void one(${params}) { y[0] = x[0]; }\n"
                             "__global__ void two(${params}) { y[0] = x[1]; }\n";
  FREED(kernel_spec) one, two;
  take_hashes(JUDGED("reference 'r.cu:one',"), both, &one);
  take_hashes(JUDGED("reference 'r.cu:two',"), both, &two);
  assert_string_not_equal(one.proof_hash.hex, two.proof_hash.hex);
  assert_string_not_equal(one.data_hash.hex, two.data_hash.hex);
}

/* Another verify kernel is another proof; the data stay the same. */
TEST(test_verify_is_part_of_the_proof) {
  enum { ALL = 0xff, OF_U = 0x33 };
  static const char plain[] = "__global__ void r(${params}) { error[0] = y[0]; }\n";
  static const char other[] = "__global__ void r(${params}) { error[0] = x[0]; }\n";
  FREED(kernel_spec) one, same, changed, none;
  assert_data(JUDGED("verify 'r.cu',"), plain, ALL, ALL, ALL);
  assert_data(JUDGED("verify 'r.cu',"), "__global__ void r(${params}) { error[0] = u; }\n", ALL,
              OF_U, OF_U);
  take_hashes(JUDGED("verify 'r.cu',"), plain, &one);
  take_hashes(JUDGED("verify 'r.cu',"),
              "// why\n__global__ void r(${params}) { error[0] = y[0]; }\n", &same);
  take_hashes(JUDGED("verify 'r.cu',"), other, &changed);
  take_hashes(JUDGED("reference 'none',"), plain, &none);
  assert_string_equal(one.hash.hex, same.hash.hex);
  assert_string_equal(one.data_hash.hex, same.data_hash.hex);
  assert_string_not_equal(one.proof_hash.hex, changed.proof_hash.hex);
  assert_string_not_equal(one.data_hash.hex, changed.data_hash.hex);
  assert_string_not_equal(one.proof_hash.hex, none.proof_hash.hex);
  assert_string_equal(one.buffers_hash.hex, changed.buffers_hash.hex);
}
