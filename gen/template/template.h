/* A parsed template file. `//@` lines and ${} become a Lua chunk with exactly one line for each
   line of the file, so that Lua's errors name the lines of the file. Ordinary text becomes pieces,
   which the chunk emits by number. docs/template.md describes the language. */
#ifndef GEN_TEMPLATE_TEMPLATE_H
#define GEN_TEMPLATE_TEMPLATE_H

#include "base/text.h"

/* Literal text up to a ${} or to the end of its piece. */
struct template_fragment {
  size_t at, length; /* place in template->literal */
  /* The ${} behind the text, for messages; unused in the last fragment of a piece. */
  size_t expression, expression_length; /* place in template->lua */
  int line;
};

/* Consecutive lines of text, which the chunk emits by one call of its first argument: emit(number,
   expressions...). */
struct template_piece {
  int line, lines; /* the first line and the number of lines */
  bool fresh;      /* for the compiler the piece begins on a new line, not inside a comment, raw
                      string or continued directive */
  size_t first;    /* index of the first of template->fragments[first .. first + expressions] */
  size_t expressions;
};

struct template {
  char *path;
  bool once; /* the file has #pragma once */
  struct text lua, literal;
  struct template_piece *pieces;
  size_t piece_count;
  struct template_fragment *fragments;
  size_t fragment_count;
};

/* path: kept in *out. */
int template_parse(const char *path, const char *content, size_t length, struct template **out,
                   cugen_error *err);
void template_free(struct template *template);

#endif
