/* CUDA text as tokens, its normal form, and places mapped back through #line. */
#include "gen/sources/source_text.h"
#include "tests/testing.h"

/* ---- Tokens --------------------------------------------------------------------------------- */

static const char kind_letters[] = "$ n\\cw0\"m";

/* Expects one letter for each token: w word, 0 number, " literal, m mark, c comment, n newline,
   \ splice, blank. */
static void assert_kinds(const char *source, const char *expected) {
  FREED(text) kinds = {0};
  struct source_reader reader = {source, source + strlen(source)};
  for (struct source_token token = source_next(&reader); token.kind != SOURCE_END;
       token = source_next(&reader)) {
    assert_true(token.length > 0);
    text_add_char(&kinds, kind_letters[token.kind]);
  }
  assert_string_equal(text_get(&kinds), expected);
}

TEST(test_tokens) {
  assert_kinds("int a_1 = 0x1f;\n", "w w m 0mn");
  assert_kinds("a/* b \n c */d", "wcw");
  assert_kinds("a // b \\\n c\nd", "w cnw");
  assert_kinds("\"a // \\\" b\" 'x' '\\''", "\" \" \"");
  assert_kinds("1.5e-3f 1'000 .5 0x1p+3", "0 0 0 0");
  assert_kinds("R\"(a \" b)\" u8R\"x(a )\" )x\" L\"s\"", "\" \" w\"");
  assert_kinds("a\\\nb \\\r\nc", "w\\w \\w");
  assert_kinds("Größe", "w");
}

/* C++'s [lex.string]: prefixes, delimiters of up to 16 characters without blanks, parentheses
   and backslashes. */
TEST(test_raw_strings) {
  assert_kinds("R\"()\" u8R\"(\\)\" uR\"(\n)\" UR\"a(\")a\" LR\"\"()\"\"", "\" \" \" \" \"");
  assert_kinds("FooR\"( \" ) u9R\"a\" 1R\"a\" _R\"a\"", "w\" m w\" 0\" w\"");
  assert_kinds("R\"0123456789abcdef(\")0123456789abcdef\"x", "\"w");
  assert_kinds("R\"0123456789abcdefg(\")0123456789abcdefg\"x\ny", "\"nw");
  assert_kinds("R\"a b(\nx", "\"nw");
  assert_kinds("R\"a\\(\\\nx\ny", "\"nwnw");
  assert_kinds("R\"a\r\nx", "\"nw");
  assert_kinds("R\")(\nx", "\"nw");
  assert_kinds("R\"x(\n)x", "\"");
  assert_kinds("// R\"(\nx /* R\"( */ x \"R\" x", "cnw c w \" w");
}

TEST(test_unterminated) {
  assert_kinds("/* never", "c");
  assert_kinds("\"never\nx", "mwnw");
  assert_kinds("R\"x(never", "\"");
  assert_kinds("uR\"x never\nx", "\"nw");
  assert_kinds("'\\", "mm");
  assert_kinds("\"\\", "mm");
  assert_kinds("/", "m");
  assert_kinds("\\", "m");
}

/* ---- Normal form ---------------------------------------------------------------------------- */

static void normal(const char *source, struct text *out) {
  source_normalise(source, strlen(source), out);
  assert_false(out->failed);
}

static void assert_normal(const char *source, const char *expected) {
  FREED(text) out = {0};
  normal(source, &out);
  assert_string_equal(text_get(&out), expected);
}

TEST(test_normal_form) {
  assert_normal("int  a ;  // comment\n\n  a = b /* c */ + 1 ;\n", "int a;a=b+1;");
  assert_normal("#line 3 \"x.cu\"\nint a;\n#  line 9\nint b;", "int a;int b;");
  assert_normal("#line 3 /* said\nhere */ int a;\nint b;", "int b;");
  assert_normal("int a;\n  #  define  f (x)   x + 1 // c\nint b;",
                "int a;\n#define f (x) x + 1\nint b;");
  assert_normal("#define f(x) a \\\n  b\nc", "#define f(x) a b\nc");
  assert_normal("a\\\nb", "ab");
  assert_normal("\"a  //  b\"  \"/* c */\"", "\"a  //  b\" \"/* c */\"");
  assert_normal("#\nx", "#\nx");
  assert_normal("#error don't\nx\n'y", "#error don't\nx 'y\n");
  assert_normal("#if 1\n#endif", "#if 1\n#endif\n");
}

