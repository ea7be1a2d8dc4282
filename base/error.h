/* Errors: filled in where something goes wrong, added to on the way up, shown once at the edge. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/results.h"

#if defined(__GNUC__)
#define PRINTF_LIKE(string, first) __attribute__((format(printf, string, first)))
#else
#define PRINTF_LIKE(string, first)
#endif

/* Sets *err (NULL allowed) and returns status, so that a caller can `return error_set(...)`. */
int error_set(cugen_error *err, int status, const char *format, ...) PRINTF_LIKE(3, 4);

/* Likewise, with the cause. */
int error_set_cause(cugen_error *err, int status, cugen_cause cause, const char *format, ...) PRINTF_LIKE(4, 5);

/* Likewise, of a line of a file of the user's: it becomes the error's own, and "file:line: " stands before the message. */
int error_set_at(cugen_error *err, int status, const char *file, int line, const char *format, ...) PRINTF_LIKE(5, 6);

/* Says where in the user's files the cause of an error is, where nothing below has said it: what is found first is closest to it.
   The message stays as it is. A name that is too long is left out. */
void error_place(cugen_error *err, const char *file, int line);

/* Makes *err (NULL allowed) the same as *from; returns its status. */
int error_copy(cugen_error *err, const cugen_error *from);

/* Puts "context: " in front of the message; returns err's status. */
int error_prefix(cugen_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Puts "file:line: context: " in front of the message, or "file:line: " where format is NULL; error_place. */
int error_prefix_at(cugen_error *err, const char *file, int line, const char *format, ...) PRINTF_LIKE(4, 5);

/* Appends to the message; returns err's status. */
int error_append(cugen_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Here so that an analyser sees that it is never CUGEN_OK. */
static inline int error_memory(cugen_error *err) {
  error_set(err, CUGEN_ERROR_MEMORY, "out of memory");
  return CUGEN_ERROR_MEMORY;
}

#endif
