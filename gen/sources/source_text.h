/* CUDA C++ text seen as tokens: enough of the language's lexical rules to tell an identifier from a comment or a
   string. Used to normalise a source, to find the names it mentions, and to trace a place back through #line. */
#ifndef GEN_SOURCES_SOURCE_TEXT_H
#define GEN_SOURCES_SOURCE_TEXT_H

#include "base/text.h"

enum source_kind {
  SOURCE_END,
  SOURCE_BLANK,   /* spaces, tabs, carriage returns */
  SOURCE_NEWLINE, /* one */
  SOURCE_SPLICE,  /* a backslash at the end of a line, with that end */
  SOURCE_COMMENT,
  SOURCE_WORD, /* identifier or keyword */
  SOURCE_NUMBER,
  SOURCE_LITERAL, /* string or character, raw strings with their prefix */
  SOURCE_MARK     /* any other character */
};

struct source_token {
  enum source_kind kind;
  const char *at;
  size_t length;
};

/* Reads [at, end) and moves at. An unterminated comment or raw string ends with the text, a raw string with a bad
   delimiter with its line. A quote without its other half on the line is a mark. */
struct source_reader {
  const char *at, *end;
};

struct source_token source_next(struct source_reader *reader);
/* The next token that is neither blank, newline, splice nor comment; SOURCE_END past the last. */
struct source_token source_next_solid(struct source_reader *reader);
/* The same, but a newline ends it: what is left of a directive. */
struct source_token source_next_in_line(struct source_reader *reader);
bool source_is(struct source_token token, const char *word);

/* The rest of the line, splices and comments that go on in the next one included, the newline not. */
void source_skip_line(struct source_reader *reader);

/* Appends the text without comments and #line, with runs of blanks as one blank or, where two tokens cannot melt
   into one, none. Directives keep a line of their own; literals stay as they are. */
void source_normalise(const char *text, size_t length, struct text *out);

/* The file and line that a compiler would name for the byte at offset: from the #line before it. path is appended. */
void source_locate(const char *text, size_t offset, struct text *path, int *line);
/* `#line 12 "path"`, on a line of its own. */
void source_add_line(struct text *out, int line, const char *path);

#endif
