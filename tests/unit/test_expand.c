/* Expansion into sources: small configs and templates, and the exact text or message that they
   give. */
#include "expanding.h"
#include "tests/testing.h"

/* ---- The prologue --------------------------------------------------------------------------- */

TEST(test_title) {
  CLOSED(expanding) *bench =
      expanding_open(TUNED("tunable 'b' { 4, 8 },"), (const char *[]){"n=7", "dtype=f64"}, 2);
  expanding_add(bench, "t.cu", "__global__ void f(${params}) {}\n");
  FREED(kernel_spec) spec = expanding_one(bench, 1);
  static const char title[] = "// k: a b=8\n// n=7 dtype=f64\n";
  assert_memory_equal(spec.source, title, sizeof title - 1);
  assert_string_equal(spec.variant, "a b=8");
}

TEST(test_prologue) {
  /* Names are defined in the order of declaration, and only if they are mentioned outside of
     comments and strings. */
  expanding_source(
      "problem 'part' (0.5)," TUNED(
          "tunable 'unused' { 3 }, tunable 'flag' { true }, tunable 'minus' { -5 }, "
          "tunable 'word' { 'f64' }, derive 'twice' '2 * minus',"),
      "__global__ void f(const dtype *a, dtype *) { /* unused */ g(\"unused\", part, twice, minus, "
      "flag, n); word w; "
      "}",
      "#define part 0.5\n#define n 1000\nusing dtype = float;\n#define flag 1\n#define minus (-5)\n"
      "using word = double;\n#define twice (-10)\n\n#line 1 \"T/t.cu\"\n"
      "__global__ void f(const dtype *a, dtype *) { /* unused */ g(\"unused\", part, twice, minus, "
      "flag, n); word w; "
      "}\n");
}

/* A fraction that f32 rounds is a float's literal; a double's literal would make a kernel's
   arithmetic double. */
TEST(test_float_literals) {
  expanding_source(
      "problem 'dt' (0.001)," TUNED(
          "derive 'step' 'f32(dt)', derive 'twice' '2 * f32(dt)', derive 'down' 'f32(-dt)',"),
      "__global__ void f() { g(dt, step, twice, down, ${step}f); }",
      "#define dt 0.001\n#define step 0.001f\n#define twice 0.0020000000949949026\n#define down "
      "(-0.001f)\n\n"
      "#line 1 \"T/t.cu\"\n__global__ void f() { g(dt, step, twice, down, 0.0010000000474974513f); "
      "}\n");
}

TEST(test_nothing_mentioned) {
  expanding_source(TUNED(""), "__global__ void f() {}\n",
                   "#line 1 \"T/t.cu\"\n__global__ void f() {}\n");
}

TEST(test_arguments) {
  expanding_source(
      "problem 'm' (6), problem 'p' (16), reference 'none',"
      "input 'a' { dtype = 'f32', shape = { 'm', '5', '3' }, pitch = 'p' },"
      "output 'c' { dtype = 'f64', shape = { 'm', '5' }, layout = 'col', tolerance = '0' },"
      "scratch 's' { dtype = 'i32', shape = { '4' } }, constant 'w' { dtype = 'f32', shape = { '4' "
      "} },"
      "scalar 'alpha' { dtype = 'f32', value = '0.5' }, scalar 'b' { dtype = 'f32', value = '2', "
      "specialize = true },"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }",
      "__global__ void f(${params}) {\n"
      "  g(a_stride0, a_stride1, a_stride2, a_pitch, c_stride0, c_stride1, c_pitch, s_stride0, "
      "b);\n"
      "  index_t i; w_t w;\n  // ${a_layout} ${c_layout} ${c_pitch} ${a_t}\n}\n",
      "using index_t = int;\nusing a_t = float;\n#define a_stride0 80\n#define a_stride1 "
      "16\n#define a_stride2 1\n"
      "#define a_pitch 16\nusing c_t = double;\n#define c_stride0 1\n#define c_stride1 6\n#define "
      "c_pitch 6\n"
      "using s_t = int;\n#define s_stride0 1\nusing w_t = float;\n#define b ((float)(2))\n\n#line "
      "1 \"T/t.cu\"\n"
      "__global__ void f(const a_t *__restrict__ a, c_t *__restrict__ c, s_t *__restrict__ s, "
      "float alpha) {\n"
      "  g(a_stride0, a_stride1, a_stride2, a_pitch, c_stride0, c_stride1, c_pitch, s_stride0, "
      "b);\n"
      "  index_t i; w_t w;\n  // row col 6 f32\n}\n");
}

