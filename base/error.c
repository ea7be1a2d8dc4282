/* Filling in errors; see error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

static void set_message(cugen_error *err, const char *message) {
  size_t length = strlen(message);
  if (length >= sizeof err->message) length = sizeof err->message - 1;
  memmove(err->message, message, length);
  err->message[length] = '\0';
}

int error_set(cugen_error *err, int status, const char *format, ...) {
  if (!err) return status;
  err->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  return status;
}

int error_prefix(cugen_error *err, const char *format, ...) {
  if (!err) return CUGEN_ERROR_INTERNAL;
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  text_addf(&text, ": %s", err->message);
  if (!text.failed) set_message(err, text_get(&text));
  text_free(&text);
  return err->status;
}

int error_append(cugen_error *err, const char *format, ...) {
  if (!err) return CUGEN_ERROR_INTERNAL;
  size_t used = strlen(err->message);
  va_list args;
  va_start(args, format);
  vsnprintf(err->message + used, sizeof err->message - used, format, args);
  va_end(args);
  return err->status;
}
