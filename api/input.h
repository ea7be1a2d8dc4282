/* Reads what the user names. */
#ifndef API_INPUT_H
#define API_INPUT_H

#include "base/results.h"

/* An input: a regular file, a shell's pipe, or "-", the standard input. It is read by line or
   whole. Only one thread at a time may use a handle. */
typedef struct cugen_input cugen_input;

/* Limits of reading, and who may end a wait. */
typedef struct cugen_input_options {
  size_t most;              /* limit of the whole input in bytes; 0: no limit */
  size_t most_line;         /* limit of a line in bytes; 0: 1 MiB */
  cugen_stop_callback stop; /* called before each read, and ten times a second during a wait */
  void *context;
} cugen_input_options;

/* CUGEN_ERROR_MISSING: the file does not exist. CUGEN_ERROR_IO: it cannot be read, is a folder, a
   device or a named pipe, or has too many bytes, which may show only while reading. */
int api_input_open(const char *path, const cugen_input_options *options, cugen_input **out,
                   cugen_error *error);
void api_input_close(cugen_input *input);
/* Reads the next line, without its end; it is valid until the next call. *line is NULL at the end.
   *whole is 0 if the input ended within the line. */
int api_input_line(cugen_input *input, const char **line, size_t *length, int *whole,
                   cugen_error *error);
/* Reads all that is left, followed by a zero; it is valid until the input is closed. */
int api_input_rest(cugen_input *input, const char **text, size_t *length, cugen_error *error);

#endif