/* n is passed at launch: its number never reaches the source, and a name derived from it is an
   expression. */
TEST(test_sizes_known_at_launch) {
  expanding_source(
      "problem 'n' (100), problem 'k' (7), reference 'none', input 'x' { dtype = 'f32', shape = { "
      "'3', 'n', 'k' } },"
      "output 'y' { dtype = 'f32', shape = { 'n', 'k' }, tolerance = '0', pitch = 'round_up(k, 4)' "
      "},"
      "scalar 'n' { dtype = 'index' }, scalar 'k' { dtype = 'index', specialize = true },"
      "implementation 'a' { tunable 't' { 32 }, derive 'blocks' 'ceil_div(n, t)', derive 'small' "
      "'t // 2',"
      "derive 'more' 'n > t', template 't.cu', grid { 'blocks' }, block { 't' } }",
      "__global__ void f(${params}) { g(blocks, small, more, n, k, x_stride0, x_stride1, "
      "y_stride0); }\n",
      "using index_t = int;\n#define k 7\n#define blocks ((index_t)((((long long)n) + 32LL - 1) / "
      "32LL))\n"
      "#define small 16\n#define more (((long long)n) > 32LL)\nusing x_t = float;\n"
      "#define x_stride0 ((index_t)(7 * (n)))\n#define x_stride1 7\nusing y_t = float;\n#define "
      "y_stride0 8\n\n"
      "#line 1 \"T/t.cu\"\n__global__ void f(const x_t *__restrict__ x, y_t *__restrict__ y, "
      "index_t n) "
      "{ g(blocks, small, more, n, k, x_stride0, x_stride1, y_stride0); }\n");
}

/* Strides of an order with a pad, and of a view; the word of a layout with tiles. */
TEST(test_strides_by_layout) {
  static const char body[] =
      "problem 'n' (100), problem 'c' (5), problem 'ld' (120), problem 'pad' (3), reference 'none',"
      "input 'x' { dtype = 'f32', shape = { 'n', 'c', 'n' }, layout = '021+${pad}' },"
      "input 'v' { dtype = 'f32', shape = { 'n', 'n' }, strides = { '2 * ld', 2 } },"
      "output 'y' { dtype = 'f32', shape = { 'n', 'n' }, layout = 'row/04x8:row', tolerance = '0' "
      "},"
      "scalar 'n' {}, scalar 'c' {}, scalar 'ld' {},"
      "implementation 'a' { template 't.cu', grid { 1 }, block { 32 } }";
  expanding_source(body,
                   "__global__ void f(${params}) { g(x_stride0, x_stride1, x_stride2, v_stride0, "
                   "v_stride1); // ${x_layout} ${v_layout} ${y_layout}\n}\n",
                   "using index_t = int;\nusing x_t = float;\n"
                   "#define x_stride0 ((index_t)((c) + 3) * (n))\n#define x_stride1 1\n"
                   "#define x_stride2 ((index_t)((c) + 3))\nusing v_t = float;\n"
                   "#define v_stride0 ((index_t)(2LL * ((long long)ld)))\n#define v_stride1 2\n"
                   "using y_t = float;\n\n#line 1 \"T/t.cu\"\n"
                   "__global__ void f(const x_t *__restrict__ x, const v_t *__restrict__ v, y_t "
                   "*__restrict__ y, index_t n, index_t c, index_t ld) { g(x_stride0, x_stride1, "
                   "x_stride2, v_stride0, v_stride1); // 021+3 strides row/4x8\n}\n");
  expanding_error(
      body, "__global__ void f(${params}) { g(y_stride0); }\n", CUGEN_ERROR_CONFIG,
      "k.lua:2: y_stride0: the layout of \"y\" is row/4x8, which has no strides\n  in variant 'a'");
  expanding_error(body, "//@ if y_pitch > 8 then\n//@ end\n", CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:1: k.lua:2: y_pitch: the layout of \"y\" is row/4x8, which has no "
                  "strides\n  in variant 'a'");
}

