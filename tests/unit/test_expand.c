/* Expansion as a whole: small configs and templates in, exact sources, launches, hashes and messages out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "gen/expand.h"

static const struct device_facts facts = {.compute_capability = 90,
                                          .sm_count = 132,
                                          .warp_size = 32,
                                          .max_threads_per_block = 1024,
                                          .shared_per_block = 49152,
                                          .pitch_alignment = 512,
                                          .is_gpu = 1};

/* ---- One config with its templates, in a folder of its own ---- */

struct bench {
  struct text folder;
  struct sources sources;
  struct config *config;
  struct problem problem;
  struct space *space;
  struct expander *expander;
};

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

static void add_template(struct bench *bench, const char *name, const char *content) {
  cugen_error err;
  struct text path = {0}, folder = {0};
  text_addf(&path, "%s/%s", text_get(&bench->folder), name);
  path_folder(text_get(&path), &folder);
  check(folder_make(text_get(&folder), &err), &err);
  check(file_write(text_get(&path), content, strlen(content), &err), &err);
  text_free(&path);
  text_free(&folder);
}

/* body: the declarations inside kernel "k". Templates are added before anything is expanded. */
static struct bench *bench_open(const char *body, const char *const *settings, size_t setting_count) {
  static struct bench bench;
  cugen_error err;
  struct text content = {0};
  bench = (struct bench){0};
  check(folder_temporary(&bench.folder, &err), &err);
  bench.sources.template_dir = text_get(&bench.folder);
  text_addf(&content, "kernel \"k\" {\n%s\n}\n", body);
  check(config_parse("k.lua", text_get(&content), content.length, &bench.config, &err), &err);
  check(problem_set(bench.config, settings, setting_count, false, &bench.problem, &err), &err);
  check(space_open(bench.config, &bench.problem, &facts, &bench.space, &err), &err);
  check(expander_open(&bench.sources, &bench.expander, &err), &err);
  text_free(&content);
  return &bench;
}

static void bench_close(struct bench *bench) {
  expander_close(bench->expander);
  space_close(bench->space);
  problem_free(&bench->problem);
  config_close(bench->config);
  folder_remove(text_get(&bench->folder));
  text_free(&bench->folder);
}

static int try_expand(struct bench *bench, uint64_t index, struct kernel_spec *out, cugen_error *err) {
  struct value values[16];
  struct variant variant;
  assert_true(space_max_tunables(bench->space) <= 16);
  assert_true(index < space_valid(bench->space));
  space_variant(bench->space, index, &variant, values);
  return expand_variant(bench->expander, bench->config, &bench->problem, &facts, &variant, out, err);
}

static struct kernel_spec expand(struct bench *bench, uint64_t index) {
  struct kernel_spec spec;
  cugen_error err;
  check(try_expand(bench, index, &spec, &err), &err);
  return spec;
}

/* The path that #line names: paths in expected texts are written as T/name. */
static void expected_paths(const struct bench *bench, const char *expected, struct text *out) {
  for (; *expected; expected++) {
    if (expected[0] == 'T' && expected[1] == '/')
      text_add(out, text_get(&bench->folder));
    else
      text_add_char(out, *expected);
  }
}

static void assert_text(const struct bench *bench, const char *got, const char *expected) {
  struct text full = {0};
  expected_paths(bench, expected, &full);
  assert_string_equal(got, text_get(&full));
  text_free(&full);
}

/* ---- Short forms for the cases below ---- */

#define IN_OUT                                                                                                       \
  "problem 'n' (1000), problem 'dtype' { 'f32', 'f64', 'f16' },"                                                     \
  "input 'x' { dtype = 'dtype', shape = { 'n' } }, output 'y' { dtype = 'dtype', shape = { 'n' }, tolerance = '0' "  \
  "},"                                                                                                               \
  "reference 'none',"

#define ONE_LAUNCH "template 't.cu', grid { 'ceil_div(n, 256)' }, block { '256' }"

/* The source of the first variant without its title lines. */
static void assert_source(const char *body, const char *template, const char *expected) {
  struct bench *bench = bench_open(body, NULL, 0);
  add_template(bench, "t.cu", template);
  struct kernel_spec spec = expand(bench, 0);
  const char *source = spec.source;
  while (strncmp(source, "// ", 3) == 0) source = strchr(source, '\n') + 1;
  assert_text(bench, source, expected);
  kernel_spec_free(&spec);
  bench_close(bench);
}

