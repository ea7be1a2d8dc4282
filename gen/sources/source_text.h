/* A lexer of CUDA C++ that tells identifiers from comments and literals, normalises a source, and
   traces a place back through #line. */
#ifndef GEN_SOURCES_SOURCE_TEXT_H
#define GEN_SOURCES_SOURCE_TEXT_H

#include <string.h>

#include "base/text.h"

enum source_kind {
  SOURCE_END,
  SOURCE_BLANK,   /* white space other than newlines */
  SOURCE_NEWLINE, /* a single newline */
  SOURCE_SPLICE,  /* a backslash and the newline behind it */
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

/* Functions read [at, end); those that take a pointer to a reader move `at`. An unterminated
   comment or raw string ends with the text; a raw string with an invalid delimiter ends with its
   line. A quote without its other half on the line is a SOURCE_MARK. */
struct source_reader {
  const char *at, *end;
};

struct source_token source_next(struct source_reader *reader);
/* Returns the next token that is not a blank, newline, splice or comment; SOURCE_END at the end. */
struct source_token source_next_solid(struct source_reader *reader);
/* Like source_next_solid, but returns a newline, too, which ends a directive. */
struct source_token source_next_in_line(struct source_reader *reader);
bool source_is(struct source_token token, const char *word);
/* Returns true if the token is one of `count` words. */
bool source_is_one_of(struct source_token token, const char *const *words, size_t count);
static inline bool source_is_mark(struct source_token token, char mark) {
  return token.kind == SOURCE_MARK && *token.at == mark;
}
static inline bool source_is_mark_of(struct source_token token, const char *marks) {
  return token.kind == SOURCE_MARK && strchr(marks, *token.at);
}
static inline bool source_is_word(struct source_token token, const char *word, size_t length) {
  return token.kind == SOURCE_WORD && token.length == length && memcmp(token.at, word, length) == 0;
}
/* Returns whether the tokens have the same text, which is not empty. */
static inline bool source_same(struct source_token a, struct source_token b) {
  return a.length && a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* Skips the rest of the line, including comments and splices over several lines, but not the
   newline. */
void source_skip_line(struct source_reader *reader);

/* Appends the text without comments, #line directives, and blanks and newlines that are not needed.
   Directives stay on lines of their own; literals are unchanged. */
void source_normalise(const char *text, size_t length, struct text *out);

/* Finds the file and line that a compiler would name for the byte at offset, from the last #line
   before it. The file's name is appended to path. */
void source_locate(const char *text, size_t offset, struct text *path, int *line);
/* Fails with the status and the message at the place that source_locate finds for `at`, which lies
   in the text. otherwise: the name of the file if no #line names it. */
int source_fail(cugen_error *err, int status, const char *text, const char *at,
                const char *otherwise, const char *message);
/* Appends `#line 12 "path"` on a line of its own. */
void source_add_line(struct text *out, int line, const char *path);

#endif