/* The compiler takes a name that is not a macro for 0 in an #if, so that no variant would
   compile the branch. This is an error, unless the source asks whether the macro exists. */
TEST(test_conditions_of_parameters) {
  static const char body[] =
      IN_OUT "scalar 'n' { dtype = 'i64' }, implementation 'a' { tunable 'group' { 8, 4 },"
             "scalar 'group' { dtype = 'i32' }, " ONE_LAUNCH " }";
  static const char *const good[] = {
      "#if defined(n) && n > 4\n", "#if !defined n || n > 4\n", "#ifdef n\n#endif\n#if n\n",
      "#ifndef group\n#endif\n#if 1\n#elif group > 4\n", "#if 1 // group\n",
      /* lines that may not be reached, or that mean something else */
      "#if 0\n#if n > 4\n#endif\n", "#ifdef NEVER\n#elif group > 1\n", "#if 1\n#elif n > 4\n",
      "#if NEVER\n#elif n\n", "#if __has_include(<n.h>)\n", "#define is(x) 1\n#if is(n)\n",
      "#if 1\n#else n\n", "#ifdef BIG\n#define n 32\n#else\n#define n 8\n#endif\n#if n > 16\n"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    const char *template = formed("%s#endif\n__global__ void f(${params}) {}\n", good[i]);
    CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
    expanding_add(bench, "t.cu", template);
    struct kernel_spec spec = expanding_one(bench, 0);
    kernel_spec_free(&spec);
  }
  expanding_error(
      body, "\n#if n > 4\n#endif\n__global__ void f(${params}) {}\n", CUGEN_ERROR_TEMPLATE,
      "T/t.cu:2: n is passed at launch, and #if would take it for 0: use if, or specialize it\n"
      "  in variant 'a group=8'");
  expanding_error(
      body, "#if defined(FOO) || n > 4\n#endif\n__global__ void f(${params}) {}\n",
      CUGEN_ERROR_TEMPLATE,
      "T/t.cu:1: n is passed at launch, and #if would take it for 0: use if, or specialize it\n"
      "  in variant 'a group=8'");
  expanding_error(body, "__global__ void f(${params}) {}\n#if 0\n#endif\n#if group > 4\n#endif\n",
                  CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:4: group is passed at launch, and #if would take it for 0: use if, or "
                  "pass it by a scalar of "
                  "another name\n  in variant 'a group=8'");
}

TEST(test_lua_sees_sizes_known_at_launch) {
  expanding_source(
      IN_OUT "scalar 'n' { dtype = 'i64' }, implementation 'a' { " ONE_LAUNCH " }",
      "//@ if n == 1000 then\n__global__ void f(float *, float *, long long n) { g(${n}, n); "
      "}\n//@ end\n",
      "#line 2 \"T/t.cu\"\n__global__ void f(float *, float *, long long n) { g(1000, n); }\n");
}

TEST(test_wide_index) {
  static const char *const most =
      "problem 'n' (%lld), output 'y' { dtype = 'i8', shape = { 'n' }, tolerance = '0' },"
      "scalar 'n' { dtype = 'index' }, reference 'none',"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }";
  const long long limit = (1LL << 31) - (1LL << 24);
  for (int over = 0; over < 2; over++) {
    CLOSED(expanding) *bench = expanding_open(formed(most, limit + over), NULL, 0);
    expanding_add(bench, "t.cu", "__global__ void f(${params}) {}\n");
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    assert_non_null(
        strstr(spec.source, over ? "using index_t = long long;" : "using index_t = int;"));
    assert_string_equal(spec.arguments[1].dtype->name, over ? "i64" : "i32");
  }
}

