/* What a user names to be read: a regular file, a pipe of the shell's, or "-", the standard input.
   By line or whole, never more than a limit, and a wait for a silent writer ends when the caller
   asks for it. Devices and named pipes are refused. */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include "system.h"

struct input_limits {
  size_t most;      /* bytes of the whole input; 0: any number */
  size_t most_line; /* bytes of a line */
  struct process_stop stop;
};

struct input {
  const char *name; /* as it was given; "stdin" */
  struct input_limits limits;
  const char *data; /* the buffer, or memory of the caller */
  char *buffer;
  size_t at, end, room; /* at..end is read and not yet taken */
  size_t total;         /* bytes read so far */
  int fd;               /* -1: memory */
  bool owned, ended;
};

/* path must live until input_close. CUGEN_ERROR_MISSING: there is no such file. CUGEN_ERROR_IO: it
   cannot be opened, is a folder, a device or a named pipe, or a file of more than `most` bytes.
   After a failure there is nothing to close. */
int input_open(struct input *out, const char *path, const struct input_limits *limits, cugen_error *err);
/* The same of a descriptor, which is the input's from here on. */
int input_of_file(struct input *out, const char *path, int fd, size_t most, cugen_error *err);
struct input input_of_memory(const char *name, const char *data, size_t length);
void input_close(struct input *input);

/* The next line without its end, valid until the next call; *line NULL: there is none. A line of
   more than `most_line` bytes is cut: *length tells it. CUGEN_ERROR_INTERRUPTED: `stop` said so. */
int input_line(struct input *input, const char **line, size_t *length, cugen_error *err);
/* Whether the line taken last was ended by the input's end alone. */
bool input_line_is_open(const struct input *input);
/* All that is left, appended to *out. */
int input_rest(struct input *input, struct text *out, cugen_error *err);

#endif
