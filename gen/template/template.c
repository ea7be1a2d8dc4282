/* Parses a template into a Lua chunk and pieces of text; see template.h. */
#include "template.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gen/sources/source_text.h"

/* The most expressions of a call that emits several lines, because a Lua function has 255
   registers. A single line may have four times as many. */
enum { MOST_EXPRESSIONS = 32 };

struct parser {
  struct template *template;
  const char *at, *end; /* the rest of the file */
  int line;
  struct text plain;     /* only the lines of text, with 0 for each ${}: what the compiler's lexer
                            will see */
  int plain_line;        /* number of the next line in plain, from 0 */
  int *piece_plain_line; /* for each piece, the line of plain at which it starts */
  bool in_piece;
  cugen_error *err;
};

static int parse_error(struct parser *parser, const char *what) {
  return error_set_at(parser->err, CUGEN_ERROR_TEMPLATE, parser->template->path, parser->line, "%s",
                      what);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

static int begin_fragment(struct parser *parser) {
  struct template *t = parser->template;
  const struct template_fragment fragment = {.at = t->literal.length};
  return ARRAY_ADD(t->fragments, t->fragment_count, fragment) ? CUGEN_OK
                                                              : error_memory(parser->err);
}

static int begin_piece(struct parser *parser) {
  struct template *t = parser->template;
  if (!ARRAY_ROOM(t->pieces, t->piece_count) ||
      !ARRAY_ROOM(parser->piece_plain_line, t->piece_count))
    return error_memory(parser->err);
  parser->piece_plain_line[t->piece_count] = parser->plain_line;
  t->pieces[t->piece_count] =
      (struct template_piece){.line = parser->line, .first = t->fragment_count};
  text_addf(&t->lua, ";__emit(%zu", t->piece_count++);
  parser->in_piece = true;
  return begin_fragment(parser);
}

static struct template_fragment *last_fragment(struct parser *parser) {
  return &parser->template->fragments[parser->template->fragment_count - 1];
}

static void end_piece(struct parser *parser) {
  if (!parser->in_piece) return;
  text_add_char(&parser->template->lua, ')');
  parser->in_piece = false;
}

static void template_add_literal(struct parser *parser, const char *text, size_t length) {
  text_add_n(&parser->template->literal, text, length);
  text_add_n(&parser->plain, text, length);
  last_fragment(parser)->length += length;
}

/* ---- ${expression} -------------------------------------------------------------------------- */

static const char *skip_lua_string(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != quote) at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at < end ? at + 1 : end;
}

/* Returns the } that closes the expression at `at`, or NULL if the line has none; *comment: the
   expression contains a `--`. */
static const char *expression_end(const char *at, const char *end, bool *comment) {
  int depth = 0;
  for (*comment = false; at < end;) {
    char c = *at;
    if (c == '}' && depth-- == 0) return at;
    if (c == '{') depth++;
    if (c == '-' && at + 1 < end && at[1] == '-') *comment = true;
    at = c == '"' || c == '\'' ? skip_lua_string(at, end) : at + 1;
  }
  return NULL;
}

static bool blank(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at == end;
}

