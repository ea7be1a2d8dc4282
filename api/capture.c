/* Writes captured problems; see capture.h. Each line is one write to a file opened for appending,
   so that threads and processes can share the file without a lock: on a local file system such
   writes do not mix. Only regular files are accepted, because writes to a pipe can block or raise
   SIGPIPE. */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

struct capture {
  char *path;
  atomic_int wrong; /* errno of the first line that could not be written; 0: all were written */
};

int capture_open(const char *path, struct capture **out, cugen_error *err) {
  struct capture *capture = calloc(1, sizeof *capture);
  char *copy = capture ? strdup(path) : NULL;
  *out = copy ? capture : NULL;
  if (!copy) return free(capture), error_memory(err);
  capture->path = copy;
  return CUGEN_OK;
}

void capture_close(struct capture *capture) {
  if (!capture) return;
  free(capture->path);
  free(capture);
}

/* Prints a line, which the caller frees. Returns NULL and sets *wrong if memory is out (ENOMEM) or
   if a text is not UTF-8 (EILSEQ). */
static char *capture_print_line(const struct capture_line *line, int *wrong) {
  json_error_t error;
  json_t *object =
      json_pack_ex(&error, 0, "{s:i, s:s, s:s, s:s, s:s, s:s, s:f, s:I, s:I}", "cugen_capture", 1,
                   "kernel", line->kernel, "problem", line->problem, "device", line->device, "plan",
                   line->plan, "variant", line->variant, "seconds", line->seconds, "opens",
                   (json_int_t)line->opens, "launches", (json_int_t)line->launches);
  *wrong = !object && json_error_code(&error) == json_error_invalid_utf8 ? EILSEQ : ENOMEM;
  char *text = object ? json_dumps(object, JSON_ENSURE_ASCII) : NULL;
  struct text whole = {0};
  json_decref(object);
  if (!text) return NULL;
  text_addf(&whole, "%s\n", text);
  free(text);
  return text_take(&whole);
}

/* Returns 0 or an errno. */
static int capture_write_line(int file, const char *text) {
  const size_t length = strlen(text);
  struct stat about;
  if (fstat(file, &about)) return errno;
  if (!S_ISREG(about.st_mode)) return ENOTSUP;
  const ssize_t written = write(file, text, length);
  if (written < 0) return errno;
  return (size_t)written < length ? ENOSPC : 0;
}

/* Returns 0 or an errno. */
static int capture_append(const char *path, const char *text) {
  const int file =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
  if (file < 0) return errno;
  const int wrong = capture_write_line(file, text);
  close(file);
  return wrong;
}

void capture_add(struct capture *capture, const struct capture_line *line) {
  if (!capture) return;
  const int before = errno;
  int none = 0, wrong;
  char *text = capture_print_line(line, &wrong);
  if (text) wrong = capture_append(capture->path, text);
  free(text);
  if (wrong) atomic_compare_exchange_strong(&capture->wrong, &none, wrong);
  errno = before;
}

void capture_describe(const struct capture *capture, struct text *out) {
  const int wrong = atomic_load(&capture->wrong);
  text_add(out, capture->path);
  if (!wrong) return;
  text_add(out, " (lines are missing: ");
  text_add(out, wrong == ENOTSUP  ? "not a regular file"
                : wrong == EILSEQ ? "a text is not UTF-8"
                                  : strerror(wrong));
  text_add_char(out, ')');
}