/* Blanks that separate two tokens stay. */
TEST(test_normal_form_keeps_tokens_apart) {
  assert_normal("a + +b", "a+ +b");
  assert_normal("a - -b", "a- -b");
  assert_normal("1e+\nx", "1e+ x"); /* a number would absorb the sign and the word */
  assert_normal("0x1e - 1 + 1e + p - 1 * 1p", "0x1e -1+1e +p-1*1p");
  assert_normal(".8p -\nx", ".8p -x");
  assert_normal("a / *b", "a/ *b");
  assert_normal("x < ::y", "x< ::y");
  assert_normal("1 .f", "1 .f");
  assert_normal("L \"x\"", "L \"x\"");
  assert_normal("a/**/b", "a b");
}

/* Expects that the normal form of a normal form is itself. */
static void assert_settled(const char *source, const char *expected) {
  assert_normal(source, expected);
  assert_normal(expected, expected);
}

TEST(test_normal_form_of_raw_strings) {
  assert_settled("a  R\"x( \r\n  \" )x\"  b ;", "a R\"x( \r\n  \" )x\" b;");
  assert_settled("#define A R\"(\n#define  B\n)\"  c\nint  a;",
                 "#define A R\"(\n#define  B\n)\" c\nint a;");
  assert_settled("#line 3 R\"(\n  )\"\na  b", "a b");
  assert_settled("R\"(a  \\\n  b)\"  c", "R\"(a  \\\n  b)\" c");
  assert_settled("FOOR\"(  )\"  c", "FOOR\"(  )\" c");
  assert_settled("FOOR\"(  \"  )  c", "FOOR\"(  \")c");
  assert_settled("UR\"", "UR\"\n");
  assert_settled("#if R\"x(  never", "#if R\"x(  never\n");
  /* Joined with the next line, these texts would be raw strings, whose ends divide the rest in
     another way. */
  assert_settled("UR\"a b\"\n(\"q)a b\"\"s  t\"", "UR\"a b\"\n(\"q)a b\"\"s  t\"");
  assert_settled("R\"ab\"\r\n(\"q)ab\"\"s  t\"", "R\"ab\"\r\n(\"q)ab\"\"s  t\"");
  assert_settled("R\"bad \\\n\n (  y  y", "R\"bad \\\n(y y");
  assert_settled("R\"a)\" // c\n (\"q)a)\"\"s  t\"", "R\"a)\" // c\n(\"q)a)\"\"s  t\"");
}

static void assert_same(const char *a, const char *b, bool same) {
  FREED(text) x = {0}, y = {0};
  normal(a, &x);
  normal(b, &y);
  assert_int_equal(strcmp(text_get(&x), text_get(&y)) == 0, same);
}

TEST(test_what_is_the_same) {
  assert_same("a = b;", "a\n=\nb; // assigned", true);
  assert_same("#define X 1\na", "\n\n#define X 1 // one\n\n\na", true);
  assert_same("a = b;", "a = c;", false);
  assert_same("\"a b\"", "\"a  b\"", false);
  assert_same("#define f(x) 1\n", "#define f (x) 1\n", false);
  assert_same("#define X a\nb", "#define X a b\n", false);
  assert_same("ab", "a b", false);
}

/* ---- Places --------------------------------------------------------------------------------- */

static void assert_place(const char *text, const char *mark, const char *path, int line) {
  FREED(text) found = {0};
  int found_line;
  source_locate(text, (size_t)(strstr(text, mark) - text), &found, &found_line);
  assert_string_equal(text_get(&found), path);
  assert_int_equal(found_line, line);
}

TEST(test_places) {
  static const char text[] =
      "one\n#line 10 \"a.cu\"\nten\neleven\n#line 3 \"lib\\\\\\\"b.cuh\"\n\nfour\n#line x\nsix";
  assert_place(text, "one", "", 1);
  assert_place(text, "ten", "a.cu", 10);
  assert_place(text, "eleven", "a.cu", 11);
  assert_place(text, "four", "lib\\\"b.cuh", 4);
  assert_place(text, "six", "lib\\\"b.cuh", 6);
}
