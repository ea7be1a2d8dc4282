/* A growable text buffer with a sticky error: it builds all text. After any failed allocation the buffer stays
   failed and further additions do nothing, so that callers check once, at the end. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct text {
  char *data; /* always NUL-terminated once anything was added; NULL before */
  size_t length, capacity;
  bool failed;
};

void text_add(struct text *text, const char *string);
void text_add_n(struct text *text, const char *bytes, size_t length);
void text_add_char(struct text *text, char c);
void text_addf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_add_count(struct text *text, uint64_t n); /* 3,412 */
void text_vaddf(struct text *text, const char *format, va_list args);
/* As a terminal may see it, of a stranger's bytes: what steers one is escaped, control characters but \n and \t and those that
   turn the direction of writing as \u001b, bytes that are no UTF-8 as \x9b. What was cleaned once stays as it is. */
void text_add_clean(struct text *text, const char *bytes, size_t length);
void text_clear(struct text *text);              /* empties it, keeps memory and failure */
void text_cut(struct text *text, size_t length); /* to its first so many characters */
void text_restart(struct text *text);            /* for a new text: an earlier failure is over */
void text_free(struct text *text);

/* The text so far, "" when empty. */
const char *text_get(const struct text *text);

/* Hands the string over (caller frees) and leaves the buffer empty; NULL when it had failed. */
char *text_take(struct text *text);

/* The name in names[0..count) nearest to name by edit distance, when near enough to suggest; else NULL. */
const char *text_nearest(const char *name, const char *const *names, size_t count);

/* How many bytes the character at `at` has, of at most left; 0: it is no UTF-8. */
size_t text_character(const char *at, size_t left);

/* Of a C identifier: a letter, a digit or '_'. */
bool text_is_word(char c);

/* In C: past the comment or literal that begins at `at`; `at` itself where none does. */
const char *text_skip_opaque(const char *at);

#endif
