/* One template file parsed: `//@` lines and ${} become a Lua chunk with exactly one line for each line of the file,
   so that Lua's errors name the file's own lines; ordinary text becomes pieces that the chunk emits by number. Knows
   nothing of a Lua state. docs/template.md describes the language. */
#ifndef GEN_TEMPLATE_TEMPLATE_H
#define GEN_TEMPLATE_TEMPLATE_H

#include "base/text.h"

/* Literal text up to a ${} or the end of its piece. */
struct template_fragment {
  size_t at, length; /* in template->literal */
  /* The ${} after it, for messages; unused in a piece's last fragment. */
  size_t expression, expression_length; /* in template->lua */
  int line;
};

/* Consecutive lines of text, emitted by one call of the chunk's first argument: emit(number, expressions...). */
struct template_piece {
  int line, lines; /* the first, and how many */
  bool fresh;      /* a new line of the compiler's: not inside a comment, raw string or continued directive */
  size_t first;    /* template->fragments[first .. first + expressions] */
  size_t expressions;
};

struct template {
  char *path;
  bool once; /* it says #pragma once */
  struct text lua, literal;
  struct template_piece *pieces;
  size_t piece_count, piece_capacity;
  struct template_fragment *fragments;
  size_t fragment_count, fragment_capacity;
};

/* path is the file's name for messages. */
int template_parse(const char *path, const char *content, size_t length, struct template **out, cugen_error *err);
void template_free(struct template *template);

#endif
