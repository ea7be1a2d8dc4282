/* Plain .cu files as others publish them: which of the config's names they declare themselves,
   and which kernel is launched. */
#include "expanding.h"
#include "tests/testing.h"

#define BS "tunable 'bs' { 64, 128 },\n"

static void assert_hash(const char *body, uint64_t one, uint64_t other, bool same) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", "template <int b> __global__ void k() {}\n");
  FREED(kernel_spec) a = expanding_one(bench, one), b = expanding_one(bench, other);
  assert_int_equal(strcmp(a.source_hash.hex, b.source_hash.hex) == 0, same);
}

/* ---- #ifdef --------------------------------------------------------------------------------- */

/* A boolean that is asked by #ifdef alone is a macro only if it is true. If its value is asked,
   too, it is always a macro. */
TEST(test_ifdef) {
  static const struct {
    const char *body;
    bool always;
  } cases[] = {
      {"#ifdef FAST\n#endif\n", false},
      {"#if defined(FAST) || !defined FAST\n#endif\n", false},
      {"#ifndef FAST\nint slow;\n#endif\n", false},
      {"#ifdef WIDE\n#elif defined( FAST )\n#endif\n", false},
      {"#if FAST\n#endif\n", true},
      {"#ifdef FAST\nint x = FAST;\n#endif\n", true},
      {"#ifndef FAST\n#define FAST 0\n#endif\n#if FAST\n#endif\n", true},
      {"#if defined(FAST) && FAST\n#endif\n", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *template = formed("%s__global__ void k() {}\n", cases[i].body);
    static const char *const bodies[] = {
        TUNED("tunable 'FAST' { false, true },"),
        TUNED("tunable 'bs' { 64, 128 }, derive 'FAST' 'bs == 128',")};
    for (int b = 0; b < 2; b++) {
      CLOSED(expanding) *bench = expanding_open(bodies[b], NULL, 0);
      expanding_add(bench, "t.cu", template);
      FREED(kernel_spec) no = expanding_one(bench, 0), yes = expanding_one(bench, 1);
      assert_int_equal(strstr(no.source, "#define FAST 0\n") != NULL, cases[i].always);
      assert_non_null(strstr(yes.source, "#define FAST 1\n"));
      assert_string_not_equal(no.source_hash.hex, yes.source_hash.hex);
    }
  }
}

/* ---- entry ---------------------------------------------------------------------------------- */

TEST(test_entry_mentions) {
  expanding_source(TUNED(BS "entry 'k<bs, y_t>',"),
                   "template <int b, typename T> __global__ void k() {}\n",
                   "#define bs 64\nusing y_t = float;\n\n#line 1 \"T/t.cu\"\n"
                   "template <int b, typename T> __global__ void k() {}\n");
  expanding_source(
      TUNED("entry 'k<dtype>',"), "template <typename T> __global__ void k() {}\n",
      "using dtype = float;\n\n#line 1 \"T/t.cu\"\ntemplate <typename T> __global__ void k() {}\n");
}

static void assert_entry(const char *body, const char *entry) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", "template <int b> __global__ void k() {}\n");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  assert_string_equal(spec.launches[0].entry, entry);
}

TEST(test_entry_values) {
  assert_entry(TUNED(BS "entry 'k<${bs // 2}, ${bs > 2}, ${dtype}>',"), "k<32, 1, float>");
  assert_entry(TUNED(BS "entry 'k<${bs}>',"), "k<64>");
  /* one text with two instances: two images */
  assert_hash(TUNED(BS "entry 'k<${bs}>',"), 0, 1, false);
  assert_hash(TUNED(BS "entry 'k<4>',"), 0, 1, true);
}

