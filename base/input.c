/* Reading of files that the user names; see input.h. One buffer is filled from a descriptor, and
   grows if a line needs more room. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

static int input_too_long(const struct input *input, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_IO,
                   "%s is larger than %zu MiB, the most that is read of such a file", input->name,
                   input->limits.most >> 20);
}

/* Refuses folders, regular files above the limit, and devices other than terminals, because a
   device may never end. The standard input may be a device. */
static int check_kind(const struct input *input, cugen_error *err) {
  struct stat info;
  if (fstat(input->fd, &info)) return error_file(err, "read", input->name, errno);
  if (S_ISDIR(info.st_mode)) return error_file(err, "read", input->name, EISDIR);
  if (input->owned && (S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !isatty(input->fd))))
    return error_set(err, CUGEN_ERROR_IO, "%s is a device: regular files and pipes are read",
                     input->name);
  if (S_ISREG(info.st_mode) && input->limits.most && (uintmax_t)info.st_size > input->limits.most)
    return input_too_long(input, err);
  return CUGEN_OK;
}

/* Opens a named file. A named pipe is refused, because opening would wait for a writer; a shell's
   pipe passes, because /dev/fd has a link to that pipe. */
static int open_named(struct input *input, cugen_error *err) {
  struct stat info;
  if (lstat(input->name, &info) == 0 && S_ISFIFO(info.st_mode))
    return error_set(err, CUGEN_ERROR_IO,
                     "%s is a named pipe: read it as the standard input, - <%s", input->name,
                     input->name);
  input->fd = open(input->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  return input->fd < 0 ? error_file(err, "open", input->name, errno) : CUGEN_OK;
}

int input_open(struct input *out, const char *path, const struct input_limits *limits,
               cugen_error *err) {
  const bool standard = strcmp(path, "-") == 0;
  *out = (struct input){.name = standard ? "stdin" : path,
                        .limits = *limits,
                        .fd = standard ? STDIN_FILENO : -1,
                        .owned = !standard};
  int status = standard ? CUGEN_OK : open_named(out, err);
  if (!status) status = check_kind(out, err);
  if (status) input_close(out);
  return status;
}

int input_of_file(struct input *out, const char *path, int fd, size_t most, cugen_error *err) {
  *out = (struct input){.name = path, .limits = {.most = most}, .fd = fd, .owned = true};
  const int status = check_kind(out, err);
  if (status) input_close(out);
  return status;
}

struct input input_of_memory(const char *name, const char *data, size_t length) {
  return (struct input){.name = name,
                        .limits = {.most_line = length},
                        .data = data,
                        .end = length,
                        .total = length,
                        .fd = -1,
                        .ended = true};
}

void input_close(struct input *input) {
  if (input->owned && input->fd >= 0) close(input->fd);
  free(input->buffer);
  *input = (struct input){.fd = -1};
}

/* Waits until bytes or the end of the file can be read, or the caller asks to stop. Without a
   `stop` returns at once. */
static int input_await(const struct input *input, cugen_error *err) {
  enum { ASK_MS = 100 };
  const struct process_stop *stop = &input->limits.stop;
  struct pollfd waiting = {.fd = input->fd, .events = POLLIN};
  while (stop->asked) {
    if (stop->asked(stop->context))
      return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request");
    const int ready = poll(&waiting, 1, ASK_MS);
    if (ready > 0) return CUGEN_OK;
    if (ready < 0 && errno != EINTR) return error_file(err, "read", input->name, errno);
  }
  return CUGEN_OK;
}

/* Makes room for one more piece: drops the bytes that were taken and grows the buffer if needed. */
static int input_make_room(struct input *input, cugen_error *err) {
  if (input->at) memmove(input->buffer, input->buffer + input->at, input->end - input->at);
  input->end -= input->at, input->at = 0;
  if (input->room - input->end >= PIECE) return CUGEN_OK;
  const size_t room = 2 * input->room + PIECE;
  char *buffer = realloc(input->buffer, room);
  if (!buffer) return error_memory(err);
  input->data = input->buffer = buffer;
  input->room = room;
  return CUGEN_OK;
}

static int input_refill(struct input *input, cugen_error *err) {
  ssize_t got;
  int status = input_make_room(input, err);
  if (!status) status = input_await(input, err);
  if (status) return status;
  do got = read(input->fd, input->buffer + input->end, input->room - input->end);
  while (got < 0 && errno == EINTR);
  if (got < 0) return error_file(err, "read", input->name, errno);
  input->end += (size_t)got;
  input->total += (size_t)got;
  input->ended = got == 0;
  return input->limits.most && input->total > input->limits.most ? input_too_long(input, err)
                                                                 : CUGEN_OK;
}

int input_line(struct input *input, const char **line, size_t *length, cugen_error *err) {
  *line = NULL;
  for (size_t seen = 0;;) {
    const size_t left = input->end - input->at;
    const char *start = left ? input->data + input->at : NULL;
    const char *stop = left > seen ? memchr(start + seen, '\n', left - seen) : NULL;
    if (!stop && !input->ended && left <= input->limits.most_line) {
      const int status = input_refill(input, err);
      if (status) return status;
      seen = left;
      continue;
    }
    if (!left) return CUGEN_OK;
    *line = start, *length = stop ? (size_t)(stop - start) : left;
    input->at += *length + (stop != NULL);
    return CUGEN_OK;
  }
}

bool input_line_is_open(const struct input *input) {
  return input->ended && input->at == input->end && input->end &&
         input->data[input->end - 1] != '\n';
}

int input_rest(struct input *input, struct text *out, cugen_error *err) {
  int status = CUGEN_OK;
  for (;;) {
    if (input->end > input->at) text_add_n(out, input->data + input->at, input->end - input->at);
    input->at = input->end;
    if (out->failed) return error_memory(err);
    if (status || input->ended) return status;
    status = input_refill(input, err);
  }
}
