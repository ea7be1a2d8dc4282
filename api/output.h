/* Writes a file that is complete or unchanged. */
#ifndef API_OUTPUT_H
#define API_OUTPUT_H

#include "base/results.h"

/* An output is written to a new file, which gets the final name at the end. A device or a pipe,
   also behind a link (/dev/stdout), is written to directly. Any other link is refused, because a
   stranger may have put it there. */
typedef struct cugen_output cugen_output;

/* CUGEN_ERROR_IO: the file cannot be written. */
int api_output_open(const char *path, cugen_output **out, cugen_error *error);
int api_output_add(cugen_output *output, const void *data, size_t length, cugen_error *error);
/* keep 0: the file is not changed. Does nothing for NULL. CUGEN_ERROR_IO: the file could not be
   written, and is unchanged. */
int api_output_close(cugen_output *output, int keep, cugen_error *error);

#endif