TEST(test_entry_errors) {
  expanding_error(
      TUNED("tunable 'w' { 'xor' },\nentry 'k<w>',"), "template <int b> __global__ void k() {}\n",
      CUGEN_ERROR_CONFIG,
      "k.lua:3: entry \"k<w>\": w is a word: put its value in with ${}\n  in variant 'a w=xor'");
  expanding_error("problem 'm' (8), scalar 'm' {}," TUNED("\nentry 'k<m>',"),
                  "template <int b> __global__ void k() {}\n", CUGEN_ERROR_CONFIG,
                  "k.lua:3: entry \"k<m>\": m is passed at launch: put its value in with ${}, or "
                  "specialize it\n"
                  "  in variant 'a'");
}

/* ---- Names that the source declares, too ---------------------------------------------------- */

static void unchanged(const char *body, const char *prologue, const char *template) {
  const char *expected =
      formed("%s%s#line 1 \"T/t.cu\"\n%s", prologue, *prologue ? "\n" : "", template);
  expanding_source(body, template, expected);
}

TEST(test_template_parameters) {
  unchanged(TUNED(BS "entry 'k<bs>',"), "constexpr auto bs = 64;\n",
            "template <int bs, typename T = float>\n__global__ void k() { int x = bs; }\n");
  unchanged(TUNED(BS "entry 'k<${bs}>',"), "",
            "template <int bs>\n__global__ void k() { int x = bs; }\n");
  unchanged(TUNED(BS), "constexpr auto bs = 64;\n",
            "template <int bs> __device__ int f() { return bs; }\n__global__ void k() { int x = "
            "f<bs>(); }\n");
  unchanged(TUNED(BS), "#define bs 64\n",
            "template <int b> void f();\n__global__ void k() { f<bs>(); }\n");
}

TEST(test_parameters_and_variables) {
  unchanged(TUNED(""), "",
            "__global__ void k(float *y, const size n) {\n  if (1 < n) y[1] = n;\n}\n");
  unchanged(TUNED(""), "constexpr auto n = 1000;\n",
            "__device__ int f(float *n) { return *n; }\n__global__ void k() { int x = n; }\n");
  unchanged(TUNED(""), "", "__global__ void k() {\n  for (int i = 0, n = 4; i < n; i++) { }\n}\n");
  unchanged(TUNED(""), "constexpr auto n = 1000;\n",
            "__global__ void k() {\n  { unsigned n = 2; n++; }\n  int m = n;\n}\n");
  unchanged(TUNED(""), "", "struct p { int n; };\n__global__ void k(p q, int) { q.n = 3; }\n");
  unchanged(TUNED(""), "#define n 1000\n",
            "__global__ void k(float *y, int) {\n  y[2 * n] = f(y, n);\n  if (n) return n;\n}\n");
  unchanged("problem 'x_size' (8), scalar 'x_size' {}," TUNED(""), "",
            "__global__ void k(int x_size, float *, float *) { int y = x_size; }\n");
}

TEST(test_branches) {
  unchanged(TUNED(BS), "#define bs 64\n",
            "#ifndef bs\nconstexpr int bs = 4;\n#endif\n__global__ void k() { f(bs); }\n");
  unchanged(TUNED(""), "constexpr auto n = 1000;\n",
            "#ifdef A\n__global__ void k(int n) {\n#else\n__global__ void k(int m) {\n#endif\n  "
            "f(1);\n}\n"
            "void g() { f(n); }\n");
}

/* The file's own number is removed, and its lines keep their numbers. */
TEST(test_defaults) {
  expanding_source(
      TUNED(BS), "#define bs (32) // usual\n#define M -1\n__global__ void k() { f(bs); }\n",
      "#define bs 64\n\n#line 1 \"T/t.cu\"\n\n#define M -1\n__global__ void k() { f(bs); }\n");
  /* In a condition the compiler decides, and names the line of the #define. */
  expanding_source(
      TUNED(BS), "#ifdef A\n\n#define bs 32\n#endif\n__global__ void k() { f(bs); }\n",
      "#define bs 64\n\n#line 1 \"T/t.cu\"\n#ifdef A\n\n#define bs 32\n#endif\n"
      "__global__ void k() { f(bs); }\n#if (bs) != (64)\n#line 3 \"T/t.cu\"\n#error bs "
      "comes from the config: put #ifndef and #endif around its #define\n#endif\n");
  expanding_error(TUNED(BS), "\n#define bs (2 * M)\n__global__ void k() {}\n", CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:2: bs comes from the config: put #ifndef and #endif around its #define\n"
                  "  in variant 'a bs=64'");
  expanding_error(TUNED(BS), "#define bs(x) 4\n__global__ void k() {}\n", CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:1: bs comes from the config: put #ifndef and #endif around its #define\n"
                  "  in variant 'a bs=64'");
}