/* ---- Includes of the compiler --------------------------------------------------------------- */

TEST(test_includes_move_to_the_top) {
  expanding_source(TUNED(""),
                   "// first\n#include <a.h>\n  # include <b/c.h> // why\n#include "
                   "\"own.h\"\n#include <a.h>\n#if n > 1\n"
                   "#include <d.h>\n#endif\n__global__ void f(dtype *, dtype *) {}\n",
                   "#line 2 \"T/t.cu\"\n#include <a.h>\n#line 3 \"T/t.cu\"\n#include "
                   "<b/c.h>\n#line 4 \"T/t.cu\"\n"
                   "#include <own.h>\n#line 1 \"prologue\"\n\n#define n 1000\nusing dtype = "
                   "float;\n\n#line 1 \"T/t.cu\"\n"
                   "// first\n\n   // why\n\n\n#if n > 1\n#include <d.h>\n#endif\n"
                   "__global__ void f(dtype *, dtype *) {}\n");
}

TEST(test_header_of_a_dtype) {
  static const char body[] =
      "problem 'dtype' { 'bf16' }, input 'x' { dtype = 'f16', shape = { '8' } }, reference 'none',"
      "output 'y' { dtype = 'f32', shape = { '8' }, tolerance = '0' },"
      "implementation 'a' { template 't.cu', grid { '1' }, block { '32' } }";
  expanding_source(body, "#include <cuda_fp16.h>\n__global__ void f(x_t *, dtype *) {}\n",
                   "#line 1 \"T/t.cu\"\n#include <cuda_fp16.h>\n#line 1 \"prologue\"\n#include "
                   "<cuda_bf16.h>\n\nusing dtype = __nv_bfloat16;\nusing x_t = __half;\n\n"
                   "#line 1 \"T/t.cu\"\n\n__global__ void f(x_t *, dtype *) {}\n");
  expanding_source(body, "__global__ void f(float *, float *) {}\n",
                   "#line 1 \"T/t.cu\"\n__global__ void f(float *, float *) {}\n");
}

/* ---- Lua ------------------------------------------------------------------------------------ */

TEST(test_structure_and_lines) {
  expanding_source(
      TUNED("tunable 'steps' { 2 },"),
      "//@ local function row(i)\nrow ${i};\n//@ end\n__global__ void f() {\n//@ if steps > 5 "
      "then\n  never;\n"
      "//@ else\n  always;\n//@ end\n//@ for i = 0, steps - 1 do\n  s[${i}];\n//@ end\n}\n"
      "//@ row(steps)\n//@ row(true)\n//@ row('x')\n//@ row(0.5)\n// $${i} ${8 // 2} ${8 / 2} "
      "${-3}\n",
      "#line 4 \"T/t.cu\"\n__global__ void f() {\n\n\n\n  always;\n\n\n  s[0];\n#line 11 "
      "\"T/t.cu\"\n  s[1];\n\n}\n"
      "#line 2 \"T/t.cu\"\nrow 2;\n#line 2 \"T/t.cu\"\nrow 1;\n#line 2 \"T/t.cu\"\nrow x;\n#line 2 "
      "\"T/t.cu\"\nrow "
      "0.5;\n"
      "#line 18 \"T/t.cu\"\n// ${i} 4 4.0 -3\n");
}

TEST(test_values_with_lines) {
  expanding_source(TUNED(""), "a ${'x\\ny'}\n//@ local z = 1\n__global__ void f() {}\n",
                   "#line 1 \"T/t.cu\"\na x\ny\n__global__ void f() {}\n");
}

