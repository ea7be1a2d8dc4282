/* Filling in errors; see error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

/* Returns the length of the message without a UTF-8 character that the end of the buffer has cut in
   two. */
static size_t whole_length(const char *message) {
  size_t length = strlen(message), back = 0;
  if (length + 1 < sizeof((cugen_error *)0)->message) return length;
  while (back < 3 && back < length && ((unsigned char)message[length - 1 - back] & 0xc0) == 0x80)
    back++;
  if (back == length || (unsigned char)message[length - 1 - back] < 0xc0) return length;
  return text_character(message + length - 1 - back, back + 1) ? length : length - 1 - back;
}

static void set_message(cugen_error *err, const char *message) {
  size_t length = strlen(message);
  if (length >= sizeof err->message) length = sizeof err->message - 1;
  memmove(err->message, message, length);
  err->message[length] = '\0';
}

/* Returns whether the message has only ASCII characters that clean keeps. */
static bool error_is_plain(const char *message) {
  for (; *message; message++)
    if ((unsigned char)*message >= 0x7f ||
        ((unsigned char)*message < 0x20 && !strchr("\n\t", *message)))
      return false;
  return true;
}

/* Escapes control characters, such as those of quoted compiler output. If memory is out, puts '?'
   for all but printable ASCII and newlines. */
static void clean(cugen_error *err) {
  if (error_is_plain(err->message)) return;
  struct text text = {0};
  text_add_clean(&text, err->message, whole_length(err->message));
  for (char *at = err->message; text.failed && *at; at++)
    if ((*at < 0x20 || *at >= 0x7f) && *at != '\n') *at = '?';
  if (!text.failed) set_message(err, text_get(&text));
  text_free(&text);
}

static void set(cugen_error *err, int status, cugen_cause cause, const char *format, va_list args) {
  if (!err) return;
  err->status = status;
  err->cause = cause;
  err->file[0] = '\0';
  err->line = 0;
  vsnprintf(err->message, sizeof err->message, format, args);
  clean(err);
}

int error_set(cugen_error *err, int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  set(err, status, CUGEN_CAUSE_NONE, format, args);
  va_end(args);
  return status;
}

int error_set_cause(cugen_error *err, int status, cugen_cause cause, const char *format, ...) {
  va_list args;
  va_start(args, format);
  set(err, status, cause, format, args);
  va_end(args);
  return status;
}

void error_place(cugen_error *err, const char *file, int line) {
  if (!err || err->line || line <= 0 || !*file || strlen(file) >= sizeof err->file) return;
  memcpy(err->file, file, strlen(file) + 1);
  err->line = line;
}

int error_set_at(cugen_error *err, int status, const char *file, int line, const char *format,
                 ...) {
  if (!err) return status;
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_addf(&text, "%s:%d: ", file, line);
  text_vaddf(&text, format, args);
  va_end(args);
  if (text.failed) {
    status = error_memory(err);
  } else {
    error_set(err, status, "%s", text_get(&text));
    error_place(err, file, line);
  }
  text_free(&text);
  return status;
}

static bool is_heading(const char *line, size_t length) {
  return length && line[length - 1] == ':' && line[length];
}

const char *error_essence(const char *message, int *length) {
  size_t size = strcspn(message, "\n");
  const char *found = message;
  if (is_heading(message, size)) {
    const char *error = strstr(message + size, "rror:");
    while (error && error[-1] != '\n') error--;
    if (error) found = error;
    while (!error && is_heading(found, strcspn(found, "\n"))) found += strcspn(found, "\n") + 1;
    size = strcspn(found, "\n");
  }
  *length = (int)size;
  return found;
}

int error_copy(cugen_error *err, const cugen_error *from) {
  if (err) *err = *from;
  return from->status;
}

/* Puts the text and ": " in front of the message, unless memory is out, and frees the text. */
static int put_in_front(cugen_error *err, struct text *text) {
  text_addf(text, ": %s", err->message);
  if (!text->failed) set_message(err, text_get(text));
  text_free(text);
  clean(err);
  return err->status;
}

int error_prefix(cugen_error *err, const char *format, ...) {
  if (!err) return CUGEN_ERROR_INTERNAL;
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  return put_in_front(err, &text);
}

int error_prefix_at(cugen_error *err, const char *file, int line, const char *format, ...) {
  if (!err) return CUGEN_ERROR_INTERNAL;
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_addf(&text, "%s:%d", file, line);
  if (format) text_add(&text, ": ");
  if (format) text_vaddf(&text, format, args);
  va_end(args);
  error_place(err, file, line);
  return put_in_front(err, &text);
}

const char *error_without_place(const cugen_error *err) {
  char place[sizeof err->file + 16];
  const int length = snprintf(place, sizeof place, "%s:%d: ", err->file, err->line);
  const bool there = err->line && strncmp(err->message, place, (size_t)length) == 0;
  return err->message + (there ? length : 0);
}

int error_append(cugen_error *err, const char *format, ...) {
  if (!err) return CUGEN_ERROR_INTERNAL;
  size_t used = strlen(err->message);
  va_list args;
  va_start(args, format);
  vsnprintf(err->message + used, sizeof err->message - used, format, args);
  va_end(args);
  clean(err);
  return err->status;
}
