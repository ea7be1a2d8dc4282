/* Reads an input that the user names: a regular file, a shell's pipe, or "-" for the standard
   input. An input is read line by line or whole, within limits, and the wait for a silent writer
   ends when the caller asks to stop. */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include "system.h"

struct input_limits {
  size_t most;      /* limit of the whole input in bytes; 0: no limit */
  size_t most_line; /* limit of a line in bytes */
  struct process_stop stop;
};

struct input {
  const char *name; /* the name as the user gave it; "stdin" for "-" */
  struct input_limits limits;
  const char *data; /* the buffer, or memory of the caller */
  char *buffer;
  size_t at, end, room; /* data[at..end) is read but not yet taken; room: size of the buffer */
  size_t total;         /* bytes read so far */
  int fd;               /* -1 if data is memory of the caller */
  bool owned;           /* input_close closes fd */
  bool ended;           /* the end of the file was reached */
};

/* path must live until input_close. CUGEN_ERROR_MISSING: the file does not exist. CUGEN_ERROR_IO:
   the file cannot be opened, is a folder, or has more than `most` bytes; or, unless the path is
   "-", is a named pipe or a device other than a terminal. After a failure nothing needs to be
   closed. */
int input_open(struct input *out, const char *path, const struct input_limits *limits,
               cugen_error *err);
/* Like input_open, for an open descriptor and input_rest alone. The descriptor is closed by
   input_close, or after a failure. */
int input_of_file(struct input *out, const char *path, int fd, size_t most, cugen_error *err);
struct input input_of_memory(const char *name, const char *data, size_t length);
void input_close(struct input *input);

/* Reads the next line, without its newline; the line is valid until the next call. *line is NULL at
   the end of the input. A line of more than `most_line` bytes gets a *length above `most_line`, and
   the rest of it may follow as another line. CUGEN_ERROR_INTERRUPTED: `stop` asked to stop. */
int input_line(struct input *input, const char **line, size_t *length, cugen_error *err);
/* At the end of the input, returns whether its last line had no newline. */
bool input_line_is_open(const struct input *input);
/* Appends all that is left of the input to *out. */
int input_rest(struct input *input, struct text *out, cugen_error *err);

#endif
