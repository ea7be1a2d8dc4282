/* Headers that a plain .cu includes, and the options with which it is compiled. */

#include <sys/stat.h>
#include <unistd.h>

#include "expanding.h"
#include "tests/testing.h"

#define KERNEL "__global__ void k() {}\n"

struct file {
  const char *name, *content;
};

static struct expanding *open_with(const char *body, const char *template,
                                   const struct file *files) {
  struct expanding *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", template);
  for (; files && files->name; files++) expanding_add(bench, files->name, files->content);
  return bench;
}

static void assert_source(const char *body, const char *template, const struct file *files,
                          const char *expected) {
  CLOSED(expanding) *bench = open_with(body, template, files);
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  const char *source = spec.source;
  while (strncmp(source, "// ", 3) == 0) source = strchr(source, '\n') + 1;
  expanding_text(bench, source, expected);
}

static void assert_refused(const char *template, const struct file *files, const char *expected) {
  CLOSED(expanding) *bench = open_with(TUNED(""), template, files);
  struct kernel_spec spec;
  cugen_error err = {0};
  assert_int_equal(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  expanding_text(bench, err.message, expected);
}

/* ---- Where headers go ----------------------------------------------------------------------- */

TEST(test_nested) {
  static const struct file files[] = {{"a.h", "#include \"sub/b.h\"\nint a = n;\n"},
                                      {"sub/b.h", "#include \"c.h\"\n"},
                                      {"sub/c.h", "int c;"},
                                      {NULL, NULL}};
  assert_source(
      TUNED(""), "// first\n#include \"a.h\" // why\n" KERNEL, files,
      "#define n 1000\n\n#line 1 \"T/t.cu\"\n// first\n#line 1 \"T/a.h\"\n#line 1 \"T/sub/b.h\"\n"
      "#line 1 \"T/sub/c.h\"\nint c;\n#line 2 \"T/sub/b.h\"\n#line 2 \"T/a.h\"\nint a = n;\n"
      "#line 3 \"T/t.cu\"\n" KERNEL);
}

/* A header of the toolkit is searched only there, and precedes all macros. */
TEST(test_toolkit) {
  static const struct file files[] = {
      {"a.h", "#ifndef A_H\n#define A_H\n#include <cuda_bf16.h>\n#endif\n"}, {NULL, NULL}};
  assert_source(TUNED(""), "#include \"cuda_fp16.h\"\n#include \"a.h\"\n" KERNEL, files,
                "#line 1 \"T/t.cu\"\n#include <cuda_fp16.h>\n#line 2 \"T/a.h\"\n#define A_H\n#line "
                "3 \"T/a.h\"\n"
                "#include <cuda_bf16.h>\n#line 1 \"prologue\"\n\n#line 1 \"T/t.cu\"\n\n#line 1 "
                "\"T/a.h\"\n\n\n\n\n"
                "#line 3 \"T/t.cu\"\n" KERNEL);
}

/* A file with an include guard is treated like one without: its headers precede all macros. */
TEST(test_guarded_file) {
  static const struct file files[] = {{"a.h", "#include \"t.cu\"\n#include <cuda_bf16.h>\n"},
                                      {NULL, NULL}};
  assert_source(TUNED(""),
                "// by us\n#ifndef T_CU // once\n#define T_CU\n#include <cuda_fp16.h>\n#include "
                "\"a.h\"\nint a = n;\n" KERNEL "#endif // T_CU\n",
                files,
                "#line 3 \"T/t.cu\"\n#define T_CU\n#line 4 \"T/t.cu\"\n#include "
                "<cuda_fp16.h>\n#line 2 \"T/a.h\"\n"
                "#include <cuda_bf16.h>\n#line 1 \"prologue\"\n\n#define n 1000\n\n#line 1 "
                "\"T/t.cu\"\n// by us\n\n\n\n"
                "#line 1 \"T/a.h\"\n#line 2 \"T/a.h\"\n\n#line 6 \"T/t.cu\"\nint a = n;\n" KERNEL
                "\n");
  /* With a branch, or with something behind its #endif, it is not a guard. */
  assert_source(TUNED(""), "#ifndef T\n#define T\n#include <b.h>\n#else\n" KERNEL "#endif\n", NULL,
                "#line 1 \"T/t.cu\"\n#ifndef T\n#define T\n#include <b.h>\n#else\n" KERNEL
                "#endif\n");
  assert_source(TUNED(""), "#ifndef T\n#define T\n#include <b.h>\n#endif\n" KERNEL, NULL,
                "#line 1 \"T/t.cu\"\n#ifndef T\n#define T\n#include <b.h>\n#endif\n" KERNEL);
}

TEST(test_once) {
  static const struct file files[] = {{"a.h", "#pragma once\n#include \"a.h\"\nint a;\n"},
                                      {NULL, NULL}};
  assert_source(TUNED(""), "#include \"a.h\"\n#include \"a.h\"\n" KERNEL, files,
                "#line 1 \"T/t.cu\"\n#line 1 \"T/a.h\"\n            \n#line 3 \"T/a.h\"\nint "
                "a;\n#line 2 \"T/t.cu\"\n"
                "#line 3 \"T/t.cu\"\n" KERNEL);
  /* An include inside of a condition is left to the compiler. */
  assert_source(TUNED(""), "#if 0\n#include \"a.h\"\n#endif\n#include \"a.h\"\n" KERNEL, files,
                "#line 1 \"T/t.cu\"\n#if 0\n#ifndef cugen_once_0\n#define cugen_once_0\n#line 1 "
                "\"T/a.h\"\n            \n"
                "#line 3 \"T/a.h\"\nint a;\n#endif\n#line 3 \"T/t.cu\"\n#endif\n"
                "#ifndef cugen_once_0\n#define cugen_once_0\n#line 1 \"T/a.h\"\n            \n"
                "#line 3 \"T/a.h\"\nint a;\n#endif\n#line 5 \"T/t.cu\"\n" KERNEL);
}

/* Each of many headers has a macro of its own. */
TEST(test_many_once) {
  enum { MANY = 1030 };
  FREED(text) template = {0};
  text_add(&template, "#if 1\n");
  for (int i = 0; i < MANY; i++) text_addf(&template, "#include \"h%d.h\"\n", i);
  text_add(&template, "#endif\n" KERNEL);
  CLOSED(expanding) *bench = open_with(TUNED(""), text_get(&template), NULL);
  for (int i = 0; i < MANY; i++)
    expanding_add(bench, formed("h%d.h", i), formed("#pragma once\nint a%d;\n", i));
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  for (int i = 0; i < MANY; i++)
    if (!strstr(spec.source, formed("#define cugen_once_%d\n", i))) fail_msg("header %d", i);
}

TEST(test_folders) {
  static const struct file files[] = {
      {"inc/a.h", "int a;\n"}, {"third/b.h", "int b;\n"}, {NULL, NULL}};
  assert_source("include_dirs { 'third' }," TUNED("include_dirs { 'inc' },"),
                "#include <a.h>\n#include \"b.h\"\n" KERNEL, files,
                "#line 1 \"T/t.cu\"\n#line 1 \"T/inc/a.h\"\nint a;\n#line 2 \"T/t.cu\"\n#line 1 "
                "\"T/third/b.h\"\nint b;\n"
                "#line 3 \"T/t.cu\"\n" KERNEL);
}

TEST(test_memory) {
  struct expanding *bench = open_with(TUNED("include_dirs { 'inc' },"), "", NULL);
  struct source_file *files = NULL;
  static const char template[] = "#include \"a.h\"\n#include <b.h>\n" KERNEL;
  expanding_check(sources_add(&files, "t.cu", template, strlen(template), NULL), NULL);
  expanding_check(sources_add(&files, "a.h", "int a;\n", 7, NULL), NULL);
  expanding_check(sources_add(&files, "inc/b.h", "int b;\n", 7, NULL), NULL);
  bench->sources.files = files;
  struct kernel_spec spec = expanding_one(bench, 0);
  assert_non_null(strstr(spec.source, "#line 1 \"a.h\"\nint a;\n"));
  assert_non_null(strstr(spec.source, "#line 1 \"inc/b.h\"\nint b;\n"));
  kernel_spec_free(&spec);
  expanding_close(bench);
  sources_forget(files);
}

TEST(test_hash) {
  static const struct file one[] = {{"a.h", "int a; // comment\n"}, {NULL, NULL}},
                           same[] = {{"a.h", "int a;\n"}, {NULL, NULL}},
                           other[] = {{"a.h", "int b;\n"}, {NULL, NULL}};
  const struct file *all[] = {one, same, other};
  struct hash hashes[3];
  for (int i = 0; i < 3; i++) {
    CLOSED(expanding) *bench = open_with(TUNED(""), "#include \"a.h\"\n" KERNEL, all[i]);
    FREED(kernel_spec) spec = expanding_one(bench, 0);
    hashes[i] = spec.source_hash;
  }
  assert_string_equal(hashes[0].hex, hashes[1].hex);
  assert_string_not_equal(hashes[0].hex, hashes[2].hex);
}

/* ---- What may not be read ------------------------------------------------------------------- */

#define OUTSIDE                                                                                    \
  "is refused: name a header relative to its file or to a folder of include_dirs, without "        \
  "'..' or a hidden name (template_dir names a folder elsewhere)"                                  \
  "\n  in variant 'a'"

TEST(test_outside) {
  static const struct file files[] = {{"a.h", "\n#include <../x.h>\n"}, {NULL, NULL}};
  assert_refused("#include \"/etc/passwd\"\n" KERNEL, NULL,
                 "T/t.cu:1: #include of '/etc/passwd' " OUTSIDE);
  assert_refused("#  inc\\\nlude <//etc/passwd>\n" KERNEL, NULL,
                 "T/t.cu:1: #include of '//etc/passwd' " OUTSIDE);
  assert_refused("/**/%:/**/include \"/etc/passwd\"\n" KERNEL, NULL,
                 "T/t.cu:1: #include of '/etc/passwd' " OUTSIDE);
  assert_refused("#include \"a.h\"\n" KERNEL, files, "T/a.h:2: #include of '../x.h' " OUTSIDE);
#define ONLY "only #include of a name in quotes or angle brackets is read here\n  in variant 'a'"
  assert_refused("\n#include NAME\n" KERNEL, NULL, "T/t.cu:2: " ONLY);
  assert_refused("#include_next <a.h>\n" KERNEL, NULL, "T/t.cu:1: " ONLY);
  assert_refused("#import \"a.h\"\n" KERNEL, NULL, "T/t.cu:1: " ONLY);
#undef ONLY
}

/* A branch that is never compiled may contain anything. */
TEST(test_outside_branch) {
  assert_source(TUNED(""), "#if HOST\n#include \"../x.h\"\n#endif\n" KERNEL, NULL,
                "#line 1 \"T/t.cu\"\n#if HOST\n#error #include of '../x.h' is refused: name a "
                "header relative to its "
                "file or to a folder of include_dirs, without '..' or a hidden name (template_dir "
                "names a folder "
                "elsewhere)\n#endif\n" KERNEL);
}

TEST(test_links) {
  CLOSED(expanding) *bench = open_with(TUNED(""), "#include \"a.h\"\n" KERNEL, NULL);
  struct kernel_spec spec;
  cugen_error err = {0};
  const char *link = formed("%s/a.h", text_get(&bench->folder));
  assert_int_equal(symlink("/etc/passwd", link), 0);
  assert_int_equal(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  expanding_text(bench, err.message,
                 "T/t.cu:1: T/a.h leads out of the config's folder by a link\n  in variant 'a'");
  assert_int_equal(unlink(link), 0);
  assert_int_equal(mkfifo(link, 0600), 0);
  assert_int_equal(expanding_try(bench, 0, &spec, &err), CUGEN_ERROR_TEMPLATE);
  expanding_text(bench, err.message,
                 "T/t.cu:1: T/a.h is no regular file: pipes, sockets and devices are not read\n  "
                 "in variant 'a'");
}

TEST(test_endless) {
  static const struct file files[] = {{"a.h", "#include \"a.h\"\n"}, {NULL, NULL}};
  assert_refused(
      "#include \"a.h\"\n" KERNEL, files,
      "T/a.h:1: headers are nested more than 32 deep: does one include itself?\n  in variant 'a'");
}

/* ---- Options -------------------------------------------------------------------------------- */

static void assert_options(const char *body, uint64_t index, const char *options) {
  CLOSED(expanding) *bench = open_with(body, KERNEL, NULL);
  FREED(kernel_spec) spec = expanding_one(bench, index);
  assert_string_equal(spec.options, options);
  assert_int_equal(strstr(spec.source, "// options: ") != NULL, *options != '\0');
}

TEST(test_options) {
  assert_options(TUNED(""), 0, "");
  assert_options(TUNED("options { fast_math = true, fmad = false, maxrregcount = 0 },"), 0,
                 "--use_fast_math --fmad=false");
  assert_options("options { std = 'c++20', opt_level = 2 }," TUNED("options { std = 'c++14' },"), 0,
                 "--ptxas-options=-O2 --std=c++14");
#define BODY                                                                                       \
  TUNED("tunable 'r' { 0, 32 }, tunable 'c' { 'ca', 'cg' }, options { maxrregcount = 'r', "        \
        "load_cache = 'c' },")
  assert_options(BODY, 0, "--ptxas-options=-dlcm=ca");
  assert_options(BODY, 3, "--maxrregcount=32 --ptxas-options=-dlcm=cg");
  assert_options(
      "options { flags = { '--device-int128', '--diag-suppress=177' }, fast_math = true }," TUNED(
          "options { flags = { '--generate-line-info' }, define = { 'NDEBUG', 'T=float' } },"),
      0, "--use_fast_math --device-int128 --diag-suppress=177 --generate-line-info -DNDEBUG=1");
  CLOSED(expanding) *bench = open_with(BODY, KERNEL, NULL);
#undef BODY
  FREED(kernel_spec) a = expanding_one(bench, 0), b = expanding_one(bench, 1);
  assert_string_not_equal(a.source_hash.hex, b.source_hash.hex);
}

TEST(test_defines) {
  assert_source("options { define = { 'A', 'B=2' } }," TUNED(
                    "tunable 't' { 8 }, options { define = { 'C=${t * 2}' } },"),
                "#include <cuda_fp16.h>\n" KERNEL, NULL,
                "#line 2 \"k.lua\"\n#define A 1\n#line 2 \"k.lua\"\n#define B 2\n#line 2 "
                "\"k.lua\"\n#define C 16\n"
                "#line 1 \"prologue\"\n\n#line 1 \"T/t.cu\"\n#include <cuda_fp16.h>\n"
                "#line 1 \"prologue\"\n\n#line 1 \"T/t.cu\"\n\n" KERNEL);
}

/* A macro that only some variants define. */
TEST(test_conditional_defines) {
#define BODY                                                                                       \
  TUNED("tunable 'bs' { 64, 128 }, options { define = { 'A', WIDE = 'bs == 128', HALF = 'bs // "   \
        "2', NDEBUG = 'bs == "                                                                     \
        "64', T = "                                                                                \
        "'dtype' } },")
  CLOSED(expanding) *bench = open_with(BODY, KERNEL, NULL);
#undef BODY
  FREED(kernel_spec) a = expanding_one(bench, 0), b = expanding_one(bench, 1);
  assert_null(strstr(a.source, "#define WIDE"));
  assert_non_null(strstr(b.source, "#line 2 \"k.lua\"\n#define WIDE 1\n"));
  assert_non_null(strstr(
      a.source,
      "#define A 1\n#line 2 \"k.lua\"\n#define HALF 32\n#line 2 \"k.lua\"\n#define NDEBUG 1\n"
      "#line 2 \"k.lua\"\n#define T float\n"));
  assert_non_null(strstr(b.source, "#define HALF 64\n"));
  assert_string_equal(a.options, "-DNDEBUG=1");
  assert_string_equal(b.options, "");
}

/* A macro in front of an include applies to that header, too, as with nvcc; a macro behind the
   last include stays there. */
TEST(test_macros_of_headers) {
  assert_source(
      TUNED("tunable 't' { 8 },"),
      "#define NDEBUG\n#define SUM(a, \\\n  b) (a + b)\n#undef NONE\n#include <assert.h>\n#define "
      "LATE t\n"
      "#ifdef NDEBUG\n#define UNDER 1\n#include <cuda_fp16.h>\n#endif\n" KERNEL,
      NULL,
      "#line 1 \"T/t.cu\"\n#define NDEBUG\n#line 2 \"T/t.cu\"\n#define SUM(a, \\\n  b) (a + b)\n"
      "#line 4 \"T/t.cu\"\n#undef NONE\n#line 5 \"T/t.cu\"\n#include <assert.h>\n"
      "#line 1 \"prologue\"\n\n#define t 8\n\n#line 1 \"T/t.cu\"\n\n\n\n\n\n#define LATE t\n"
      "#ifdef NDEBUG\n#define UNDER 1\n#include <cuda_fp16.h>\n#endif\n" KERNEL);
}

/* Some editors put a byte order mark in front of a file. */
TEST(test_byte_order_marks) {
#define MARK "\xef\xbb\xbf"
  CLOSED(expanding) *bench = open_with(TUNED(""), MARK "#include \"h.h\"\n" KERNEL, NULL);
  expanding_add(bench, "h.h", MARK "int h;\n");
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  assert_null(strstr(spec.source, MARK));
  assert_non_null(strstr(spec.source, "int h;\n"));
#undef MARK
}

/* A reference gets only the options that its language needs, because it must be exact. */
TEST(test_reference) {
  static const char body[] =
      "problem 'n' (1000), output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = '0' }, "
      "reference 'r.cu',"
      "options { fast_math = true, std = 'c++20', define = { 'A' } },"
      "implementation 'a' { options { define = { 'B' }, std = 'c++14' }, " ONE_LAUNCH " }";
  CLOSED(expanding) *bench = open_with(body, KERNEL, NULL);
  expanding_add(bench, "r.cu", "__global__ void r(${params}) {}\n");
  FREED(kernel_spec) spec, reference;
  struct variant variant = {.implementation = bench->config->implementations};
  WORKS(expand_reference(bench->expander, bench->config, &bench->problem, &expanding_facts,
                         &variant, 0, &reference, &err));
  assert_string_equal(reference.options, "--std=c++20");
  assert_non_null(strstr(reference.source, "#define A 1\n"));
  assert_null(strstr(reference.source, "#define B 1\n"));
  spec = expanding_one(bench, 0);
  assert_string_equal(spec.options, "--use_fast_math --std=c++14");
}

TEST(test_bad_values) {
  expanding_error(
      TUNED("tunable 'r' { 300 },\noptions { maxrregcount = 'r' },"), KERNEL, CUGEN_ERROR_CONFIG,
      "k.lua:3: option maxrregcount is 300: it must be 0 to 255\n  in variant 'a r=300'");
  expanding_error(
      TUNED("tunable 'c' { 'cx' },\noptions { load_cache = 'c' },"), KERNEL, CUGEN_ERROR_CONFIG,
      "k.lua:3: option load_cache is cx: it must be one of ca cg cs lu cv\n  in variant 'a c=cx'");
}
