/* A growable text buffer with a sticky error. After a failed allocation the buffer stays failed and
   additions do nothing, so that callers check once, at the end. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct text {
  char *data; /* NULL before the first addition, NUL-terminated after it */
  size_t length, capacity;
  bool failed;
};

void text_add(struct text *text, const char *string);
void text_add_n(struct text *text, const char *bytes, size_t length);
void text_add_char(struct text *text, char c);
void text_addf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_add_count(struct text *text, uint64_t n); /* with thousands separators: 3,412 */
void text_vaddf(struct text *text, const char *format, va_list args);
/* Appends untrusted bytes so that a terminal can show them safely. Control characters but \n and
   \t, line separators, and characters that change the direction of writing are escaped as \u001b;
   bytes that are not UTF-8 as \x9b. */
void text_add_clean(struct text *text, const char *bytes, size_t length);
void text_clear(struct text *text);              /* empties the buffer; keeps its memory and a
                                                    failure */
void text_cut(struct text *text, size_t length); /* cuts to the first `length` bytes */
void text_restart(struct text *text);            /* empties the buffer and clears a failure, for a
                                                    new text */
void text_free(struct text *text);

/* The text so far, "" if empty; valid until the next addition. */
const char *text_get(const struct text *text);

/* Hands the string over to the caller, who frees it, and empties the buffer. NULL if an allocation
   failed. */
char *text_take(struct text *text);

/* Returns the name in names[0..count) that is nearest to `name` by edit distance, or NULL if none
   is near enough to suggest. */
const char *text_nearest(const char *name, const char *const *names, size_t count);

/* The number of bytes (at most left) of the character at `at`; 0 if the bytes are not UTF-8. */
size_t text_character(const char *at, size_t left);

/* Returns whether the character can be part of a C identifier: a letter, a digit or '_'. */
bool text_is_word(char c);

/* Skips the C comment or literal that begins at `at`; returns `at` if none begins there. Of a
   literal that is not closed on its line, only the quote is skipped. */
const char *text_skip_opaque(const char *at);

#endif