static void assert_error(const char *body, const char *template, int status, const char *expected) {
  struct bench *bench = bench_open(body, NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  add_template(bench, "t.cu", template);
  assert_int_equal(try_expand(bench, 0, &spec, &err), status);
  assert_int_equal(err.status, status);
  assert_text(bench, err.message, expected);
  assert_null(spec.source);
  assert_null(spec.arguments);
  bench_close(bench);
}

/* ---- The prologue ---- */

#define TUNED(...) IN_OUT "implementation 'a' { " __VA_ARGS__ ONE_LAUNCH " }"

static void test_title(void **state) {
  (void)state;
  struct bench *bench = bench_open(TUNED("tunable 'b' { 4, 8 },"), (const char *[]){"n=7", "dtype=f64"}, 2);
  add_template(bench, "t.cu", "__global__ void f(${params}) {}\n");
  struct kernel_spec spec = expand(bench, 1);
  static const char title[] = "// k: a b=8\n// n=7 dtype=f64\n";
  assert_memory_equal(spec.source, title, sizeof title - 1);
  assert_string_equal(spec.variant, "a b=8");
  kernel_spec_free(&spec);
  bench_close(bench);
}

static void test_prologue(void **state) {
  (void)state;
  /* In the order of declaration, and only what is mentioned outside comments and strings. */
  assert_source(
      "problem 'part' (0.5)," TUNED("tunable 'unused' { 3 }, tunable 'flag' { true }, tunable 'minus' { -5 }, "
                                    "tunable 'word' { 'f64' }, derive 'twice' '2 * minus',"),
      "__global__ void f(const dtype *a) { /* unused */ g(\"unused\", part, twice, minus, flag, n); word w; }",
      "#define part 0.5\n#define n 1000\nusing dtype = float;\n#define flag 1\n#define minus (-5)\n"
      "using word = double;\n#define twice (-10)\n\n#line 1 \"T/t.cu\"\n"
      "__global__ void f(const dtype *a) { /* unused */ g(\"unused\", part, twice, minus, flag, n); word w; }\n");
}

static void test_nothing_mentioned(void **state) {
  (void)state;
  assert_source(TUNED(""), "__global__ void f() {}\n", "#line 1 \"T/t.cu\"\n__global__ void f() {}\n");
}

static void test_arguments(void **state) {
  (void)state;
  assert_source(
      "problem 'm' (6), problem 'p' (16), reference 'none',"
      "input 'a' { dtype = 'f32', shape = { 'm', '5', '3' }, pitch = 'p' },"
      "output 'c' { dtype = 'f64', shape = { 'm', '5' }, layout = 'col', tolerance = '0' },"
      "scratch 's' { dtype = 'i32', shape = { '4' } }, constant 'w' { dtype = 'f32', shape = { '4' } },"
      "scalar 'alpha' { dtype = 'f32', value = '0.5' }, scalar 'b' { dtype = 'f32', value = '2', specialize = true },"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }",
      "__global__ void f(${params}) {\n"
      "  g(a_stride0, a_stride1, a_stride2, a_pitch, c_stride0, c_stride1, c_pitch, s_stride0, b);\n"
      "  index_t i; w_t w;\n  // ${a_layout} ${c_layout} ${c_pitch} ${a_t}\n}\n",
      "using index_t = int;\nusing a_t = float;\n#define a_stride0 80\n#define a_stride1 16\n#define a_stride2 1\n"
      "#define a_pitch 16\nusing c_t = double;\n#define c_stride0 1\n#define c_stride1 6\n#define c_pitch 6\n"
      "using s_t = int;\n#define s_stride0 1\nusing w_t = float;\n#define b ((float)(2))\n\n#line 1 \"T/t.cu\"\n"
      "__global__ void f(const a_t *__restrict__ a, c_t *__restrict__ c, s_t *__restrict__ s, float alpha) {\n"
      "  g(a_stride0, a_stride1, a_stride2, a_pitch, c_stride0, c_stride1, c_pitch, s_stride0, b);\n"
      "  index_t i; w_t w;\n  // row col 6 f32\n}\n");
}

/* n is passed at launch: no number of it reaches the source, what derives from it is an expression. */
static void test_sizes_known_at_launch(void **state) {
  (void)state;
  assert_source(
      "problem 'n' (100), problem 'k' (7), reference 'none', input 'x' { dtype = 'f32', shape = { '3', 'n', 'k' } },"
      "output 'y' { dtype = 'f32', shape = { 'n', 'k' }, tolerance = '0', pitch = 'round_up(k, 4)' },"
      "scalar 'n' { dtype = 'index' }, scalar 'k' { dtype = 'index', specialize = true },"
      "implementation 'a' { tunable 't' { 32 }, derive 'blocks' 'ceil_div(n, t)', derive 'small' 't // 2',"
      "derive 'more' 'n > t', template 't.cu', grid { 'blocks' }, block { 't' } }",
      "__global__ void f(${params}) { g(blocks, small, more, n, k, x_stride0, x_stride1, y_stride0); }\n",
      "using index_t = int;\n#define k 7\n#define blocks ((index_t)((((long long)n) + 32LL - 1) / 32LL))\n"
      "#define small 16\n#define more (((long long)n) > 32LL)\nusing x_t = float;\n"
      "#define x_stride0 ((index_t)(7 * (n)))\n#define x_stride1 7\nusing y_t = float;\n#define y_stride0 8\n\n"
      "#line 1 \"T/t.cu\"\n__global__ void f(const x_t *__restrict__ x, y_t *__restrict__ y, index_t n) "
      "{ g(blocks, small, more, n, k, x_stride0, x_stride1, y_stride0); }\n");
}

static void test_lua_sees_sizes_known_at_launch(void **state) {
  (void)state;
  assert_source(IN_OUT "scalar 'n' { dtype = 'i64' }, implementation 'a' { " ONE_LAUNCH " }",
                "//@ if n == 1000 then\n__global__ void f(long long n) { g(${n}, n); }\n//@ end\n",
                "#line 2 \"T/t.cu\"\n__global__ void f(long long n) { g(1000, n); }\n");
}

static void test_wide_index(void **state) {
  (void)state;
  static const char *const most = "problem 'n' (%lld), output 'y' { dtype = 'i8', shape = { 'n' }, tolerance = '0' },"
                                  "scalar 'n' { dtype = 'index' }, reference 'none',"
                                  "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }";
  const long long limit = (1LL << 31) - (1LL << 24);
  for (int over = 0; over < 2; over++) {
    struct text body = {0};
    text_addf(&body, most, limit + over);
    struct bench *bench = bench_open(text_get(&body), NULL, 0);
    add_template(bench, "t.cu", "__global__ void f(${params}) {}\n");
    struct kernel_spec spec = expand(bench, 0);
    assert_non_null(strstr(spec.source, over ? "using index_t = long long;" : "using index_t = int;"));
    assert_string_equal(spec.arguments[1].dtype->name, over ? "i64" : "i32");
    kernel_spec_free(&spec);
    bench_close(bench);
    text_free(&body);
  }
}