TEST(test_clashes) {
  expanding_error(TUNED(BS), "\nconst int bs = 32;\n__global__ void k() {}\n", CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:2: bs comes from the config, and this declaration would hide it: remove "
                  "the declaration, "
                  "or rename one of them\n  in variant 'a bs=64'");
  expanding_error(
      TUNED(BS), "__global__ void k() {\n  const int bs = 32;\n}\n", CUGEN_ERROR_TEMPLATE,
      "T/t.cu:2: bs is a tunable of the config, and this variable hides it: remove the variable's "
      "declaration, or rename one of them\n  in variant 'a bs=64'");
  expanding_error(
      TUNED(BS), "__global__ void k(int n,\n const int bs) {}\nvoid f() {\n  int bs = 32;\n}\n",
      CUGEN_ERROR_TEMPLATE,
      "T/t.cu:4: bs is a tunable of the config, and this variable hides it: remove the variable's "
      "declaration, or rename one of them\n  in variant 'a bs=64'");
  expanding_error(TUNED(BS "entry 'k<bs>',"),
                  "template <int bs>\n__global__ void k() {\n#if bs > 2\n#endif\n}\n",
                  CUGEN_ERROR_TEMPLATE,
                  "T/t.cu:1: bs is declared here, and is a macro of the config's that a directive "
                  "tests: rename one\n"
                  "  in variant 'a bs=64'");
}

/* nvcc gets these names from <sys/types.h>. */
TEST(test_common_types) {
  unchanged(TUNED(BS),
            "using uint = unsigned int;\nusing uchar = unsigned char;\n\n#define bs 64\n",
            "__device__ uint f(uchar x) { return x + bs; }\n__global__ void k() {}\n");
  unchanged(TUNED("entry 'k<ushort>',"), "using ushort = unsigned short;\n",
            "template <class T> __global__ void k() {}\n");
  unchanged(TUNED(""), "using uint = unsigned int;\n",
            "#define word uint\n__global__ void k() { word x; }\n");
  /* A declaration inside of a condition is left to the compiler, since declaring a type twice is
     allowed. */
  unchanged(
      TUNED(""), "using ulong = unsigned long;\n",
      "#ifdef _WIN32\ntypedef unsigned long ulong;\n#endif\n__global__ void k(ulong x, int) {}\n");
  /* Names that the source declares itself, or an option of the config. */
  unchanged(TUNED(""), "",
            "typedef unsigned long long ulong;\n__global__ void k(ulong x, int) {}\n");
  unchanged(
      TUNED(""), "",
      "struct uchar { char x; };\nusing uint = int;\n__global__ void k(uint x, uchar y) {}\n");
  unchanged(TUNED(""), "",
            "#ifdef A\ntypedef char uchar;\n#endif\n__global__ void k(uchar y, int) {}\n");
  unchanged(TUNED(""), "",
            "// uint\n__global__ void k() { unsigned uints, uint8_t; f(\"uint\"); }\n");
  expanding_source(
      TUNED("options { define = { 'uint=unsigned' } },"), "__global__ void k(uint x, int) {}\n",
      "#line 2 \"k.lua\"\n#define uint unsigned\n#line 1 \"prologue\"\n\n#line 1 \"T/t.cu\"\n"
      "__global__ void k(uint x, int) {}\n");
}
