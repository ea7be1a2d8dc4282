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

/* Returns whether the line has the word error before a colon, as in "k.cu:2: error: " and "ptxas
   error   : ". */
static bool reports_error(const char *line, size_t length) {
  static const char word[] = "error";
  for (const char *at = line; (at = memmem(at, (size_t)(line + length - at), word, 5)); at += 5)
    if ((at == line || !text_is_word(at[-1])) && at[5 + strspn(at + 5, " ")] == ':') return true;
  return false;
}

const char *error_essence(const char *message, int *length) {
  const char *found = message, *plain = NULL, *error = NULL;
  size_t size = strcspn(message, "\n");
  if (is_heading(message, size)) {
    for (const char *line = message + size; *line && !error; line += strcspn(line, "\n")) {
      line += strspn(line, "\n");
      const size_t length_of = strcspn(line, "\n");
      if (reports_error(line, length_of)) error = line;
      if (!plain && length_of && !is_heading(line, length_of)) plain = line;
    }
    found = error ? error : plain ? plain : message;
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