/* ---- Includes of the compiler ---- */

static void test_includes_move_to_the_top(void **state) {
  (void)state;
  assert_source(
      TUNED(""),
      "// first\n#include <a.h>\n  # include <b/c.h> // why\n#include \"own.h\"\n#include <a.h>\n#if n > 1\n"
      "#include <d.h>\n#endif\n__global__ void f(dtype *) {}\n",
      "#include <a.h>\n#include <b/c.h>\n\n#define n 1000\nusing dtype = float;\n\n#line 1 \"T/t.cu\"\n"
      "// first\n\n   // why\n#include \"own.h\"\n\n#if n > 1\n#include <d.h>\n#endif\n"
      "__global__ void f(dtype *) {}\n");
}

static void test_header_of_a_dtype(void **state) {
  (void)state;
  static const char body[] =
      "problem 'dtype' { 'bf16' }, input 'x' { dtype = 'f16', shape = { '8' } }, reference 'none',"
      "output 'y' { dtype = 'f32', shape = { '8' }, tolerance = '0' },"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }";
  assert_source(
      body, "#include <cuda_fp16.h>\n__global__ void f(x_t *, dtype *) {}\n",
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n\nusing dtype = __nv_bfloat16;\nusing x_t = __half;\n\n"
      "#line 1 \"T/t.cu\"\n\n__global__ void f(x_t *, dtype *) {}\n");
  assert_source(body, "__global__ void f(float *) {}\n", "#line 1 \"T/t.cu\"\n__global__ void f(float *) {}\n");
}

/* ---- Lua ---- */

static void test_structure_and_lines(void **state) {
  (void)state;
  assert_source(
      TUNED("tunable 'steps' { 2 },"),
      "//@ local function row(i)\nrow ${i};\n//@ end\n__global__ void f() {\n//@ if steps > 5 then\n  never;\n"
      "//@ else\n  always;\n//@ end\n//@ for i = 0, steps - 1 do\n  s[${i}];\n//@ end\n}\n"
      "//@ row(steps)\n//@ row(true)\n//@ row('x')\n//@ row(0.5)\n// $${i} ${8 // 2} ${8 / 2} ${-3}\n",
      "#line 4 \"T/t.cu\"\n__global__ void f() {\n\n\n\n  always;\n\n\n  s[0];\n#line 11 \"T/t.cu\"\n  s[1];\n\n}\n"
      "#line 2 \"T/t.cu\"\nrow 2;\n#line 2 \"T/t.cu\"\nrow 1;\n#line 2 \"T/t.cu\"\nrow x;\n#line 2 \"T/t.cu\"\nrow "
      "0.5;\n"
      "#line 18 \"T/t.cu\"\n// ${i} 4 4.0 -3\n");
}

static void test_values_with_lines(void **state) {
  (void)state;
  assert_source(TUNED(""), "a ${'x\\ny'}\n//@ local z = 1\n__global__ void f() {}\n",
                "#line 1 \"T/t.cu\"\na x\ny\n__global__ void f() {}\n");
}

/* The directive would be part of the macro, of the comment. */
static void test_no_line_directive_inside(void **state) {
  (void)state;
  assert_source(TUNED(""),
                "#define sum(x) \\\n//@ for i = 1, 2 do\n  (x)[${i}] + \\\n//@ end\n  0\n/*\n//@ for i = 1, 2 "
                "do\nx\n//@ end\n*/\n"
                "//@ local a = 1\n__global__ void f() {}\n",
                "#line 1 \"T/t.cu\"\n#define sum(x) \\\n  (x)[1] + \\\n  (x)[2] + \\\n  0\n/*\nx\nx\n*/\n"
                "\n\n\n__global__ void f() {}\n");
}

static void test_functions(void **state) {
  (void)state;
  assert_source(
      TUNED("tunable 'swizzle' { 'xor' },"),
      "// ${ceil_div(7, 2)} ${ceil_div(-7, 2)} ${round_up(7, 4)} ${is_pow2(8)} ${is_pow2(6)} ${log2(1024)} ${min(3, "
      "2, 4)} "
      "${max(3, 2.5)} ${abs(-3)} ${sizeof(dtype)} ${sizeof('f16')} ${device.sm_count} ${swizzle} ${math.floor(2.5)}\n"
      "__global__ void f() {}\n",
      "#line 1 \"T/t.cu\"\n// 4 -3 8 1 0 10 2 3 3 4 2 132 xor 2\n__global__ void f() {}\n");
}