/* A #line there would become part of the macro, or of the comment. */
TEST(test_no_line_directive_inside) {
  expanding_source(
      TUNED(""),
      "#define sum(x) \\\n//@ for i = 1, 2 do\n  (x)[${i}] + \\\n//@ end\n  0\n/*\n//@ for i = 1, "
      "2 "
      "do\nx\n//@ end\n*/\n"
      "//@ local a = 1\n__global__ void f() {}\n",
      "#line 1 \"T/t.cu\"\n#define sum(x) \\\n  (x)[1] + \\\n  (x)[2] + \\\n  0\n/*\nx\nx\n*/\n"
      "\n\n\n__global__ void f() {}\n");
}

TEST(test_functions) {
  expanding_source(
      TUNED("tunable 'swizzle' { 'xor' },"),
      "// ${ceil_div(7, 2)} ${ceil_div(-7, 2)} ${round_up(7, 4)} ${is_pow2(8)} ${is_pow2(6)} "
      "${log2(1024)} ${min(3, "
      "2, 4)} "
      "${max(3, 2.5)} ${abs(-3)} ${sizeof(dtype)} ${sizeof('f16')} ${device.sm_count} ${swizzle} "
      "${math.floor(2.5)}\n"
      "__global__ void f() {}\n",
      "#line 1 \"T/t.cu\"\n// 4 -3 8 1 0 10 2 3 3 4 2 132 xor 2\n__global__ void f() {}\n");
}

TEST(test_globals_last_for_one_expansion) {
  CLOSED(expanding) *bench = expanding_open(TUNED("tunable 'b' { 1, 2 },"), NULL, 0);
  expanding_add(
      bench, "t.cu",
      "//@ if b == 1 then\n//@   mine = 1\n//@ end\n// ${mine}\n__global__ void f() {}\n");
  struct kernel_spec spec = expanding_one(bench, 0);
  kernel_spec_free(&spec);
  FAILS(expanding_try(bench, 1, &spec, &err), CUGEN_ERROR_TEMPLATE,
        "/t.cu:4: mine: unknown, nearest 'min'\n  in variant 'a b=2'");
}

/* ---- Includes of templates ------------------------------------------------------------------ */

TEST(test_include) {
  CLOSED(expanding) *bench = expanding_open(TUNED(""), NULL, 0);
  expanding_add(bench, "t.cu",
                "//@ helper = 5\n//@ include \"lib/a.cuh\"\n//@ include \"lib/a.cuh\"\n//@ include "
                "\"lib/once.cuh\"\n"
                "//@ include \"lib/once.cuh\"\n__global__ void f() {}\n// ${shared} ${helper}\n");
  expanding_add(bench, "lib/a.cuh",
                "// ${helper}\n#include <x.h>\n//@ shared = (helper or 0) + 1\n//@ helper = 6\n");
  expanding_add(bench, "lib/once.cuh", "#pragma once\n// once\n");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  expanding_text(bench, strchr(strchr(spec.source, '\n') + 1, '\n') + 1,
                 "#line 2 \"T/lib/a.cuh\"\n#include <x.h>\n#line 1 \"prologue\"\n\n#line 1 "
                 "\"T/lib/a.cuh\"\n// "
                 "5\n\n#line 1 \"T/lib/a.cuh\"\n// 6\n\n"
                 "#line 1 \"T/lib/once.cuh\"\n\n// once\n#line 6 \"T/t.cu\"\n__global__ void f() "
                 "{}\n// 7 6\n");
}

