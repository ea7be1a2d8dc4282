/* Parsing templates: the Lua chunk keeps the template's lines, and text becomes pieces. */
#include "gen/template/template.h"
#include "tests/testing.h"

static struct template *parse(const char *content) {
  struct template *template;
  WORKS(template_parse("t.cu", content, strlen(content), &template, &err));
  return template;
}

static void assert_lua(const char *content, const char *expected) {
  static const char prefix[] = "local __emit<const> = ...;";
  CLOSED(template) *template = parse(content);
  const char *lua = text_get(&template->lua);
  assert_memory_equal(lua, prefix, sizeof prefix - 1);
  assert_string_equal(lua + sizeof prefix - 1, expected);
}

TEST(test_lua_keeps_lines) {
  assert_lua("", "");
  assert_lua("a\nb\n", ";__emit(0\n)");
  assert_lua("a\n//@ x()\nb", ";__emit(0\n) x()\n;__emit(1)");
  assert_lua("  \t//@x()", "x()");
  assert_lua("${a}\n b${b + 1}c ${ {1}[1] }\n", ";__emit(0,(a)\n,(b + 1),( {1}[1] ))");
  assert_lua("${\"}\"}", ";__emit(0,(\"}\"))");
  assert_lua("//@ x()\r\na\r\n", " x()\n;__emit(0)");
}

static void assert_literal(const char *content, const char *expected) {
  CLOSED(template) *template = parse(content);
  assert_string_equal(text_get(&template->literal), expected);
}

TEST(test_text) {
  assert_literal("a ${x} b\n", "a  b\n");
  assert_literal("no end of line", "no end of line\n");
  assert_literal("a $${x} $ $$ $b ${1}$${", "a ${x} $ $$ $b ${\n");
  assert_literal("a\r\nb\r\n", "a\nb\n");
  assert_literal("# pragma once\na\n", "\na\n");
}

TEST(test_pieces) {
  CLOSED(template) *template = parse("a\nb ${1}\n//@ x()\n\nc\n");
  assert_int_equal(template->piece_count, 2);
  assert_int_equal(template->pieces[0].line, 1);
  assert_int_equal(template->pieces[0].lines, 2);
  assert_int_equal(template->pieces[0].expressions, 1);
  assert_int_equal(template->pieces[1].line, 4);
  assert_int_equal(template->pieces[1].lines, 2);
  assert_int_equal(template->fragment_count, 3);
  assert_int_equal(template->fragments[0].line, 2);
  assert_false(template->once);
}

/* A Lua function has a limited number of registers. */
TEST(test_many_expressions) {
  FREED(text) content = {0};
  for (int i = 0; i < 100; i++) text_add(&content, "${a}${b}\n");
  CLOSED(template) *template = parse(text_get(&content));
  assert_true(template->piece_count > 5);
  int lines = 0;
  for (size_t i = 0; i < template->piece_count; i++) {
    assert_true(template->pieces[i].expressions <= 32);
    assert_int_equal(template->pieces[i].line, lines + 1);
    lines += template->pieces[i].lines;
  }
  assert_int_equal(lines, 100);
}

/* Expects whether a #line may stand at the last piece of the content. */
static void assert_fresh(const char *content, bool fresh) {
  CLOSED(template) *template = parse(content);
  assert_int_equal(template->pieces[template->piece_count - 1].fresh, fresh);
}

TEST(test_where_a_line_directive_may_stand) {
  assert_fresh("a\n//@ x()\nb\n", true);
  assert_fresh("/* a\n//@ x()\nb */\n", false);
  assert_fresh("/* a\n//@ x()\nb */\n//@ y()\nc\n", true);
  assert_fresh("#define f(x) \\\n//@ x()\n  x\n", false);
  assert_fresh("R\"(\n//@ x()\n)\"\n", false);
  assert_fresh("// ${'/*'} \"\n//@ x()\nb\n", true);
}

TEST(test_once) {
  CLOSED(template) *template = parse("// a\n#pragma once // b\n");
  assert_true(template->once);
}

static void assert_refused(const char *content, size_t length, const char *expected) {
  struct template *template;
  FAILS_WITH(template_parse("t.cu", content, length, &template, &err), CUGEN_ERROR_TEMPLATE,
             expected);
  assert_null(template);
}

TEST(test_errors) {
#define REFUSED(content, expected) assert_refused(content, sizeof content - 1, expected)
  REFUSED("a\nb ${c\n}",
          "t.cu:2: `${` without its `}` on the same line (a literal `${` is written `$${`)");
  REFUSED("a\n\n${ }", "t.cu:3: `${}` without an expression");
  REFUSED("${a -- b}", "t.cu:1: a Lua comment inside `${}`");
  REFUSED("a\nb\0c", "t.cu:2: a NUL byte: not a text file");
#undef REFUSED
}