static void test_globals_last_for_one_expansion(void **state) {
  (void)state;
  struct bench *bench = bench_open(TUNED("tunable 'b' { 1, 2 },"), NULL, 0);
  add_template(bench, "t.cu", "//@ if b == 1 then\n//@   mine = 1\n//@ end\n// ${mine}\n__global__ void f() {}\n");
  struct kernel_spec spec = expand(bench, 0);
  kernel_spec_free(&spec);
  cugen_error err;
  assert_int_equal(try_expand(bench, 1, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_non_null(strstr(err.message, "/t.cu:4: mine: unknown, nearest 'min'\n  in variant 'a b=2'"));
  bench_close(bench);
}

/* ---- Includes of templates ---- */

static void test_include(void **state) {
  (void)state;
  struct bench *bench = bench_open(TUNED(""), NULL, 0);
  add_template(bench, "t.cu",
               "//@ helper = 5\n//@ include \"lib/a.cuh\"\n//@ include \"lib/a.cuh\"\n//@ include \"lib/once.cuh\"\n"
               "//@ include \"lib/once.cuh\"\n__global__ void f() {}\n// ${shared} ${helper}\n");
  add_template(bench, "lib/a.cuh", "// ${helper}\n#include <x.h>\n//@ shared = (helper or 0) + 1\n//@ helper = 6\n");
  add_template(bench, "lib/once.cuh", "#pragma once\n// once\n");
  struct kernel_spec spec = expand(bench, 0);
  assert_text(bench, strchr(strchr(spec.source, '\n') + 1, '\n') + 1,
              "#include <x.h>\n\n#line 1 \"T/lib/a.cuh\"\n// 5\n\n#line 1 \"T/lib/a.cuh\"\n// 6\n\n"
              "#line 1 \"T/lib/once.cuh\"\n\n// once\n#line 6 \"T/t.cu\"\n__global__ void f() {}\n// 7 6\n");
  kernel_spec_free(&spec);
  bench_close(bench);
}

static void test_include_errors(void **state) {
  (void)state;
  assert_error(TUNED(""), "\n//@ include(\"t.cu\")\n", CUGEN_ERROR_TEMPLATE,
               "T/t.cu:2: includes are nested more than 16 deep: does a template include itself?\n  in variant 'a'");
  assert_error(TUNED(""), "\n//@ include(5)\n", CUGEN_ERROR_TEMPLATE,
               "T/t.cu:2: include takes the name of a template: include \"lib/name.cuh\"\n  in variant 'a'");
  struct bench *bench = bench_open(TUNED(""), NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  add_template(bench, "t.cu", "a\n//@ include \"lib/missing.cuh\"\n");
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_non_null(strstr(err.message, "/t.cu:2: no template 'lib/missing.cuh': "));
  bench_close(bench);
  bench = bench_open(TUNED(""), NULL, 0);
  add_template(bench, "t.cu", "a\n//@ include \"lib/a.cuh\"\n");
  add_template(bench, "lib/a.cuh", "x\n${y\n");
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_text(
      bench, err.message,
      "T/lib/a.cuh:2: `${` without its `}` on the same line (a literal `${` is written `$${`)\n  in variant 'a'");
  bench_close(bench);
}

/* ---- Errors ---- */

/* After so many instructions or, on a slow machine, seconds. */
static void test_endless_template(void **state) {
  (void)state;
  struct bench *bench = bench_open(TUNED("tunable 'block_size' { 64 },"), NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  add_template(bench, "t.cu", "//@ while true do end\n");
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_non_null(strstr(err.message, "/t.cu:1: gave up after"));
  assert_non_null(strstr(err.message, "\n  in variant 'a block_size=64'"));
  bench_close(bench);
}

/* Too much text, or, on a slow machine, too much time before. */
static const char *const too_much[] = {"the expansion is larger than 16 MiB", "gave up after"};

static void assert_given_up(const char *template, const char *other, const char *words) {
  struct bench *bench = bench_open(TUNED(""), NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  add_template(bench, "t.cu", template);
  add_template(bench, "u.cuh", other);
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  bool said = strstr(err.message, words) || (words == too_much[0] && strstr(err.message, too_much[1]));
  if (!said) fail_msg("no '%s' in: %s", words, err.message);
  bench_close(bench);
}

/* Templates that were written to attack. */
static void test_hostile_templates(void **state) {
  (void)state;
  const char *nested = ": includes are nested more than 16 deep: does a template include itself?\n";
  assert_given_up("//@ include \"u.cuh\"\n", "//@ include \"t.cu\"\n", nested);
  assert_given_up("//@ depth = 0\n//@ include \"u.cuh\"\n",
                  "//@ depth = depth + 1\n//@ if depth < 17 then include \"u.cuh\" end\n", nested);
  /* Four times each: some hundred million files. */
  assert_given_up("//@ depth = 0\n//@ include \"u.cuh\"\n",
                  "//@ depth = depth + 1\n//@ if depth < 15 then for i = 1, 4 do include \"u.cuh\" end end\n"
                  "//@ depth = depth - 1\n",
                  "gave up after");
  assert_given_up("//@ for i = 1, 9e15 do include \"u.cuh\" end\n", "x\n", too_much[0]);
  assert_given_up("//@ for i = -9223372036854775807, 9223372036854775807 do\n//@ end\n", "", "gave up after");
  assert_given_up("//@ for i = 1, 1 / 0 do\nx[${i}];\n//@ end\n", "", too_much[0]);
  assert_given_up("//@ for i = 1, 2, 0 do\n//@ end\n", "", "'for' step is zero");
  assert_given_up("//@ for i = 1, 'many' do\n//@ end\n", "", "bad 'for' limit (number expected");
  assert_source(
      TUNED(""),
      "//@ for i = 9223372036854775806, 9223372036854775807 do\na${i}\n//@ end\n//@ for i = 1, 0 / 0 do\nb\n"
      "//@ end\n//@ for i = 1, -1 / 0 do\nc\n//@ end\n__global__ void f() {}\n",
      "#line 2 \"T/t.cu\"\na9223372036854775806\n#line 2 \"T/t.cu\"\na9223372036854775807\n#line 10 "
      "\"T/t.cu\"\n__global__ void f() {}\n");
}

static void test_template_errors(void **state) {
  (void)state;
#define REFUSED(template, expected)                                                                                  \
  assert_error(TUNED("tunable 'block_size' { 64 }, tunable 'mode' { 'fast' },"), template, CUGEN_ERROR_TEMPLATE,     \
               expected "\n  in variant 'a block_size=64 mode=fast'")
  REFUSED("a\n\nb ${block_sise}\n", "T/t.cu:3: block_sise: unknown, nearest 'block_size'");
  REFUSED("//@ local x = quite_unlike_anything\n",
          "T/t.cu:1: quite_unlike_anything: unknown: neither in the config nor set in a //@ line before");
  REFUSED("${device.sm_cnt}", "T/t.cu:1: sm_cnt: unknown, nearest 'sm_count'");
  REFUSED("a\n//@ local x\nb\nc ${x} d\n", "T/t.cu:4: ${x} gives nil where a number, string or boolean was expected");
  REFUSED("${{}}", "T/t.cu:1: ${{}} gives table where a number, string or boolean was expected");
  REFUSED("${1 / 0}", "T/t.cu:1: ${1 / 0} gives not a finite number where a number, string or boolean was expected");
  REFUSED("a\n//@ block_size = 5\n", "T/t.cu:2: block_size comes from the config and cannot be changed: `local "
                                     "block_size = ...` makes a name of its own");
  REFUSED("a\n//@ if x the\n//@ end\n", "T/t.cu:2: 'then' expected near 'the'");
  REFUSED("a\n//@ error('no ' .. mode)\n", "T/t.cu:2: no fast");
  REFUSED("//@ for i = 1, 3 do\nx ${i}\n//@ end\n//@ local y = nil + 1\n",
          "T/t.cu:4: attempt to perform arithmetic on a nil value");
  REFUSED("\n\nint mode;\n", "T/t.cu:3: mode is a string: use it in a //@ line or in ${}");
  REFUSED("\n\nint x_layout;\n", "T/t.cu:3: x_layout is a string: use it in a //@ line or in ${}");
  REFUSED("\n#define block_size 32\n",
          "T/t.cu:2: block_size comes from the config: put #ifndef and #endif around its #define");
  REFUSED("//@ while true do\n                                                       // forever\n//@ end\n",
          "T/t.cu:2: the expansion is larger than 16 MiB");
  REFUSED("${ceil_div(5, 0)}", "T/t.cu:1: bad argument #2 to 'ceil_div' (a positive integer was expected)");
  REFUSED("${log2(6)}", "T/t.cu:1: bad argument #1 to 'log2' (a power of two was expected)");
  REFUSED("${sizeof('f33')}", "T/t.cu:1: sizeof: 'f33' is not a dtype, nearest 'f32'");
#undef REFUSED
}

static void test_missing_template(void **state) {
  (void)state;
  struct bench *bench = bench_open(TUNED(""), NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_non_null(strstr(err.message, "k.lua:2: no template 't.cu': "));
  bench_close(bench);
}

static void test_expander_works_on_after_an_error(void **state) {
  (void)state;
  struct bench *bench = bench_open(TUNED("tunable 'b' { 1, 2 },"), NULL, 0);
  add_template(bench, "t.cu", "//@ include \"u.cu\"\n__global__ void f() {}\n");
  add_template(bench, "u.cu", "//@ if b == 1 then error('one') end\n// two\n");
  struct kernel_spec spec;
  cugen_error err;
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  spec = expand(bench, 1);
  assert_non_null(strstr(spec.source, "// two\n"));
  kernel_spec_free(&spec);
  assert_int_equal(try_expand(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  bench_close(bench);
}

/* ---- Launches ---- */

static void assert_entry(const char *template, const char *entry) {
  struct bench *bench = bench_open(TUNED(""), NULL, 0);
  add_template(bench, "t.cu", template);
  struct kernel_spec spec = expand(bench, 0);
  assert_string_equal(spec.launches[0].entry, entry);
  kernel_spec_free(&spec);
  bench_close(bench);
}

static void test_entry(void **state) {
  (void)state;
  assert_entry("extern \"C\" __global__ void __launch_bounds__(256, 2) one(int a) {}\n", "one");
  assert_entry("__global__ __launch_bounds__(g(2)) static void two(void (*f)(int)) {}\n", "two");
  assert_entry("__global__ void three(int);\n// __global__ void no() {}\n__global__ void three(int) {}\n", "three");
  assert_entry("template <int N> __device__ void no() {}\n__global__ void\nfour /* x */ (\n) {}\n", "four");
}

static void test_entry_errors(void **state) {
  (void)state;
#define REFUSED(template, expected)                                                                                  \
  assert_error(TUNED("\n"), template, CUGEN_ERROR_CONFIG, expected "\n  in variant 'a'")
  REFUSED("void f() {}\n", "k.lua:3: template 't.cu' has no __global__ function to launch");
  REFUSED("__global__ void f() {}\n__global__ void g() {}\n",
          "k.lua:3: template 't.cu' has 2 __global__ functions (f, g): say which one with entry \"name\"");
  REFUSED("template <typename T> __global__ void f(T) {}\n",
          "k.lua:3: 'f' in template 't.cu' is a C++ template: say which one is launched with entry \"f<...>\"");
#undef REFUSED
}

static void test_named_entry(void **state) {
  (void)state;
  static const char body[] =
      IN_OUT "implementation 'a' { template 't.cu',\nlaunch { entry 'ns::g<int>', grid { 'n', '2', '3' }, "
             "block { '32', '2' }, shared '16 * n' },\nlaunch { entry 'f', grid { '1' }, block { '32' } } }";
  struct bench *bench = bench_open(body, NULL, 0);
  add_template(bench, "t.cu",
               "__global__ void f() {}\nnamespace ns { template <typename T> __global__ void g() {} }\n");
  struct kernel_spec spec = expand(bench, 0);
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
  bench_close(bench);
  assert_error(body, "__global__ void h() {}\n", CUGEN_ERROR_CONFIG,
               "k.lua:3: template 't.cu' has 1 __global__ functions (h): say which one with entry \"name\"; "
               "'ns::g<int>' is none "
               "of them\n  in variant 'a'");
}

/* Percent of what L1 and shared memory share; the driver decides where nothing or -1 is said. */
static void test_carveout(void **state) {
  (void)state;
  static const struct {
    const char *said;
    bool has;
    int percent;
  } rows[] = {
      {"", false, 0}, {", carveout '-1'", false, 0}, {", carveout '0'", true, 0}, {", carveout 't * 50'", true, 100}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct text body = {0};
    text_addf(&body,
              IN_OUT "implementation 'a' { template 't.cu', tunable 't' { 2 }, grid { '1' }, block { '32' }%s }",
              rows[i].said);
    struct bench *bench = bench_open(text_get(&body), NULL, 0);
    add_template(bench, "t.cu", "__global__ void f() {}\n");
    struct kernel_spec spec = expand(bench, 0);
    assert_int_equal(spec.launches[0].has_carveout, rows[i].has);
    assert_int_equal(spec.launches[0].carveout, rows[i].percent);
    kernel_spec_free(&spec);
    bench_close(bench);
    text_free(&body);
  }
}

static void test_overlap(void **state) {
  (void)state;
  static const char *const waits = "__global__ void f() { asm volatile(\"griddepcontrol.wait;\"); }\n";
  for (int overlap = 0; overlap < 2; overlap++) {
    struct bench *bench = bench_open(overlap ? IN_OUT "implementation 'a' { " ONE_LAUNCH ", overlap 'n == 1000' }"
                                             : IN_OUT "implementation 'a' { " ONE_LAUNCH ", overlap 'n < 1000' }",
                                     NULL, 0);
    add_template(bench, "t.cu", waits);
    struct kernel_spec spec = expand(bench, 0);
    assert_int_equal(spec.launches[0].overlap, overlap);
    kernel_spec_free(&spec);
    bench_close(bench);
  }
}

static void test_launch_errors(void **state) {
  (void)state;
#define REFUSED(launch, expected)                                                                                    \
  assert_error(IN_OUT "implementation 'a' { template 't.cu',\n" launch " }", "__global__ void f() {}\n",             \
               CUGEN_ERROR_CONFIG, "k.lua:3: " expected "\n  in variant 'a'")
  REFUSED("grid { 'n - 1000' }, block { '32' }", "grid x is 0 (from \"n - 1000\"): it must be 1 to 2147483647");
  REFUSED("grid { '1', '66 * n' }, block { '32' }", "grid y is 66000 (from \"66 * n\"): it must be 1 to 65535");
  REFUSED("grid { '1' }, block { '1', '1', '65' }", "block z is 65 (from \"65\"): it must be 1 to 64");
  REFUSED("grid { '1' }, block { '64', '32' }",
          "a block of 2048 threads (64 x 32 x 1): the device takes at most 1024");
  REFUSED("grid { '1' }, block { '32' }, shared '-n'", "shared is -1000 bytes: it must be 0 to 2^31 - 1");
  REFUSED("grid { '1' }, block { '32' }, carveout '101'",
          "carveout is 101: it must be 0 to 100 percent, or -1 for the driver's choice");
  REFUSED("grid { '1' }, block { '32' }, carveout '-2'",
          "carveout is -2: it must be 0 to 100 percent, or -1 for the driver's choice");
  REFUSED("grid { '1' }, block { '32' }, overlap 'true'",
          "overlap: the kernel does not wait for the launch before it (griddepcontrol.wait)");
  REFUSED("grid { '1' }, block { '32' }, carveout '1 // (n - 1000)'",
          "carveout: in \"1 // (n - 1000)\": 1 // (n - 1000) is 1 // 0, which divides by zero");
  REFUSED("launch { grid { '1' }, block { '32' }, carveout '50' }, launch { grid { '2' }, block { '32' } }",
          "launches of kernel 'f' have different carveouts");
#undef REFUSED
}

/* ---- The spec ---- */

static void test_spec(void **state) {
  (void)state;
  struct bench *bench =
      bench_open("problem 'n' (10), input 'x' { dtype = 'f32', shape = { 'n' }, memory = 'managed' },"
                 "output 'y' { dtype = 'f64', shape = { 'n', '2' }, tolerance = '0.25' },"
                 "scalar 'n' { dtype = 'i64' }, flops '3 * n', bytes '8 * n', reference 'none',"
                 "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }",
                 (const char *[]){"n=20"}, 1);
  add_template(bench, "t.cu", "__global__ void f(${params}) {}");
  struct kernel_spec spec = expand(bench, 0);
  assert_int_equal(spec.argument_count, 3);
  assert_string_equal(spec.arguments[0].name, "x");
  assert_int_equal(spec.arguments[0].memory, MEMORY_MANAGED);
  assert_string_equal(spec.arguments[1].name, "y");
  assert_int_equal(spec.arguments[1].elements, 40);
  assert_true(spec.arguments[1].tolerance == 0.25);
  assert_int_equal(spec.arguments[2].value.integer, 20);
  assert_true(spec.flops == 60 && spec.bytes == 160);
  assert_true(spec.source[strlen(spec.source) - 1] == '\n');
  /* Nothing in it belongs to anyone else. */
  bench_close(bench);
  assert_string_equal(spec.arguments[1].name, "y");
  assert_string_equal(spec.launches[0].entry, "f");
  kernel_spec_free(&spec);
}

struct hashes {
  struct hash hash, source;
};

static struct hashes hashes_of(const char *body, const char *template) {
  struct bench *bench = bench_open(body, NULL, 0);
  add_template(bench, "t.cu", template);
  struct kernel_spec spec = expand(bench, 0);
  struct hashes hashes = {spec.hash, spec.source_hash};
  kernel_spec_free(&spec);
  bench_close(bench);
  return hashes;
}

static void assert_hashes(struct hashes a, struct hashes b, bool source, bool whole) {
  assert_int_equal(strcmp(a.source.hex, b.source.hex) == 0, source);
  assert_int_equal(strcmp(a.hash.hex, b.hash.hex) == 0, whole);
}

static void test_hashes(void **state) {
  (void)state;
  static const char kernel[] = "__global__ void f(x_t *x) { *x = 1; }\n";
  struct hashes plain = hashes_of(TUNED(""), kernel);
  assert_hashes(plain, hashes_of(TUNED(""), kernel), true, true);
  assert_hashes(plain, hashes_of(TUNED(""), "// why\n__global__ void f(x_t *x)\n{\n  *x = 1; /* one */\n}\n"), true,
                true);
  assert_hashes(plain, hashes_of(TUNED(""), "//@ local a = 1\n__global__ void f(x_t *x) { *x = ${a}; }\n"), true,
                true);
  assert_hashes(plain, hashes_of(TUNED("tunable 'unused' { 5 },"), kernel), true, true);
  assert_hashes(plain, hashes_of(TUNED(""), "__global__ void f(x_t *x) { *x = 2; }\n"), false, false);
  assert_hashes(plain,
                hashes_of(IN_OUT "implementation 'a' { template 't.cu', grid { '4' }, block { '128' } }", kernel),
                true, false);
  assert_hashes(plain, hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", shared '64' }", kernel), true, false);
  assert_hashes(plain, hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", carveout '0' }", kernel), true, false);
  assert_hashes(plain, hashes_of(IN_OUT "implementation 'a' { " ONE_LAUNCH ", carveout '-1' }", kernel), true, true);
}

#define TENSOR(attributes, tensor)                                                                                   \
  "problem 'bm' (64), problem 'how' { 'global', 'array' }, reference 'none',"                                        \
  "input 'A' { dtype = 'bf16', shape = { 96, 40 }" attributes " }, output 'C' { dtype = 'f32', shape = { 8 } },"     \
  "scalar 'bm' {}, implementation 'a' { tensor 'A' { " tensor " }, template 't.cu', grid { 1 }, block { 32 } }"

static void test_tensor(void **state) {
  (void)state;
  struct bench *bench = bench_open(TENSOR("", "box = { 'bm', '16 * 4' }, swizzle = 128"), NULL, 0);
  add_template(bench, "t.cu", "__global__ void f(${params}) { g(&A, A_stride0); }\n");
  struct kernel_spec spec = expand(bench, 0);
  assert_non_null(strstr(spec.source, "struct alignas(64) tensor_map { unsigned long long words[16]; };\n"));
  assert_non_null(
      strstr(spec.source, "void f(const __grid_constant__ tensor_map A, C_t *__restrict__ C, index_t bm) {"));
  assert_non_null(strstr(spec.source, "#define A_stride0 40\n"));
  assert_int_equal(spec.arguments[0].access, ACCESS_TENSOR);
  assert_int_equal(spec.arguments[0].box[0], 64);
  assert_int_equal(spec.arguments[0].box[1], 64);
  assert_int_equal(spec.arguments[0].swizzle, 128);
  kernel_spec_free(&spec);
  bench_close(bench);
}

/* Another box, or another swizzle, is another launch of the same source. */
static void test_a_tensor_is_part_of_the_launch(void **state) {
  (void)state;
  static const char *const bodies[] = {
      TENSOR("", "box = { 'bm', 64 }, swizzle = 128"), TENSOR("", "box = { 32, 64 }, swizzle = 128"),
      TENSOR("", "box = { 'bm', 64 }"), TENSOR("", "box = { 'bm', 32 }, swizzle = 128")};
  struct hash seen[4];
  for (int i = 0; i < 4; i++) {
    struct bench *bench = bench_open(bodies[i], NULL, 0);
    add_template(bench, "t.cu", "__global__ void f(${params}) {}\n");
    struct kernel_spec spec = expand(bench, 0);
    seen[i] = spec.arguments_hash;
    for (int other = 0; other < i; other++) assert_string_not_equal(seen[i].hex, seen[other].hex);
    kernel_spec_free(&spec);
    bench_close(bench);
  }
}

static void test_tensor_errors(void **state) {
  (void)state;
  static const struct {
    const char *body, *want;
  } cases[] = {
      {TENSOR("", "box = { 0, 64 }"), "an extent of the box is 0: it must be 1 to 256"},
      {TENSOR("", "box = { '8 * bm', 64 }"), "an extent of the box is 512: it must be 1 to 256"},
      {TENSOR("", "box = { 'bm', 64 }, swizzle = 100"), "swizzle is 100: it must be 0, 32, 64 or 128 bytes"},
      {TENSOR("", "box = { 'bm', 4 }"),
       "the box's bytes along the contiguous dimension are 8: it must be a multiple of 16"},
      {TENSOR("", "box = { 'bm', 128 }, swizzle = 128"),
       "the box's bytes along the contiguous dimension are 256: it must be at most the swizzle's"},
      {TENSOR(", pitch = 44", "box = { 'bm', 64 }"),
       "its rows' distance in bytes is 88: it must be a multiple of 16"},
      {TENSOR(", layout = 'col', pitch = 100", "box = { 'bm', 64 }"),
       "its rows' distance in bytes is 200: it must be a multiple of 16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text want = {0};
    text_addf(&want, "k.lua:2: tensor \"A\": %s\n  in variant 'a'", cases[i].want);
    assert_error(cases[i].body, "__global__ void f(${params}) {}", CUGEN_ERROR_CONFIG, text_get(&want));
    text_free(&want);
  }
}

static void test_memory_kind_is_part_of_the_launch(void **state) {
  (void)state;
#define WITH(kind)                                                                                                   \
  "output 'y' { dtype = 'f32', shape = { '4' }, tolerance = '0', memory = '" kind "' }, reference 'none',"           \
  "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }"
  static const char kernel[] = "__global__ void f(float *y) {}\n";
  assert_hashes(hashes_of(WITH("device"), kernel), hashes_of(WITH("pinned"), kernel), true, false);
#undef WITH
}

/* ---- References ---- */

static const char reference_config[] =
    "problem 'm' (5), problem 'p' (16), tunable 'shared' { 3, 4 }, derive 'both' 'shared + m',"
    "input 'a' { dtype = 'f32', shape = { 'm', '3' }, pitch = 'p', layout = 'col' },"
    "output 'c' { dtype = 'f32', shape = { 'm', '300' }, pitch = '512', layout = 'col', tolerance = '0' },"
    "scalar 'm' { dtype = 'index' }, reference 'r.cu',"
    "implementation 'a' { template 't.cu', tunable 'own' { 1 }, derive 'mine' 'own', grid { '1' }, block { '32' } }";

static int try_reference(struct bench *bench, int64_t samples, struct kernel_spec *out, cugen_error *err) {
  struct value values[16];
  struct variant variant;
  space_variant(bench->space, 0, &variant, values);
  return expand_reference(bench->expander, bench->config, &bench->problem, &facts, &variant, samples, out, err);
}

static void test_reference(void **state) {
  (void)state;
  struct bench *bench = bench_open(reference_config, NULL, 0);
  add_template(bench, "r.cu", "__global__ void r(${params}) { c[both] = a_stride0 + a_stride1 + c_stride0; }\n");
  struct kernel_spec spec;
  cugen_error err;
  check(try_reference(bench, 0, &spec, &err), &err);
  assert_text(
      bench, spec.source,
      "// k: reference\n// m=5 p=16\nusing index_t = int;\n#define both ((index_t)(3LL + ((long long)m)))\n"
      "using a_t = float;\n#define a_stride0 1\n#define a_stride1 16\nusing c_t = double;\n#define c_stride0 300\n\n"
      "#line 1 \"T/r.cu\"\n__global__ void r(const a_t *__restrict__ a, c_t *__restrict__ c, index_t m, "
      "const long long *samples, long long sample_count) { c[both] = a_stride0 + a_stride1 + c_stride0; }\n");
  assert_string_equal(spec.variant, "reference");
  assert_int_equal(spec.argument_count, 3);
  assert_string_equal(spec.arguments[1].dtype->name, "f64");
  assert_int_equal(spec.arguments[1].elements, 1500);
  assert_false(spec.arguments[1].column_major);
  assert_int_equal(spec.launches[0].grid[0], 6);
  assert_int_equal(spec.launches[0].block[0], 256);
  kernel_spec_free(&spec);
  check(try_reference(bench, 256, &spec, &err), &err);
  assert_int_equal(spec.launches[0].grid[0], 1);
  kernel_spec_free(&spec);
  bench_close(bench);
}

static void test_reference_errors(void **state) {
  (void)state;
  struct bench *bench = bench_open(reference_config, NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  add_template(bench, "r.cu", "${own}\n");
  assert_int_equal(try_reference(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_non_null(strstr(err.message, "/r.cu:1: own: unknown"));
  assert_non_null(strstr(err.message, "\n  in the reference"));
  bench_close(bench);
  bench = bench_open(TUNED(""), NULL, 0);
  assert_int_equal(try_reference(bench, 0, &spec, &err), CUGEN_ERROR_CONFIG);
  assert_string_equal(err.message, "k.lua: kernel 'k' declares no reference");
  bench_close(bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_title),
      cmocka_unit_test(test_prologue),
      cmocka_unit_test(test_nothing_mentioned),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_sizes_known_at_launch),
      cmocka_unit_test(test_lua_sees_sizes_known_at_launch),
      cmocka_unit_test(test_wide_index),
      cmocka_unit_test(test_includes_move_to_the_top),
      cmocka_unit_test(test_header_of_a_dtype),
      cmocka_unit_test(test_structure_and_lines),
      cmocka_unit_test(test_values_with_lines),
      cmocka_unit_test(test_no_line_directive_inside),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_globals_last_for_one_expansion),
      cmocka_unit_test(test_include),
      cmocka_unit_test(test_include_errors),
      cmocka_unit_test(test_endless_template),
      cmocka_unit_test(test_hostile_templates),
      cmocka_unit_test(test_template_errors),
      cmocka_unit_test(test_missing_template),
      cmocka_unit_test(test_expander_works_on_after_an_error),
      cmocka_unit_test(test_entry),
      cmocka_unit_test(test_entry_errors),
      cmocka_unit_test(test_named_entry),
      cmocka_unit_test(test_carveout),
      cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_launch_errors),
      cmocka_unit_test(test_spec),
      cmocka_unit_test(test_hashes),
      cmocka_unit_test(test_memory_kind_is_part_of_the_launch),
      cmocka_unit_test(test_tensor),
      cmocka_unit_test(test_a_tensor_is_part_of_the_launch),
      cmocka_unit_test(test_tensor_errors),
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_reference_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