/* `at` is behind the opening brace; *after becomes the place behind the closing brace. */
static int template_parse_expression(struct parser *parser, const char *at, const char *end,
                                     const char **after) {
  bool comment;
  const char *close = expression_end(at, end, &comment);
  if (!close)
    return parse_error(parser,
                       "`${` without its `}` on the same line (a literal `${` is written `$${`)");
  if (blank(at, close)) return parse_error(parser, "`${}` without an expression");
  if (comment) return parse_error(parser, "a Lua comment inside `${}`");
  struct template *t = parser->template;
  struct template_fragment *fragment = last_fragment(parser);
  text_add(&t->lua, ",(");
  fragment->expression = t->lua.length;
  fragment->expression_length = (size_t)(close - at);
  fragment->line = parser->line;
  text_add_n(&t->lua, at, (size_t)(close - at));
  text_add_char(&t->lua, ')');
  text_add_char(&parser->plain, '0');
  t->pieces[t->piece_count - 1].expressions++;
  *after = close + 1;
  return begin_fragment(parser);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static int parse_text(struct parser *parser, const char *at, const char *end) {
  const char *literal = at;
  while (at < end) {
    const char *dollar = memchr(at, '$', (size_t)(end - at));
    if (!dollar) break;
    at = dollar + 1;
    bool escaped = end - dollar >= 3 && dollar[1] == '$' && dollar[2] == '{';
    bool opened = end - dollar >= 2 && dollar[1] == '{';
    if (!escaped && !opened) continue;
    template_add_literal(parser, literal, (size_t)(dollar - literal));
    literal = at = dollar + (escaped ? 1 : 2);
    if (escaped) {
      at += 2; /* the literal text continues with the second `$` */
      continue;
    }
    int status = template_parse_expression(parser, at, end, &at);
    if (status) return status;
    literal = at;
  }
  template_add_literal(parser, literal, (size_t)(end - literal));
  template_add_literal(parser, "\n", 1);
  parser->plain_line++;
  return CUGEN_OK;
}

/* Returns an upper bound of the number of expressions in a line. */
static size_t count_opened(const char *at, const char *end) {
  size_t count = 0;
  for (; at + 1 < end; at++) count += at[0] == '$' && at[1] == '{';
  return count;
}

static int text_line(struct parser *parser, const char *at, const char *end) {
  struct template *t = parser->template;
  if (parser->in_piece) {
    size_t expressions = t->pieces[t->piece_count - 1].expressions;
    if (expressions && expressions + count_opened(at, end) > MOST_EXPRESSIONS) end_piece(parser);
  }
  if (!parser->in_piece) {
    int status = begin_piece(parser);
    if (status) return status;
  }
  t->pieces[t->piece_count - 1].lines++;
  int status = parse_text(parser, at, end);
  if (!status && t->pieces[t->piece_count - 1].expressions > 4 * MOST_EXPRESSIONS)
    return parse_error(parser, "too many `${}` on one line");
  return status;
}

/* Returns the place behind the `//@` of a Lua line, or NULL for another line. */
static const char *lua_line(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return end - at >= 3 && memcmp(at, "//@", 3) == 0 ? at + 3 : NULL;
}

/* Recognises `#pragma once`, which the renderer obeys and the compiler does not see, because it
   would warn about the line in a main file. */
static bool pragma_once(const char *at, const char *end) {
  struct source_reader reader = {at, end};
  return source_is(source_next_solid(&reader), "#") &&
         source_is(source_next_solid(&reader), "pragma") &&
         source_is(source_next_solid(&reader), "once");
}

static int parse_line(struct parser *parser, const char *at, const char *end) {
  const char *lua = lua_line(at, end);
  if (lua) {
    end_piece(parser);
    text_add_n(&parser->template->lua, lua, (size_t)(end - lua));
    return CUGEN_OK;
  }
  if (pragma_once(at, end)) parser->template->once = true, at = end;
  return text_line(parser, at, end);
}

static int parse_lines(struct parser *parser) {
  text_add(&parser->template->lua, "local __emit<const> = ...;");
  while (parser->at < parser->end) {
    const char *newline = memchr(parser->at, '\n', (size_t)(parser->end - parser->at));
    const char *end = newline ? newline : parser->end, *next = newline ? newline + 1 : end;
    if (end > parser->at && end[-1] == '\r') end--;
    int status = parse_line(parser, parser->at, end);
    if (status) return status;
    parser->at = next;
    parser->line++;
    if (next < parser->end) text_add_char(&parser->template->lua, '\n');
  }
  end_piece(parser);
  return CUGEN_OK;
}

/* ---- Where a #line may stand ---------------------------------------------------------------- */

/* Sets fresh[line] for the lines of plain that do not begin inside a token. */
static void find_fresh_lines(const struct text *plain, bool *fresh, size_t lines) {
  struct source_reader reader = {plain->data, plain->data + plain->length};
  size_t line = 0;
  for (struct source_token token = source_next(&reader); token.kind != SOURCE_END;
       token = source_next(&reader)) {
    for (size_t i = 0; i < token.length; i++)
      if (token.at[i] == '\n' && ++line < lines) fresh[line] = token.kind == SOURCE_NEWLINE;
  }
}

static int mark_fresh_pieces(struct parser *parser) {
  struct template *t = parser->template;
  size_t lines = (size_t)parser->plain_line + 1;
  if (parser->plain.failed) return error_memory(parser->err);
  if (parser->plain.length == 0) return CUGEN_OK;
  bool *fresh = calloc(lines, sizeof *fresh);
  if (!fresh) return error_memory(parser->err);
  fresh[0] = true;
  find_fresh_lines(&parser->plain, fresh, lines);
  for (size_t i = 0; i < t->piece_count; i++)
    t->pieces[i].fresh = fresh[parser->piece_plain_line[i]];
  free(fresh);
  return CUGEN_OK;
}

/* ---- Parsing a file ------------------------------------------------------------------------- */

static int refuse_nul(struct parser *parser) {
  const char *nul = memchr(parser->at, '\0', (size_t)(parser->end - parser->at));
  if (!nul) return CUGEN_OK;
  for (const char *at = parser->at; at < nul; at++) parser->line += *at == '\n';
  return parse_error(parser, "a NUL byte: not a text file");
}

int template_parse(const char *path, const char *content, size_t length, struct template **out,
                   cugen_error *err) {
  *out = NULL;
  struct template *template = calloc(1, sizeof *template);
  if (template) template->path = strdup(path);
  if (!template || !template->path) {
    free(template);
    return error_memory(err);
  }
  struct parser parser = {
      .template = template, .at = content, .end = content + length, .line = 1, .err = err};
  int status = refuse_nul(&parser);
  if (!status) status = parse_lines(&parser);
  if (!status) status = mark_fresh_pieces(&parser);
  if (!status && (template->lua.failed || template->literal.failed)) status = error_memory(err);
  text_free(&parser.plain);
  free(parser.piece_plain_line);
  if (status)
    template_free(template);
  else
    *out = template;
  return status;
}

void template_free(struct template *template) {
  if (!template) return;
  free(template->path);
  free(template->pieces);
  free(template->fragments);
  text_free(&template->lua);
  text_free(&template->literal);
  free(template);
}