TEST(test_include_errors) {
  expanding_error(TUNED(""), "\n//@ include(\"t.cu\")\n", CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:2: includes are nested more than 16 deep: does a template include "
                  "itself?\n  in variant 'a'");
  expanding_error(
      TUNED(""), "\n//@ include(5)\n", CUGEN_ERROR_TEMPLATE,
      "T/t.cu:2: include takes the name of a template: include \"lib/name.cuh\"\n  in variant 'a'");
  struct expanding *bench = expanding_open(TUNED(""), NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  expanding_add(bench, "t.cu", "a\n//@ include \"lib/missing.cuh\"\n");
  assert_int_equal(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  assert_non_null(strstr(err.message, "/t.cu:2: no template 'lib/missing.cuh': "));
  expanding_close(bench);
  bench = expanding_open(TUNED(""), NULL, 0);
  expanding_add(bench, "t.cu", "a\n//@ include \"lib/a.cuh\"\n");
  expanding_add(bench, "lib/a.cuh", "x\n${y\n");
  assert_int_equal(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  expanding_text(bench, err.message,
                 "T/lib/a.cuh:2: `${` without its `}` on the same line (a literal `${` is written "
                 "`$${`)\n  in variant 'a'");
  expanding_close(bench);
}

/* ---- Errors --------------------------------------------------------------------------------- */

/* Stopped after so many instructions or, on a slow machine, seconds. */
TEST(test_endless_template) {
  CLOSED(expanding) *bench = expanding_open(TUNED("tunable 'block_size' { 64 },"), NULL, 0);
  struct kernel_spec spec;
  expanding_add(bench, "t.cu", "//@ while true do end\n");
  FAILS(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE, "/t.cu:1: gave up after",
        "\n  in variant 'a block_size=64'");
}

/* Stopped by too much text or, on a slow machine, by the time before. */
static const char *const too_much[] = {"the expansion is larger than 16 MiB", "gave up after"};

static void assert_given_up(const char *template, const char *other, const char *words) {
  CLOSED(expanding) *bench = expanding_open(TUNED(""), NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  expanding_add(bench, "t.cu", template);
  expanding_add(bench, "u.cuh", other);
  assert_int_equal(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  bool said =
      strstr(err.message, words) || (words == too_much[0] && strstr(err.message, too_much[1]));
  if (!said) fail_msg("no '%s' in: %s", words, err.message);
}

/* Templates that were written to attack. */
TEST(test_hostile_templates) {
  const char *nested = ": includes are nested more than 16 deep: does a template include itself?\n";
  assert_given_up("//@ include \"u.cuh\"\n", "//@ include \"t.cu\"\n", nested);
  assert_given_up("//@ depth = 0\n//@ include \"u.cuh\"\n",
                  "//@ depth = depth + 1\n//@ if depth < 17 then include \"u.cuh\" end\n", nested);
  /* Each file includes another four times: some hundred million files. */
  assert_given_up(
      "//@ depth = 0\n//@ include \"u.cuh\"\n",
      "//@ depth = depth + 1\n//@ if depth < 15 then for i = 1, 4 do include \"u.cuh\" end end\n"
      "//@ depth = depth - 1\n",
      "gave up after");
  assert_given_up("//@ for i = 1, 9e15 do include \"u.cuh\" end\n", "x\n", too_much[0]);
  assert_given_up("//@ for i = -9223372036854775807, 9223372036854775807 do\n//@ end\n", "",
                  "gave up after");
  assert_given_up("//@ for i = 1, 1 / 0 do\nx[${i}];\n//@ end\n", "", too_much[0]);
  assert_given_up("//@ for i = 1, 2, 0 do\n//@ end\n", "", "'for' step is zero");
  assert_given_up("//@ for i = 1, 'many' do\n//@ end\n", "", "bad 'for' limit (number expected");
  expanding_source(TUNED(""),
                   "//@ for i = 9223372036854775806, 9223372036854775807 do\na${i}\n//@ end\n//@ "
                   "for i = 1, 0 / 0 do\nb\n"
                   "//@ end\n//@ for i = 1, -1 / 0 do\nc\n//@ end\n__global__ void f() {}\n",
                   "#line 2 \"T/t.cu\"\na9223372036854775806\n#line 2 "
                   "\"T/t.cu\"\na9223372036854775807\n#line 10 "
                   "\"T/t.cu\"\n__global__ void f() {}\n");
}

TEST(test_template_errors) {
#define REFUSED(template, expected)                                                                \
  expanding_error(TUNED("tunable 'block_size' { 64 }, tunable 'mode' { 'fast' },"), template,      \
                  CUGEN_ERROR_TEMPLATE, expected "\n  in variant 'a block_size=64 mode=fast'")
  REFUSED("a\n\nb ${block_sise}\n", "T/t.cu:3: block_sise: unknown, nearest 'block_size'");
  REFUSED("//@ local x = quite_unlike_anything\n",
          "T/t.cu:1: quite_unlike_anything: unknown: neither in the config nor set in a //@ line "
          "before");
  REFUSED("${tensor_map}",
          "T/t.cu:1: tensor_map has no value in a //@ line or ${}: only CUDA text can use it");
  REFUSED("${device.sm_cnt}", "T/t.cu:1: sm_cnt: unknown, nearest 'sm_count'");
  REFUSED("a\n//@ local x\nb\nc ${x} d\n",
          "T/t.cu:4: ${x} gives nil where a number, string or boolean was expected");
  REFUSED("${{}}", "T/t.cu:1: ${{}} gives table where a number, string or boolean was expected");
  REFUSED("${1 / 0}", "T/t.cu:1: ${1 / 0} gives not a finite number where a number, string or "
                      "boolean was expected");
  REFUSED("a\n//@ block_size = 5\n",
          "T/t.cu:2: block_size comes from the config and cannot be changed: `local "
          "block_size = ...` makes a name of its own");
  REFUSED("a\n//@ if x the\n//@ end\n", "T/t.cu:2: 'then' expected near 'the'");
  REFUSED("a\n//@ error('no ' .. mode)\n", "T/t.cu:2: no fast");
  REFUSED("//@ for i = 1, 3 do\nx ${i}\n//@ end\n//@ local y = nil + 1\n",
          "T/t.cu:4: attempt to perform arithmetic on a nil value");
  REFUSED("\n\nint mode;\n", "T/t.cu:3: mode is a string: use it in a //@ line or in ${}");
  REFUSED("\n\nint x_layout;\n", "T/t.cu:3: x_layout is a string: use it in a //@ line or in ${}");
  REFUSED("\n#define block_size (32 * K)\n",
          "T/t.cu:2: block_size comes from the config: put #ifndef and #endif around its #define");
  REFUSED("//@ local blanks = ' ' for i = 1, 12 do blanks = blanks .. blanks end\n//@ while true "
          "do\n${blanks} // "
          "forever\n//@ end\n",
          "T/t.cu:3: the expansion is larger than 16 MiB");
  REFUSED("${ceil_div(5, 0)}",
          "T/t.cu:1: bad argument #2 to 'ceil_div' (a positive integer was expected)");
  REFUSED("${log2(6)}", "T/t.cu:1: bad argument #1 to 'log2' (a power of two was expected)");
  REFUSED("${sizeof('f33')}", "T/t.cu:1: sizeof: 'f33' is not a dtype, nearest 'f32'");
#undef REFUSED
}

TEST(test_missing_template) {
  CLOSED(expanding) *bench = expanding_open(TUNED(""), NULL, 0);
  struct kernel_spec spec;
  FAILS(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE,
        "k.lua:2: no template 't.cu': ");
}

TEST(test_expander_works_on_after_an_error) {
  CLOSED(expanding) *bench = expanding_open(TUNED("tunable 'b' { 1, 2 },"), NULL, 0);
  expanding_add(bench, "t.cu", "//@ include \"u.cu\"\n__global__ void f() {}\n");
  expanding_add(bench, "u.cu", "//@ if b == 1 then error('one') end\n// two\n");
  struct kernel_spec spec;
  FAILS(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  spec = expanding_one(bench, 1);
  assert_non_null(strstr(spec.source, "// two\n"));
  kernel_spec_free(&spec);
  FAILS(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
}
