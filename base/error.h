/* Errors: a function that fails fills in a cugen_error, and callers add context to the message. */
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

/* Like error_set, and sets the cause. */
int error_set_cause(cugen_error *err, int status, cugen_cause cause, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Like error_set, for a line of a file of the user: puts "file:line: " before the message and calls
   error_place. Returns CUGEN_ERROR_MEMORY if memory is out. */
int error_set_at(cugen_error *err, int status, const char *file, int line, const char *format, ...)
    PRINTF_LIKE(5, 6);

/* Sets the file and line of an error unless they are set already. Does nothing if the file name is
   empty or too long, or the line is not positive. */
void error_place(cugen_error *err, const char *file, int line);

/* Copies *from to *err (NULL allowed) and returns the status of *from. */
int error_copy(cugen_error *err, const cugen_error *from);

/* Puts "context: " in front of the message. Returns the status of err, or CUGEN_ERROR_INTERNAL if
   err is NULL. */
int error_prefix(cugen_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Puts "file:line: context: ", or "file:line: " if format is NULL, in front of the message, and
   sets the place like error_place. Returns like error_prefix. */
int error_prefix_at(cugen_error *err, const char *file, int line, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Returns the message without the error's own place, "file:line: ", in front. */
const char *error_without_place(const cugen_error *err);

/* Returns the line of a message that says what is wrong, and its length: the first line, unless
   that is a heading that ends with a colon, as "NVRTC refused the source:". Behind a heading it is
   the first line with an error, else the first that is no heading. */
const char *error_essence(const char *message, int *length);

/* Appends to the message. Returns like error_prefix. */
int error_append(cugen_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* inline, so that a static analyser sees that the result is not CUGEN_OK */
static inline int error_memory(cugen_error *err) {
  error_set(err, CUGEN_ERROR_MEMORY, "out of memory");
  return CUGEN_ERROR_MEMORY;
}

#endif
