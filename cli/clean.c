/* Streams without control characters; see clean.h. */
#define _GNU_SOURCE /* for fopencookie */
#include "clean.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "terminal.h"

enum { PIECE = 4096, LONGEST = 4 };

struct stream {
  int file;
  char begun[LONGEST]; /* the bytes so far of a character that is not complete yet */
  size_t length;
  struct wrap wrap;
};

static struct stream streams[2]; /* static, because stdout and stderr exist until the process
                                    ends */

static bool clean_write_all(int file, const char *data, size_t length) {
  while (length) {
    ssize_t put = write(file, data, length);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    data += put, length -= (size_t)put;
  }
  return true;
}

/* Writes what `add` writes, broken into lines. */
static bool write_wrapped(struct stream *s,
                          void (*add)(struct stream *s, const void *text, FILE *out),
                          const void *text) {
  char *lines = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&lines, &length);
  if (!out) return false;
  add(s, text, out);
  const bool good = fclose(out) == 0 && clean_write_all(s->file, lines, length);
  free(lines);
  return good;
}

static void clean_add_text(struct stream *s, const void *text, FILE *out) {
  wrap_add(&s->wrap, text, strlen(text), out);
}

static void add_style(struct stream *s, const void *text, FILE *out) {
  wrap_add_style(&s->wrap, text, out);
}

static void add_end(struct stream *s, const void *text, FILE *out) {
  (void)text;
  wrap_end(&s->wrap, out);
}

static bool write_clean(struct stream *s, const char *data, size_t length) {
  struct text clean = {0};
  text_add_clean(&clean, data, length);
  const bool written =
      !clean.failed && (s->wrap.width ? write_wrapped(s, clean_add_text, text_get(&clean))
                                      : clean_write_all(s->file, text_get(&clean), clean.length));
  if (clean.failed) errno = ENOMEM;
  text_free(&clean);
  return written;
}

/* Returns how many bytes at the end may be the beginning of a character. */
static size_t unfinished(const char *data, size_t length) {
  for (size_t back = 1; back < LONGEST && back <= length; back++) {
    const unsigned char c = (unsigned char)data[length - back];
    if (c >= 0xc0) return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? back : 0;
    if (c < 0x80) return 0;
  }
  return 0;
}

static ssize_t stream_write(void *cookie, const char *data, size_t size) {
  struct stream *s = cookie;
  char piece[PIECE + LONGEST];
  for (size_t at = 0, take; at < size; at += take) {
    take = size - at < PIECE ? size - at : PIECE;
    memcpy(piece, s->begun, s->length);
    memcpy(piece + s->length, data + at, take);
    const size_t length = s->length + take, later = unfinished(piece, length);
    s->length = later;
    memcpy(s->begun, piece + length - later, later);
    if (!write_clean(s, piece, length - later)) return 0;
  }
  return (ssize_t)size;
}

static int stream_close(void *cookie) {
  struct stream *s = cookie;
  const bool good = write_clean(s, s->begun, s->length);
  const int file = s->file;
  return close(file) == 0 && good ? 0 : -1;
}

static FILE *open_stream(struct stream *s, int file) {
  s->file = file;
  FILE *out =
      fopencookie(s, "w", (cookie_io_functions_t){.write = stream_write, .close = stream_close});
  if (out && (file == STDERR_FILENO || isatty(file))) setvbuf(out, NULL, _IOLBF, BUFSIZ);
  return out;
}

void clean_streams(void) {
  FILE *out = open_stream(&streams[0], STDOUT_FILENO),
       *errors = open_stream(&streams[1], STDERR_FILENO);
  if (!out || !errors) exit(-CUGEN_ERROR_MEMORY);
  streams[1].wrap.width = terminal_message_width();
  stdout = out;
  stderr = errors;
}

/* Returns stdout's stream, after writing the text printed so far with the settings so far. */
static struct stream *out_stream(void) {
  fflush(stdout);
  return &streams[0];
}

bool clean_wrap(int width) {
  struct stream *s = out_stream();
  const bool good = (!s->wrap.length && !s->wrap.spaces) || write_wrapped(s, add_end, NULL);
  s->wrap = (struct wrap){.width = width};
  return good;
}

void clean_prompt(void) {
  clean_wrap(streams[0].wrap.width);
}

void clean_kind(enum wrap_kind kind) {
  if (streams[0].wrap.width) out_stream()->wrap.kind = kind;
}

void clean_style(enum style style) {
  static const char *const escapes[] = {"\033[0m", "\033[1;32m", "\033[1;31m", "\033[2m"};
  if (terminal_has_colour()) write_wrapped(out_stream(), add_style, escapes[style]);
}
